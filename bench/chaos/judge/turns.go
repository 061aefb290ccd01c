package judge

import (
	"strings"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
)

// turn is a turn as a session's stream tells.
type turn struct {
	id, tag       string
	ended         string
	code, message string
	items         map[string]*item
	said          []string // the agent's messages that are done
}

type item struct {
	kind   string
	done   bool
	deltas strings.Builder
}

// answer is the last thing the agent said.
func (t *turn) answer() string {
	if len(t.said) == 0 {
		return ""
	}
	return t.said[len(t.said)-1]
}

const (
	sessionEvent = "agent.session."
	turnEvent    = "agent.session.turn."
)

// agents judges the frames of a whole stream of the Agents wire and gives its turns.
func (j *judge) agents(where string, frames []evidence.Frame) []*turn {
	byID := map[string]*turn{}
	var list []*turn
	var last evidence.Place
	for i := range frames {
		f := &frames[i]
		place, err := f.Place()
		if err != nil {
			j.say(SameStream, where, "%v", err)
			continue
		}
		if i > 0 && !last.Before(place) {
			j.say(SameStream, where, "%s comes behind %+v", f.Data.EventID, last)
		}
		last = place
		id := f.Data.TurnID
		if f.Kind == turnEvent+"created" {
			if byID[id] != nil {
				j.say(OneEnd, where, "turn %s is created twice", id)
				continue
			}
			byID[id] = &turn{id: id, items: map[string]*item{}}
			list = append(list, byID[id])
			continue
		}
		if !strings.HasPrefix(f.Kind, turnEvent) {
			if f.Kind == sessionEvent+"idle" {
				j.open(where, list)
			}
			continue
		}
		t := byID[id]
		if t == nil {
			j.say(NoGap, where, "%s of %s comes before its turn", f.Kind, id)
			continue
		}
		if t.ended != "" {
			j.say(OneEnd, where, "%s %s comes behind the end of %s", f.Kind, f.Data.EventID, id)
			continue
		}
		j.frame(where, t, f)
	}
	return list
}

// open judges that a session is said to be idle.
func (j *judge) open(where string, list []*turn) {
	for _, t := range list {
		if t.ended == "" {
			j.say(OneEnd, where, "it is idle, and %s has not ended", t.id)
		}
	}
}

func (j *judge) frame(where string, t *turn, f *evidence.Frame) {
	d := &f.Data
	switch kind := strings.TrimPrefix(f.Kind, turnEvent); kind {
	case "completed", "failed", "cancelled":
		t.ended = kind
		if e := d.Turn.Error; e != nil {
			t.code, t.message = e.Code, e.Message
		}
		for id, it := range t.items {
			if !it.done {
				j.say(OneEnd, where, "%s ends and item %s is open", t.id, id)
			}
		}
	case "item.added":
		if d.Item.Role == "user" {
			for _, c := range d.Item.Content {
				if _, rest, ok := strings.Cut(c.Text, "tag:"); ok {
					t.tag, _, _ = strings.Cut(rest, " ")
				}
			}
			return
		}
		t.items[d.Item.ID] = &item{kind: d.Item.Type}
	case "output_text.delta", "reasoning_summary_text.delta":
		if it := t.items[d.ItemID]; it != nil {
			it.deltas.WriteString(d.Delta)
		}
	case "output_text.done", "reasoning_summary_text.done":
		if it := t.items[d.ItemID]; it != nil && d.Text != it.deltas.String() && !j.lossy {
			j.say(NoGap, where, "the deltas of %s join to %d bytes, its text has %d", d.ItemID, it.deltas.Len(), len(d.Text))
		}
	case "item.done":
		it := t.items[d.Item.ID]
		if it == nil {
			if !j.lossy {
				j.say(NoGap, where, "item %s is done and was never added", d.Item.ID)
			}
			return
		}
		it.done = true
		if d.Item.Type == "message" && d.Item.Role == "assistant" && len(d.Item.Content) > 0 {
			t.said = append(t.said, d.Item.Content[0].Text)
		}
	}
}
