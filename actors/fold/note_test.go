package fold_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// noted writes a session of posts and turns.
type noted struct {
	t *testing.T
	s *fold.State
}

func (n *noted) add(ev event.Event) *fold.View {
	n.t.Helper()
	n.s.Stamp(&ev)
	v, err := n.s.Apply(&ev)
	if err != nil {
		n.t.Fatal(err)
	}
	return v
}

func (n *noted) settings(s spec.Session, kind event.Kind) *fold.View {
	n.t.Helper()
	raw, err := json.Marshal(&s)
	if err != nil {
		n.t.Fatal(err)
	}
	return n.add(event.Event{Kind: kind, Body: &event.Settings{JSON: raw}})
}

func (n *noted) post(note byte, lines ...string) *fold.Turn {
	n.t.Helper()
	id := event.ID{note}
	in := &event.Input{}
	for i, l := range lines {
		in.Items = append(in.Items, &event.Item{ID: event.ItemID(id, uint32(i)), Type: event.Foreign, Text: l, Instructs: l == "rule"})
	}
	return n.add(event.Event{Kind: event.ItemsPosted, Turn: id, Body: in}).Turn
}

func (n *noted) queue(turn byte) *fold.Turn {
	n.t.Helper()
	return n.add(event.Event{Kind: event.InputAccepted, Turn: event.ID{turn}, Body: &event.Input{}}).Turn
}

func (n *noted) end(turn byte, firstByte int64) {
	n.t.Helper()
	n.add(event.Event{Kind: event.TurnEnded, Turn: event.ID{turn}, Body: &event.End{Outcome: event.Cancelled, FirstByte: firstByte}})
}

func (n *noted) told(t *fold.Turn, before, instructions []string) {
	n.t.Helper()
	if got := n.s.Told(t); !reflect.DeepEqual(got, fold.Told{Before: before, Instructions: instructions}) {
		n.t.Errorf("told %+v, want %q under %q", got, before, instructions)
	}
}

// again is the state as its checkpoint gives it back.
func (n *noted) again() {
	n.t.Helper()
	cp, err := n.s.Checkpoint()
	if err != nil {
		n.t.Fatal(err)
	}
	back, err := fold.Restore(cp)
	if err != nil {
		n.t.Fatal(err)
	}
	if same, err := back.Checkpoint(); err != nil || string(same) != string(cp) {
		n.t.Errorf("a checkpoint of\n%s gives\n%s, %v", cp, same, err)
	}
	n.s = back
}

func TestPostedItemsAreToldToTheTurnsBehindThem(t *testing.T) {
	t.Parallel()
	n := &noted{t, fold.New()}
	n.settings(spec.Session{ID: event.ID{1}}, event.SessionCreated)
	note := n.post(2, "a", "", "rule", "b")
	if !note.Note || note.Ordinal != 1 || !note.Status.Ended() || len(note.AllItems()) != 4 {
		t.Errorf("note %+v", note)
	}
	if s := n.s.Session(); s.Open != 0 || !s.Latest.IsZero() || s.Turns != 1 {
		t.Errorf("a note changed %+v", s)
	}
	n.again()
	first := n.queue(3)
	n.post(4, "behind")
	n.told(first, []string{"a", "b"}, []string{"rule"})
	// Removed before anybody heard it.
	n.add(event.Event{Kind: event.ItemRemoved, Turn: event.ID{2}, Item: event.ItemID(event.ID{2}, 0)})
	n.told(first, []string{"b"}, []string{"rule"})
	n.add(event.Event{Kind: event.TurnStarted, Turn: event.ID{3}})
	n.told(first, nil, []string{"rule"})
	n.end(3, 0) // its CLI was silent: all comes back, in order
	n.again()
	second := n.queue(5)
	n.told(second, []string{"b", "behind"}, []string{"rule"})
	n.add(event.Event{Kind: event.TurnStarted, Turn: event.ID{5}})
	n.end(5, 17)
	n.again()
	n.told(n.queue(6), nil, []string{"rule"})
	n.end(6, 0)
	n.add(event.Event{Kind: event.ItemRemoved, Turn: event.ID{2}, Item: event.ItemID(event.ID{2}, 2)})
	n.told(n.queue(7), nil, nil)
}

// The update that brings the agent has a view, no other has.
func TestTheAgentsArrivalHasAView(t *testing.T) {
	t.Parallel()
	n := &noted{t, fold.New()}
	bare := spec.Session{ID: event.ID{1}}
	n.settings(bare, event.SessionCreated)
	if v := n.settings(bare, event.SessionUpdated); v != nil {
		t.Errorf("%+v", v)
	}
	with := bare
	with.Agent.Adapter = "codex"
	if v := n.settings(with, event.SessionUpdated); v == nil || v.Turn != nil || !v.Session.Settings.Settled() {
		t.Errorf("%+v", v)
	}
	if v := n.settings(with, event.SessionUpdated); v != nil {
		t.Errorf("%+v", v)
	}
}

func TestBadPostsAreRefused(t *testing.T) {
	t.Parallel()
	for name, ev := range map[string]event.Event{
		"no body": {Kind: event.ItemsPosted, Turn: event.ID{2}},
		"no note": {Kind: event.ItemsPosted, Body: &event.Input{}},
	} {
		n := &noted{t, fold.New()}
		n.settings(spec.Session{ID: event.ID{1}}, event.SessionCreated)
		n.s.Stamp(&ev)
		if _, err := n.s.Apply(&ev); err == nil {
			t.Errorf("%s was folded", name)
		}
	}
}
