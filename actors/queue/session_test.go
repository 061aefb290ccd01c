package queue

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"pgregory.net/rapid"
)

// id is the n-th turn or session of a test.
func id(n int) event.ID { return event.ID{byte(n >> 16), byte(n >> 8), byte(n), 1} }

func TestSession(t *testing.T) {
	t.Parallel()
	a, b, c := id(1), id(2), id(3)
	type step struct {
		what string
		do   func(*Session) []SessionEffect
		want []SessionEffect
	}
	accept := func(turn event.ID, n int64, want ...SessionEffect) step {
		return step{"accept", func(q *Session) []SessionEffect { return q.Accept(turn, n) }, want}
	}
	granted := func(turn event.ID, want ...SessionEffect) step {
		return step{"granted", func(q *Session) []SessionEffect { return q.Granted(turn) }, want}
	}
	done := func(turn event.ID, want ...SessionEffect) step {
		return step{"done", func(q *Session) []SessionEffect { return q.Done(turn) }, want}
	}
	drop := func(turn event.ID, want ...SessionEffect) step {
		return step{"drop", func(q *Session) []SessionEffect { return q.Drop(turn) }, want}
	}
	shut := func(want ...SessionEffect) step {
		return step{"close", func(q *Session) []SessionEffect { return q.Close() }, want}
	}
	hold := func(want ...SessionEffect) step {
		return step{"hold", func(q *Session) []SessionEffect { return q.Hold() }, want}
	}
	release := func(want ...SessionEffect) step {
		return step{"release", func(q *Session) []SessionEffect { return q.Release() }, want}
	}
	park := func(turn event.ID, want ...SessionEffect) step {
		return step{"park", func(q *Session) []SessionEffect { return q.Park(turn) }, want}
	}
	unpark := func(turn event.ID, want ...SessionEffect) step {
		return step{"unpark", func(q *Session) []SessionEffect { return q.Unpark(turn) }, want}
	}
	for name, steps := range map[string][]step{
		"a parked turn goes on in a slot of its own place": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), accept(b, 2), park(a, Return{a}), park(a), unpark(b),
			unpark(a, Ask{a, 1}), unpark(a), granted(a, Resume{a}), granted(a), park(a, Return{a}), unpark(a, Ask{a, 1}),
			granted(a, Resume{a}), done(a, Ask{b, 2}), unpark(a), park(a),
		},
		"a parked turn is the running one": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), accept(b, 2), park(a, Return{a}), drop(a), granted(a, Return{a}),
			granted(b, Return{b}), done(a, Ask{b, 2}), granted(b, Start{b}),
		},
		"a parked turn ends while its slot is asked for": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), accept(b, 2), park(a, Return{a}), unpark(a, Ask{a, 1}),
			done(a, Ask{b, 2}), granted(a, Return{a}), granted(b, Start{b}), park(a), unpark(a),
		},
		"a closed session gives a parked turn no slot": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), park(a, Return{a}), unpark(a, Ask{a, 1}), shut(Withdraw{a}),
			granted(a, Return{a}), unpark(a), done(a),
		},
		"nothing that does not run is parked": {
			park(event.ID{}), accept(a, 1, Ask{a, 1}), park(a), unpark(a), granted(a, Start{a}), unpark(a), done(a), park(a),
		},
		"a hold leaves a parked turn's ask alone": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), accept(b, 2), park(a, Return{a}), hold(), unpark(a, Ask{a, 1}), hold(),
			granted(a, Resume{a}), done(a), release(Ask{b, 2}),
		},
		"a held session asks for nothing until it is released": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), accept(b, 2), hold(), done(a), accept(c, 3), hold(), release(Ask{b, 2}), release(),
			granted(b, Start{b}), done(b, Ask{c, 3}),
		},
		"the grant of a turn that is held meanwhile is returned, and asked for again": {
			accept(a, 1, Ask{a, 1}), hold(Withdraw{a}), granted(a, Return{a}), release(Ask{a, 1}), granted(a, Start{a}),
		},
		"what is held can be dropped": {
			accept(a, 1, Ask{a, 1}), accept(b, 2), hold(Withdraw{a}), drop(a), release(Ask{b, 2}),
		},
		"a release does not open a closed session": {
			accept(a, 1, Ask{a, 1}), hold(Withdraw{a}), shut(), release(),
		},
		"one at a time, in order": {
			accept(a, 1, Ask{a, 1}), accept(b, 2), granted(a, Start{a}), accept(c, 3),
			done(a, Ask{b, 2}), granted(b, Start{b}), done(b, Ask{c, 3}), granted(c, Start{c}), done(c),
		},
		"a dropped head is withdrawn and the next asked for": {
			accept(a, 1, Ask{a, 1}), accept(b, 2), drop(a, Withdraw{a}, Ask{b, 2}),
		},
		"the grant of a dropped head is returned": {
			accept(a, 1, Ask{a, 1}), drop(a, Withdraw{a}), granted(a, Return{a}),
		},
		"the grant of a stranger is returned": {
			granted(a, Return{a}), accept(b, 2, Ask{b, 2}), granted(b, Start{b}), granted(a, Return{a}),
		},
		"one dropped in the middle is silent": {
			accept(a, 1, Ask{a, 1}), accept(b, 2), accept(c, 3), drop(b), granted(a, Start{a}), done(a, Ask{c, 3}),
		},
		"a running turn cannot be dropped": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), drop(a), done(a),
		},
		"a grant told twice starts once": {
			accept(a, 1, Ask{a, 1}), granted(a, Start{a}), granted(a),
		},
		"done of another turn is nothing": {
			accept(a, 1, Ask{a, 1}), accept(b, 2), granted(a, Start{a}), done(b), done(event.ID{}), done(a, Ask{b, 2}),
		},
		"one that was accepted earlier goes before": {
			accept(b, 2, Ask{b, 2}), accept(c, 3), accept(a, 1, Withdraw{b}, Ask{a, 1}), granted(b, Return{b}), granted(a, Start{a}), done(a, Ask{b, 2}),
		},
		"a closed session starts nothing": {
			accept(a, 1, Ask{a, 1}), accept(b, 2), shut(Withdraw{a}), granted(a, Return{a}), drop(a), drop(b), accept(c, 3), shut(),
		},
		"a closed session lets its turn end": {
			accept(a, 1, Ask{a, 1}), accept(b, 2), granted(a, Start{a}), shut(), done(a), drop(b),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := NewSession(0)
			for i, s := range steps {
				got := s.do(q)
				if len(got)+len(s.want) > 0 && !reflect.DeepEqual(got, s.want) {
					t.Fatalf("step %d (%s): %v, want %v", i, s.what, got, s.want)
				}
			}
		})
	}
}

