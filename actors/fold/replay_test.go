package fold_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"pgregory.net/rapid"
)

// What was live and what a journal gives back are the same, event by event.
func TestReplayGivesTheLiveViews(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJournal(t, nil)
		s := fold.New()
		sameViews(t, "replay", replay(t, s, stored(t, j.events)), j.views)
		sameState(t, "replay", s, j.state)
	})
}

// From every rest point a checkpoint and what follows are the whole.
func TestRestoredStateGoesOnAsTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type rest struct {
			events     int
			checkpoint []byte
		}
		var rests []rest
		j := drawJournal(t, func(j *journal, _ *known) {
			b, err := j.state.Checkpoint()
			if (err == nil) != j.state.AtRest() {
				t.Fatalf("at rest %v, checkpoint: %v", j.state.AtRest(), err)
			}
			if err == nil {
				rests = append(rests, rest{len(j.events), b})
			}
		})
		events := stored(t, j.events)
		for _, r := range rests {
			s, err := fold.Restore(r.checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			early := fold.New()
			replay(t, early, events[:r.events])
			sameState(t, "restored", s, early)
			if again, err := s.Checkpoint(); err != nil || string(again) != string(r.checkpoint) {
				t.Fatalf("%s became %s, %v", r.checkpoint, again, err)
			}
			sameViews(t, "rest", replay(t, s, events[r.events:]), j.views[r.events:])
			sameState(t, "rest", s, j.state)
		}
	})
}

func TestWhatIsNoCheckpoint(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "{", "null", "{}", `{"session":{"head":3}}`, `{"session":null,"settings":{}}`, `{"settings":{}}`,
		`{"session":{"head":3,"open":1},"settings":{}}`, `{"session":{"id":"x","head":3},"settings":{}}`,
	} {
		if s, err := fold.Restore([]byte(bad)); err == nil || s != nil {
			t.Errorf("%q was restored", bad)
		}
	}
	if _, err := fold.New().Checkpoint(); err == nil {
		t.Error("no session has a checkpoint")
	}
	j := newJournal(t)
	j.accept(a, event.Input{})
	if _, err := j.state.Checkpoint(); err == nil || !strings.Contains(err.Error(), "open turns") {
		t.Error(err)
	}
}

// Step and Index are what was counted before the event, and a second stamp gives
// the same, so a replay needs none.
func TestStampCountsStepsAndItems(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJournal(t, nil)
		s := fold.New()
		steps, places := map[event.ID]int32{}, map[event.ID]map[event.ID]int32{}
		open := map[event.ID]bool{}
		for i, ev := range j.events {
			again := ev
			again.Seq, again.Step, again.Index = 0, 0, 0
			s.Stamp(&again)
			if !reflect.DeepEqual(again, ev) {
				t.Fatalf("event %d is stamped %+v, then %+v", i, ev, again)
			}
			replay(t, s, []event.Event{again})
			wantStep, wantIndex := int32(0), int32(0)
			if ev.Kind == event.LegStarted {
				steps[ev.Turn] = 0
			}
			if open[ev.Turn] {
				wantStep = steps[ev.Turn]
			}
			theirs := ev.Kind == event.SubagentItem || ev.Kind == event.SubagentStarted || ev.Kind == event.CallAnswered
			if !ev.Item.IsZero() && !theirs {
				at := places[ev.Turn]
				if at == nil {
					at = map[event.ID]int32{}
					places[ev.Turn] = at
				}
				if _, ok := at[ev.Item]; !ok {
					at[ev.Item] = int32(len(at))
				}
				wantIndex = at[ev.Item]
			}
			if ev.Seq != int64(i+1) || ev.Step != wantStep || ev.Index != wantIndex {
				t.Fatalf("%s %d has step %d and index %d, want %d and %d", ev.Kind, ev.Seq, ev.Step, ev.Index, wantStep, wantIndex)
			}
			switch ev.Kind {
			case event.InputAccepted:
				open[ev.Turn] = true
			case event.TurnEnded:
				delete(open, ev.Turn)
			}
			steps[ev.Turn] += fold.Steps(&ev)
		}
	})
}

// The newest turn, the newest completed one and whether all since then failed.
func TestLatestCompletedFailing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawJournal(t, func(j *journal, k *known) {
			var latest, completed event.ID
			open, failing := 0, false
			for _, id := range k.accepted {
				latest, failing = id, true
				switch k.status[id] {
				case fold.Completed:
					completed, failing = id, false
				case fold.Queued, fold.Running, fold.Waiting:
					open++
				}
			}
			failing = failing && open == 0
			s := j.state.Session()
			if s.Latest != latest || s.Completed != completed || s.Failing != failing || s.Open != open || s.Turns != int64(len(k.accepted)) {
				t.Fatalf("latest %v completed %v failing %v open %d, want %v %v %v %d", s.Latest, s.Completed, s.Failing, s.Open, latest, completed, failing, open)
			}
			for _, o := range j.state.OpenTurns() {
				if o.Status != k.status[o.ID] {
					t.Fatalf("turn %v is %s, want %s", o.ID, o.Status, k.status[o.ID])
				}
			}
		})
	})
}

// Readers hold views while the session goes on.
func TestViewsDoNotChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		var sessions []fold.Session
		var turns [][]*fold.Turn
		j := drawJournal(t, func(j *journal, _ *known) {
			s, o := j.state.Session(), j.state.OpenTurns()
			sessions, turns, texts = append(sessions, s), append(turns, o), append(texts, frozen(s, o))
		})
		for i := range texts {
			if now := frozen(sessions[i], turns[i]); now != texts[i] {
				t.Fatalf("a snapshot became\n%s\nit was\n%s", now, texts[i])
			}
		}
		for i, v := range j.views {
			if now := frozenView(v); now != j.texts[i] {
				t.Fatalf("view %d became\n%s\nit was\n%s", i, now, j.texts[i])
			}
		}
	})
}

// doc.go: the views of ended turns need no delta. A reader that blanks them, as
// that of a forgotten turn does, sees the same ends.
func TestEndedTurnsNeedNoDeltas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJournal(t, nil)
		slim := stored(t, j.events)
		for i := range slim {
			switch slim[i].Kind {
			case event.TextDelta, event.ReasoningDelta, event.OutputDelta:
				slim[i].Kind, slim[i].Text, slim[i].Item = event.Notice, "", event.ID{}
			}
		}
		s := fold.New()
		for i, v := range replay(t, s, slim) {
			if slim[i].Kind == event.TurnEnded {
				sameViews(t, "end", []*fold.View{v}, j.views[i:i+1])
			}
		}
		if frozen(s.Session(), nil) != frozen(j.state.Session(), nil) {
			t.Fatal("the session differs")
		}
	})
}

// Where batches begin and end changes nothing.
func TestBatchBordersMeanNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		j := drawJournal(t, nil)
		s := fold.New()
		var views []*fold.View
		for rest := stored(t, j.events); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			b, err := fold.NewBatch(s, rest[:n])
			if err != nil {
				t.Fatal(err)
			}
			if b.First() != rest[0].Seq || b.Last() != rest[n-1].Seq || b.Session != j.set.ID {
				t.Fatalf("batch %d..%d of %v", b.First(), b.Last(), b.Session)
			}
			for i := range b.Events {
				views = append(views, b.View(i))
			}
			rest = rest[n:]
		}
		sameViews(t, "batches", views, j.views)
		sameState(t, "batches", s, j.state)
	})
}
