package acceptance

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/responses/responsestest"
)

// checkResponse judges a whole stream of one response.
func checkResponse(t *testing.T, s *stream) {
	t.Helper()
	frames, err := responsestest.Parse(s.content())
	if err == nil {
		err = responsestest.Check(frames)
	}
	if err != nil {
		t.Errorf("the response's stream: %v;%s", err, kinds(s.all()))
	}
	if s.broken() != nil {
		t.Errorf("the response's stream ended with %v", s.broken())
	}
}

const (
	sessionEvent = "agent.session."
	turnEvent    = "agent.session.turn."
)

var turnEnds = []string{turnEvent + "completed", turnEvent + "failed", turnEvent + "cancelled"}

func terminal(kind string) bool {
	for _, k := range turnEnds {
		if k == kind {
			return true
		}
	}
	return false
}

// agentsOrder judges a stream of a session from its start, or from any place
// where no turn is open: ids are unique, each turn is created, then its items are
// opened and closed, then it ends exactly once, and idle comes last.
type agentsOrder struct {
	seen  map[string]bool
	turns map[string]*turnOrder
	order []string // of turn.created
}

type turnOrder struct {
	ended string
	items map[string]*itemOrder
}

type itemOrder struct {
	kind       string
	done       bool
	part, said bool
	text       strings.Builder
}

func checkSession(t *testing.T, frames []frame) *agentsOrder {
	t.Helper()
	o := &agentsOrder{seen: map[string]bool{}, turns: map[string]*turnOrder{}}
	for i, f := range frames {
		if err := o.frame(f); err != nil {
			t.Errorf("frame %d (%s): %v: %s", i, f.kind(), err, clip(f.raw))
		}
	}
	return o
}

func (o *agentsOrder) frame(f frame) error {
	d := f.data()
	id, _ := d["event_id"].(string)
	if id == "" || o.seen[id] {
		return fmt.Errorf("event_id %q is missing or repeated", id)
	}
	o.seen[id] = true
	switch k := f.kind(); {
	case k == sessionEvent+"idle":
		for id, t := range o.turns {
			if t.ended == "" {
				return fmt.Errorf("idle, but %s has not ended", id)
			}
		}
		return nil
	case strings.HasPrefix(k, turnEvent), strings.HasPrefix(k, "agent.output."):
		return o.turn(f, d)
	case strings.HasPrefix(k, sessionEvent):
		return nil
	}
	return fmt.Errorf("of no known kind")
}

func (o *agentsOrder) turn(f frame, d map[string]any) error {
	id, _ := d["turn_id"].(string)
	t := o.turns[id]
	if f.kind() == turnEvent+"created" {
		if t != nil {
			return fmt.Errorf("created twice")
		}
		if _, ok := at(d, "turn").(map[string]any)["subagent_id"]; !ok {
			return fmt.Errorf("no subagent_id")
		}
		o.turns[id] = &turnOrder{items: map[string]*itemOrder{}}
		o.order = append(o.order, id)
		return nil
	}
	if t == nil {
		return fmt.Errorf("before turn.created of %q", id)
	}
	if t.ended != "" {
		return fmt.Errorf("after %s", t.ended)
	}
	if terminal(f.kind()) {
		t.ended = f.kind()
		for id, it := range t.items {
			if !it.done {
				return fmt.Errorf("item %s is still open", id)
			}
		}
		return nil
	}
	if f.kind() == turnEvent+"in_progress" {
		return nil
	}
	return t.item(f, d)
}

func (t *turnOrder) item(f frame, d map[string]any) error {
	id, _ := d["item_id"].(string)
	if id == "" {
		id, _ = at(d, "item", "id").(string)
	}
	it := t.items[id]
	if f.kind() == turnEvent+"item.added" {
		if it != nil {
			return fmt.Errorf("item %s added twice", id)
		}
		kind, _ := at(d, "item", "type").(string)
		// A caller's message has no item.done.
		t.items[id] = &itemOrder{kind: kind, done: at(d, "item", "role") == "user"}
		return nil
	}
	if it == nil {
		return fmt.Errorf("before item.added of %q", id)
	}
	if it.done {
		return fmt.Errorf("after item.done")
	}
	switch f.kind() {
	case turnEvent + "content_part.added", turnEvent + "reasoning_summary_part.added":
		it.part = true
	case turnEvent + "output_text.delta", turnEvent + "reasoning_summary_text.delta":
		if !it.part {
			return fmt.Errorf("a delta without its part")
		}
		s, _ := d["delta"].(string)
		it.text.WriteString(s)
	case turnEvent + "output_text.done", turnEvent + "reasoning_summary_text.done":
		if s, _ := d["text"].(string); s != it.text.String() {
			return fmt.Errorf("the deltas join to %q", clip([]byte(it.text.String())))
		}
		it.said = true
	case turnEvent + "item.done":
		it.done = true
		if it.kind == "message" {
			if s, _ := at(d, "item", "content", 0, "text").(string); s != it.text.String() {
				return fmt.Errorf("the deltas join to %q", clip([]byte(it.text.String())))
			}
		}
	}
	return nil
}

// ends is how the turns ended, in the order of their creation.
func (o *agentsOrder) ends() []string {
	var out []string
	for _, id := range o.order {
		out = append(out, strings.TrimPrefix(o.turns[id].ended, turnEvent))
	}
	return out
}

// samePrefix checks that what was seen first is a byte for byte prefix of the
// whole.
func samePrefix(t *testing.T, what string, seen, whole []byte) {
	t.Helper()
	if len(seen) == 0 {
		t.Errorf("%s: nothing was seen", what)
		return
	}
	if bytes.HasPrefix(whole, seen) {
		return
	}
	n := 0
	for n < len(seen) && n < len(whole) && seen[n] == whole[n] {
		n++
	}
	from := max(0, n-200)
	t.Errorf("%s: the replay differs at byte %d of %d seen (%d replayed)\nseen:   ...%s\nreplay: ...%s",
		what, n, len(seen), len(whole), clip(seen[from:min(len(seen), n+300)]), clip(whole[min(from, len(whole)):min(len(whole), n+300)]))
}
