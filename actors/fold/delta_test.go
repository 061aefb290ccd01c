package fold_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

// flood is a running turn with an open message, and one delta of it.
func flood(t testing.TB) (*fold.State, event.Event) {
	j := newJournal(t)
	j.accept(a, event.Input{Number: 1})
	j.start(a)
	item := event.ItemID(a, 1)
	j.add(event.Event{Kind: event.ItemStarted, Turn: a, Item: item, Body: &event.Item{ID: item, Type: event.Message, Status: event.InProgress}})
	return j.state, event.Event{Kind: event.TextDelta, Turn: a, Item: item, At: 1, Text: "some words of an answer "}
}

// fill stamps and folds a batch of deltas as a session does.
func fill(t testing.TB, s *fold.State, ev event.Event) {
	b := &fold.Batch{Events: make([]event.Event, 0, 128)}
	for range 128 {
		s.Stamp(&ev)
		if err := b.Add(s, ev); err != nil {
			t.Fatal(err)
		}
	}
}

// Not parallel: it counts allocations.
func TestDeltaIsFoldedWithoutAllocation(t *testing.T) {
	s, ev := flood(t)
	if n := testing.AllocsPerRun(200, func() { fill(t, s, ev) }) / 128; n > 0.05 {
		t.Errorf("%.3f allocations a delta", n)
	}
}

// BenchmarkFoldDeltas stamps and folds batches of 128.
func BenchmarkFoldDeltas(b *testing.B) {
	s, ev := flood(b)
	b.ReportAllocs()
	for b.Loop() {
		fill(b, s, ev)
	}
}
