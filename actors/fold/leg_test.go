package fold_test

import (
	"encoding/json"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"pgregory.net/rapid"
)

// asking is a turn that has said something and asks two things.
func asking(t *testing.T) (j *journal, call, approval event.Item) {
	t.Helper()
	j = newJournal(t)
	j.accept(a, event.Input{Number: 1, Wire: "responses", Echo: []byte(`{"model":"m"}`)})
	j.start(a)
	j.say(a, "I look")
	call, approval = j.open(a, event.FunctionCall), j.open(a, event.Approval)
	return j, call, approval
}

func part(t *testing.T, turn *fold.Turn, n int32) *fold.Turn {
	t.Helper()
	p, ok := turn.Part(n)
	if !ok {
		t.Fatalf("no leg %d", n)
	}
	return p
}

func ids(items []*event.Item) (out []uint32) {
	for _, it := range items {
		out = append(out, event.ItemOrdinal(a, it.ID))
	}
	return out
}

func TestWaitingTurnHasLegs(t *testing.T) {
	t.Parallel()
	j, call, approval := asking(t)
	before, _ := j.state.Turn(a)
	if _, ok := before.Part(1); ok || part(t, before, 0) != before {
		t.Error("a turn that never waited has one leg, itself")
	}
	v := j.wait(a)
	want(t, "status", v.Turn.Status, fold.Waiting)
	want(t, "word", v.Turn.Status.String(), "waiting")
	want(t, "ended", v.Turn.Status.Ended(), false)
	want(t, "asked", ids(v.Session.Required), []uint32{2, 3})
	first := part(t, v.Turn, 0)
	want(t, "the first leg", []any{first.ID, first.Status, first.End.Outcome, first.Ended == j.clock}, []any{a, fold.Completed, event.Completed, true})
	want(t, "its items", ids(first.Items), []uint32{1, 2, 3})
	want(t, "the call is complete", []event.Status{first.Items[1].Status, first.Items[2].Status}, []event.Status{event.Done, event.Done})
	want(t, "steps", []int32{first.Steps, v.Turn.Legs[0].Steps}, []int32{1 + 1 + 6 + 4 + 2 + 1, 15})
	if _, ok := v.Turn.Part(1); ok || v.Turn.Legs[0].To != 3 {
		t.Error("a second leg before its time")
	}
	if _, ok := v.Turn.Part(-1); ok {
		t.Error("leg -1")
	}
	whole, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}

	said := []event.ID{j.answer(a, call, event.ItemFailed)}
	want(t, "still asked", ids(j.state.Session().Required), []uint32{3})
	said = append(said, j.answer(a, approval, event.Done))
	want(t, "nothing asked", len(j.state.Session().Required), 0)
	v = j.leg(a, event.Leg{Number: 1, Wire: "responses", Echo: []byte(`{}`), Background: true, Forget: true, Answers: said})
	want(t, "status", v.Turn.Status, fold.Running)
	second := part(t, v.Turn, 1)
	want(t, "its id", second.ID, event.LegID(a, 1))
	want(t, "previous", second.Previous, a)
	want(t, "its input", []any{second.Input.Wire, second.Input.Background, second.Input.Forget, second.Input.Number, len(second.Input.Items)}, []any{"responses", true, true, int64(1), 2})
	want(t, "its times", []int64{second.Created, second.Started, second.Ended}, []int64{j.clock, 0, 0})
	want(t, "its steps", second.Steps, int32(1))
	v = j.resume(a)
	want(t, "started", part(t, v.Turn, 1).Started, j.clock)
	j.say(a, "rain")
	v = j.end(a, event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 3}})
	second = part(t, v.Turn, 1)
	want(t, "its items", ids(second.Items), []uint32{4})
	want(t, "its end", []any{second.Status, second.Ended, second.End.Usage.Input, second.Steps}, []any{fold.Completed, j.clock, int64(3), int32(1 + 1 + 6 + 1)})
	for i := range j.events {
		ev := &j.events[i]
		if ev.Kind == event.ItemStarted && (ev.Leg != 0 || ev.Base != 0) != (event.ItemOrdinal(a, ev.Item) == 4) {
			t.Errorf("event %d has leg %d and base %d", ev.Seq, ev.Leg, ev.Base)
		}
	}
	// The first leg is what it was, though its call has failed.
	again, err := json.Marshal(part(t, v.Turn, 0))
	if err != nil || string(again) != string(whole) {
		t.Errorf("the first leg became\n%s\nit was\n%s", again, whole)
	}
	want(t, "and its items", []any{first.Items[1].Status, part(t, v.Turn, 0).Items[1].Status, part(t, v.Turn, 0).Items[1].Error}, []any{event.Done, event.Done, ""})

	var order []string
	for _, it := range v.Turn.AllItems() {
		order = append(order, it.Item.Type.String())
	}
	want(t, "all items", order, []string{"message", "message", "function_call", "approval", "function_call_output", "approval_answer", "message"})
	want(t, "places", []int32{v.Turn.AllItems()[3].Index, v.Turn.AllItems()[4].Index, v.Turn.AllItems()[6].Index}, []int32{2, -1, 3})

	// A record has no items and no answers; a forgotten turn shows none.
	slim := *v.Turn
	slim.Items, slim.Answers, slim.Forgotten = nil, nil, true
	raw, err := json.Marshal(&slim)
	if err != nil {
		t.Fatal(err)
	}
	back := new(fold.Turn)
	if err := json.Unmarshal(raw, back); err != nil || len(back.Legs) != 2 {
		t.Fatalf("%d legs, %v", len(back.Legs), err)
	}
	for n := range int32(2) {
		p := part(t, back, n)
		want(t, "a part of a record", []any{p.ID, p.Status, len(p.Items), p.Steps, p.Forgotten}, []any{event.LegID(a, n), fold.Completed, 0, part(t, v.Turn, n).Steps, true})
	}
	want(t, "items of a forgotten one", len(back.AllItems()), 0)
}

