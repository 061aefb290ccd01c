package fold_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

// A Skipped event moves the head and shows nothing; what the running turn may
// have lost is passed over in its steps as well.
func TestSkippedNumbersAndSteps(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.accept(b, event.Input{})
	j.start(a)
	it := j.open(a, event.Message)
	j.piece(a, &it, "hel")
	before, _ := j.state.Turn(a)
	queued, _ := j.state.Turn(b)
	head := j.state.Session().Head
	if j.add(event.Event{Kind: event.Skipped, Seq: head + 100}) != nil {
		t.Error("it has a view")
	}
	want(t, "head", j.state.Session().Head, head+100)
	after, _ := j.state.Turn(a)
	if lost := after.Steps - before.Steps; lost < 4*99 {
		t.Errorf("99 lost events may have had more than %d steps", lost)
	}
	want(t, "text", after.Items[0].Text, "hel")
	same, _ := j.state.Turn(b)
	want(t, "steps of the queued turn", same.Steps, queued.Steps)
	j.piece(a, &it, "lo")
	want(t, "next event", j.events[len(j.events)-1].Seq, head+101)
	want(t, "its step", j.events[len(j.events)-1].Step, after.Steps)
	j.done(a, it)
	j.end(a, event.End{Outcome: event.Completed})
	j.end(b, event.End{Outcome: event.Completed})
	s := fold.New()
	sameViews(t, "replay", replay(t, s, stored(t, j.events)), j.views)
	sameState(t, "replay", s, j.state)
}

func TestSkippedIsNeverBack(t *testing.T) {
	t.Parallel()
	for _, seq := range []int64{-1, 0, 1} {
		j := newJournal(t)
		if _, err := j.state.Apply(&event.Event{Kind: event.Skipped, Seq: seq}); err == nil {
			t.Errorf("skipped from 1 to %d", seq)
		}
	}
	if _, err := fold.New().Apply(&event.Event{Kind: event.Skipped, Seq: 9}); err == nil {
		t.Error("a session began with skipped numbers")
	}
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	if _, err := j.state.Apply(&event.Event{Kind: event.Skipped, Seq: 1<<63 - 1}); err != nil {
		t.Fatal(err)
	}
	if turn, _ := j.state.Turn(a); turn.Steps < 0 {
		t.Errorf("%d steps", turn.Steps)
	}
}

func TestBatchCoversSkippedNumbers(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	batch, err := fold.NewBatch(j.state, []event.Event{
		{Seq: 50, Kind: event.Skipped}, {Seq: 51, Kind: event.Notice}, {Seq: 70, Kind: event.Skipped}, {Seq: 71, Kind: event.Notice},
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "span", []int64{batch.First(), batch.Last()}, []int64{2, 71})
	for after, i := range map[int64]int{0: 0, 1: 0, 30: 0, 49: 0, 50: 1, 51: 2, 60: 2, 70: 3, 71: 4, 99: 4} {
		want(t, "index", batch.After(after), i)
	}
}
