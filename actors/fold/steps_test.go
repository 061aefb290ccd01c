package fold_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

// Stored cursors into a response count these steps, so the numbers may not
// change for kinds and types that exist.
func TestStepsOfEachKind(t *testing.T) {
	t.Parallel()
	flat := map[event.Kind]int32{
		event.SessionCreated: 0, event.SessionUpdated: 0, event.SessionDeleted: 0, event.InputAccepted: 1, event.TurnStarted: 1,
		event.NativeSession: 0, event.TextDelta: 1, event.ReasoningDelta: 1, event.OutputDelta: 0, event.Notice: 0, event.Unknown: 0,
		event.TurnEnded: 1, event.TurnForgotten: 0, event.Skipped: 0,
		event.TurnWaiting: 1, event.CallAnswered: 0, event.LegStarted: 1, event.TurnResumed: 1,
		event.SubagentItem: 0, event.SubagentStarted: 0,
		event.ItemsPosted: 0, event.ItemRemoved: 0,
		event.BudgetHit: 0, event.EnvironmentChanged: 0, event.InputSteered: 0,
	}
	items := map[event.ItemType][2]int32{ // started, done
		event.Message: {2, 3}, event.Reasoning: {2, 3}, event.WebSearch: {3, 2},
		event.Command: {4, 2}, event.FileChange: {4, 2}, event.ToolCall: {4, 2}, event.Subagent: {4, 2},
		event.FunctionCall: {4, 0}, event.Approval: {2, 0},
	}
	for _, k := range event.Kinds() {
		if k == event.ItemStarted || k == event.ItemDone {
			for typ, n := range items {
				w := n[0]
				if k == event.ItemDone {
					w = n[1]
				}
				if got := fold.Steps(&event.Event{Kind: k, Body: &event.Item{Type: typ, Status: event.Done}}); got != w {
					t.Errorf("%s of type %d: %d steps, want %d", k, typ, got, w)
				}
			}
			continue
		}
		w, ok := flat[k]
		if got := fold.Steps(&event.Event{Kind: k}); !ok || got != w {
			t.Errorf("%s: %d steps, want %d (%v)", k, got, w, ok)
		}
	}
	want(t, "a waiting input", fold.Steps(&event.Event{Kind: event.InputAccepted, Body: &event.Input{Waiting: true}}), int32(2))
	want(t, "a search that failed", fold.Steps(&event.Event{Kind: event.ItemDone, Body: &event.Item{Type: event.WebSearch, Status: event.ItemFailed}}), int32(1))
	want(t, "an unknown kind", fold.Steps(&event.Event{Kind: 99}), int32(0))
	want(t, "an item without a body", fold.Steps(&event.Event{Kind: event.ItemDone}), int32(2))
}

// FuzzApply: no stream of events, however wrong, makes the fold panic, and what
// it shows on the way is whole.
func FuzzApply(f *testing.F) {
	seed := func(events []event.Event) {
		var e event.Encoder
		for i := range events {
			if err := e.Append(&events[i]); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(e.Buf, true)
		f.Add(e.Buf, false)
	}
	j := newJournal(f)
	j.accept(a, event.Input{Overrides: []byte(`{"model":"m"}`)})
	j.accept(b, event.Input{Waiting: true})
	j.start(a)
	j.say(a, "hi")
	it := j.open(a, event.Command)
	j.piece(a, &it, "out")
	j.end(b, event.End{Outcome: event.Cancelled})
	j.done(a, it)
	j.end(a, event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 1}, Carry: []byte("c")})
	j.add(event.Event{Kind: event.TurnForgotten, Turn: a})
	j.settings(event.SessionUpdated)
	j.add(event.Event{Kind: event.SessionDeleted})
	seed(j.events)
	reversed := make([]event.Event, 0, len(j.events))
	for i := range j.events {
		reversed = append(reversed, j.events[len(j.events)-1-i])
	}
	seed(append(append([]event.Event{}, j.events[0]), reversed...))
	seed([]event.Event{j.events[0], {Seq: 2, Kind: event.InputAccepted, Turn: a, Body: &event.Input{}}, {Seq: 3, Kind: event.ItemDone, Turn: a}})

	f.Fuzz(func(t *testing.T, encoded []byte, renumber bool) {
		events, _ := event.Decode(nil, encoded)
		s := fold.New()
		for _, ev := range events {
			if renumber {
				s.Stamp(&ev)
			}
			v, err := s.Apply(&ev)
			if err != nil {
				break
			}
			if v != nil && v.Turn != nil {
				look(t, v.Turn)
			}
		}
		for _, o := range s.OpenTurns() {
			look(t, o)
		}
		b, err := s.Checkpoint()
		if err != nil || s.Session().Head == 0 {
			return
		}
		if _, err := fold.Restore(b); err != nil && s.Session().Open == 0 {
			t.Errorf("%s: %v", b, err)
		}
	})
}

// look does what a reader of a turn does.
func look(t *testing.T, turn *fold.Turn) {
	_, _ = turn.Model(), turn.Overrides()
	for _, it := range turn.AllItems() {
		if it.Item == nil {
			t.Fatalf("turn %v lists no item", turn.ID)
		}
	}
}