func TestTurnThatEndsWhileWaiting(t *testing.T) {
	t.Parallel()
	j, call, approval := asking(t)
	j.wait(a)
	j.answer(a, call, event.Done)
	approval.Status = event.Incomplete
	j.done(a, approval)
	v := j.end(a, event.End{Outcome: event.Cancelled})
	want(t, "status", v.Turn.Status, fold.Cancelled)
	want(t, "asked", len(v.Session.Required), 0)
	want(t, "the leg", part(t, v.Turn, 0).Status, fold.Completed)
	if _, ok := v.Turn.Part(1); ok {
		t.Error("a leg that nobody asked for")
	}
	want(t, "at rest", j.state.AtRest(), true)
}

// Legs without a wait, or of no body, are damage: they count and break nothing.
func TestOddLegs(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	j.resume(a)
	j.add(event.Event{Kind: event.LegStarted, Turn: a})
	j.resume(a)
	j.wait(a)
	j.wait(a)
	j.add(event.Event{Kind: event.CallAnswered, Turn: a, Item: event.ItemID(a, 9)})
	j.add(event.Event{Kind: event.LegStarted, Turn: a, Body: &event.Leg{Number: 9, Answers: []event.ID{{1}}}})
	v := j.end(a, event.End{Outcome: event.Completed})
	for n := range int32(5) {
		v.Turn.Part(n)
	}
}