func TestCancelMeansTheRunningTurnElseTheOldest(t *testing.T) {
	t.Parallel()
	q := NewSession(0)
	if _, _, ok := q.CancelTarget(); ok {
		t.Error("an idle session has something to cancel")
	}
	q.Accept(id(1), 1)
	q.Accept(id(2), 2)
	if turn, running, ok := q.CancelTarget(); turn != id(1) || running || !ok {
		t.Errorf("oldest queued: %v %v %v", turn, running, ok)
	}
	q.Granted(id(1))
	if turn, running, ok := q.CancelTarget(); turn != id(1) || !running || !ok {
		t.Errorf("running: %v %v %v", turn, running, ok)
	}
	q.Park(id(1))
	if turn, running, ok := q.CancelTarget(); turn != id(1) || !running || !ok || !q.Parked() || q.Idle() {
		t.Errorf("parked: %v %v %v", turn, running, ok)
	}
	if got, ok := q.Running(); got != id(1) || !ok {
		t.Errorf("running is %v", got)
	}
}

func TestFullCountsWhatWaitsBehindTheFirst(t *testing.T) {
	t.Parallel()
	q := NewSession(2)
	if q.Full(3) || !q.Full(4) {
		t.Error("an idle session takes one to run and two to wait")
	}
	q.Accept(id(1), 1)
	q.Granted(id(1))
	q.Accept(id(2), 2)
	if q.Full(1) || !q.Full(2) {
		t.Error("one runs, one waits: room for one")
	}
	q.Accept(id(3), 3)
	if !q.Full(1) || q.Full(0) {
		t.Error("one runs, two wait: full")
	}
	q.Drop(id(2))
	if q.Full(1) {
		t.Error("a dropped turn makes room")
	}
	if q.Position(id(3)) != 1 || q.Position(id(2)) != 0 || q.Position(event.ID{}) != 0 {
		t.Errorf("positions %d %d", q.Position(id(3)), q.Position(id(2)))
	}
	if NewSession(0).Full(1 << 30) {
		t.Error("no bound is none")
	}
}

