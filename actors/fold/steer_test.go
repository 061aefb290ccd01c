package fold_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

func message(id event.ID, text string) *event.Input {
	return &event.Input{ID: id, Items: []*event.Item{{ID: event.ItemID(id, 0), Type: event.Message, Status: event.Done, User: true, Text: text}}}
}

// A message that a running turn takes stands among its items where it came; one that
// it does not take is a turn, in the place that it was accepted in.
func TestSteeredMessages(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	j.say(a, "before")
	early, late := event.ID{0x77, 1}, event.ID{0x77, 2}
	j.add(event.Event{Kind: event.InputSteered, Turn: a, Body: message(early, "and quickly")})
	j.add(event.Event{Kind: event.InputSteered, Turn: a, Body: message(late, "and well")})
	j.accept(b, event.Input{Waiting: true})
	if got := j.state.Steering(a); len(got) != 2 || got[0].ID != early || got[1].ID != late {
		t.Errorf("on their way: %v", got)
	}
	if j.state.AtRest() || len(j.state.Steering(b)) > 0 {
		t.Error("they are of no turn")
	}
	own := event.ItemID(a, 9)
	j.add(event.Event{Kind: event.InputSteered, Turn: a, Body: &event.Input{ID: early, Taken: true, Items: []*event.Item{
		{ID: own, Type: event.Message, Status: event.Done, User: true, Text: "and quickly"},
	}}})
	j.say(a, "after")
	turn, _ := j.state.Turn(a)
	var texts []string
	for _, it := range turn.AllItems() {
		if texts = append(texts, it.Item.Text); it.Item.ID == own && it.Index != -1 {
			t.Errorf("the message is %+v", it)
		}
	}
	if n := len(texts); n < 3 || texts[n-3] != "before" || texts[n-2] != "and quickly" || texts[n-1] != "after" {
		t.Errorf("items %q", texts)
	}
	j.end(a, event.End{Outcome: event.Completed})
	if j.state.AtRest() {
		t.Error("at rest with a message that waits")
	}
	in := message(late, "and well")
	in.Waiting = true
	j.add(event.Event{Kind: event.InputAccepted, Turn: late, Body: in})
	j.add(event.Event{Kind: event.InputSteered, Turn: b, Body: &event.Input{ID: late, Taken: true, Items: in.Items}}) // too late
	open := j.state.OpenTurns()
	if len(open) != 2 || open[0].ID != late || open[1].ID != b || open[0].Ordinal >= open[1].Ordinal || len(open[1].Answers) > 0 {
		t.Errorf("open turns %+v", open)
	}
	if s := j.state.Session(); s.Latest != b || s.Open != 2 || len(j.state.Steering(a)) > 0 {
		t.Errorf("session %+v", s)
	}
}

func TestSteeringThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, ev := range map[string]event.Event{
		"no input":   {Kind: event.InputSteered, Turn: a},
		"no id":      {Kind: event.InputSteered, Turn: a, Body: &event.Input{}},
		"other turn": {Kind: event.InputSteered, Turn: b, Body: message(event.ID{0x77}, "x")},
	} {
		j := newJournal(t)
		j.accept(a, event.Input{})
		j.start(a)
		ev.Seq = j.state.Session().Head + 1
		if _, err := j.state.Apply(&ev); err == nil {
			t.Errorf("%s was folded", name)
		}
	}
}