// At every event the legs divide the turn's items, and one that has ended never
// changes any more.
func TestPartsDivideTheTurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ended := map[event.ID]string{}
		see := func(turn *fold.Turn) {
			var items []*event.Item
			var last *fold.Turn
			n := int32(0)
			for ; ; n++ {
				p, ok := turn.Part(n)
				if !ok {
					break
				}
				items, last = append(items, p.Items...), p
				if p.ID != event.LegID(turn.ID, n) || p.Session != turn.Session {
					t.Fatalf("part %d is %s of %s", n, p.ID, turn.ID)
				}
				if n > 0 && p.Previous != event.LegID(turn.ID, n-1) {
					t.Fatalf("before part %d is %s", n, p.Previous)
				}
				if int(n) < len(turn.Legs)-1 || int(n) < len(turn.Legs) && turn.Legs[n].Ended > 0 {
					now := frozen(fold.Session{}, []*fold.Turn{p})
					if was, ok := ended[p.ID]; ok && was != now {
						t.Fatalf("part %d became\n%s\nit was\n%s", n, now, was)
					}
					ended[p.ID] = now
				}
			}
			if int(n) != max(1, len(turn.Legs)) {
				t.Fatalf("%d parts of %d legs", n, len(turn.Legs))
			}
			if len(items) > len(turn.Items) || len(items) < len(turn.Items) && last.Ended == 0 {
				t.Fatalf("%d items in parts, %d in the turn", len(items), len(turn.Items))
			}
			for i := range items {
				if items[i].ID != turn.Items[i].ID {
					t.Fatalf("item %d is %s, want %s", i, items[i].ID, turn.Items[i].ID)
				}
			}
		}
		j := drawJournal(t, func(j *journal, k *known) {
			for _, o := range j.state.OpenTurns() {
				see(o)
				waits := len(o.Legs) > 0 && o.Legs[len(o.Legs)-1].Ended > 0
				if waits != (o.Status == fold.Waiting) {
					t.Fatalf("turn %s is %s, its newest leg has ended: %v", o.ID, o.Status, waits)
				}
				if o.Status == fold.Waiting {
					for _, it := range o.Items {
						if it.Type.Asks() && it.Status == event.InProgress != contains(j.state.Session().Required, it.ID) {
							t.Fatalf("%s: what is asked is %v", it.ID, ids(j.state.Session().Required))
						}
					}
				}
			}
		})
		for _, v := range j.views {
			if v != nil && v.Turn != nil {
				see(v.Turn)
			}
		}
	})
}

func contains(items []*event.Item, id event.ID) bool {
	for _, it := range items {
		if it.ID == id {
			return true
		}
	}
	return false
}

// What a CLI tells while the turn goes on is of the leg that it told it in, and no
// token is counted twice.
func TestLegsShareTheUsageOfTheirTurn(t *testing.T) {
	t.Parallel()
	j, call, approval := asking(t)
	wait := func(u *event.Usage) *fold.View {
		return j.add(event.Event{Kind: event.TurnWaiting, Turn: a, Body: &event.Pause{Usage: u}})
	}
	of := func(v *fold.View, n int32) event.Usage {
		if u := part(t, v.Turn, n).End.Usage; u != nil {
			return *u
		}
		return event.Usage{Input: -1}
	}
	v := wait(&event.Usage{Input: 100, Cached: 30, Output: 7})
	want(t, "the first leg", of(v, 0), event.Usage{Input: 100, Cached: 30, Output: 7})
	said := []event.ID{j.answer(a, call, event.Done), j.answer(a, approval, event.Done)}
	j.leg(a, event.Leg{Number: 1, Answers: said})
	j.resume(a)
	v = wait(&event.Usage{Input: 250, Cached: 90, Output: 9})
	want(t, "the second", of(v, 1), event.Usage{Input: 150, Cached: 60, Output: 2})
	j.leg(a, event.Leg{Number: 2})
	j.resume(a)
	v = wait(nil)
	want(t, "the third, of which nothing was told", of(v, 2), event.Usage{Input: -1})
	j.leg(a, event.Leg{Number: 3})
	j.resume(a)
	v = j.end(a, event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 400, Cached: 80, Output: 20}})
	want(t, "the last", of(v, 3), event.Usage{Input: 150, Output: 11})
	want(t, "the first stays", of(v, 0), event.Usage{Input: 100, Cached: 30, Output: 7})
	want(t, "the turn has all", *v.Turn.End.Usage, event.Usage{Input: 400, Cached: 80, Output: 20})
	want(t, "and so has the session", *v.Session.Usage, event.Usage{Input: 400, Cached: 80, Output: 20})
}