// TestSessionAgainstAList compares with the plainest model there is.
func TestSessionAgainstAList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		q := NewSession(0)
		var list []event.ID
		var running, asked event.ID
		held, parked, closed := false, false, false
		next := 1
		var late []int // numbers that were given before
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			var got []SessionEffect
			turn := id(rapid.IntRange(1, next).Draw(rt, "turn"))
			switch rapid.IntRange(0, 25).Draw(rt, "what") {
			case 23:
				late = append(late, next)
				next++
			case 24, 25:
				if len(late) == 0 {
					continue
				}
				turn = id(late[0])
				got = q.Accept(turn, int64(late[0]))
				if !closed {
					at := len(list)
					for at > 0 && num(list[at-1]) > late[0] {
						at--
					}
					if list = slices.Insert(list, at, turn); at == 0 && !asked.IsZero() && !parked {
						expect(rt, &got, Withdraw{asked})
						asked = event.ID{}
					}
				}
				late = late[1:]
			case 21:
				if got, held = q.Hold(), true; !asked.IsZero() && !parked {
					expect(rt, &got, Withdraw{asked})
					asked = event.ID{}
				}
			case 22:
				got, held = q.Release(), false
			case 0, 1, 2, 3:
				got = q.Accept(id(next), int64(next))
				if !closed {
					list = append(list, id(next))
				}
				next++
			case 4, 5, 6, 7, 8:
				got = q.Granted(turn)
				switch {
				case turn == running && !parked: // told twice
				case turn == running && turn == asked:
					parked, asked = false, event.ID{}
					expect(rt, &got, Resume{turn})
				case turn == asked:
					list, running, asked = list[1:], turn, event.ID{}
					expect(rt, &got, Start{turn})
				default:
					expect(rt, &got, Return{turn})
				}
			case 9, 10, 11:
				if got = q.Done(turn); turn == running {
					if asked == turn {
						asked = event.ID{}
					}
					running, parked = event.ID{}, false
				}
			case 12, 13, 14:
				if got = q.Park(turn); turn == running && !parked {
					parked = true
					expect(rt, &got, Return{turn})
				}
			case 15, 16, 17:
				if got = q.Unpark(turn); turn == running && parked && !closed && asked != turn {
					asked = turn
					expect(rt, &got, Ask{turn, int64(num(turn))})
				}
			case 18:
				if rapid.IntRange(0, 4).Draw(rt, "close") > 0 {
					continue
				}
				got, closed = q.Close(), true
				if !asked.IsZero() {
					expect(rt, &got, Withdraw{asked})
					asked = event.ID{}
				}
			default:
				got = q.Drop(turn)
				for i := range list {
					if list[i] == turn {
						list = append(list[:i:i], list[i+1:]...)
						break
					}
				}
				if turn == asked && turn != running {
					asked = event.ID{}
					expect(rt, &got, Withdraw{turn})
				}
			}
			if !held && !closed && running.IsZero() && asked.IsZero() && len(list) > 0 {
				asked = list[0]
				ask, ok := first(got).(Ask)
				if !ok || ask.Turn != asked || id(int(ask.Number)) != asked {
					rt.Fatalf("%v, want an Ask of %v", got, asked)
				}
				got = got[1:]
			}
			if len(got) > 0 {
				rt.Fatalf("unexpected %v", got)
			}
			if q.Held() != held || fmt.Sprint(q.Turns()) != fmt.Sprint(list) || q.Waiting() != len(list) || q.Idle() != (len(list) == 0 && running.IsZero()) {
				rt.Fatalf("waiting %v, want %v", q.Turns(), list)
			}
			for i := range list {
				if q.Position(list[i]) != i+1 {
					rt.Fatalf("position of %v is %d", list[i], q.Position(list[i]))
				}
			}
		}
	})
}

func expect(rt *rapid.T, got *[]SessionEffect, want SessionEffect) {
	rt.Helper()
	if first(*got) != want {
		rt.Fatalf("%v, want %v first", *got, want)
	}
	*got = (*got)[1:]
}

func first(got []SessionEffect) SessionEffect {
	if len(got) == 0 {
		return nil
	}
	return got[0]
}
