package queue

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"pgregory.net/rapid"
)

func ask(a *Admission, n int) []Grant {
	return a.Ask(Entry{Session: id(1000 + n), Turn: id(n), Number: int64(n)})
}

// turns are the turns of grants, by their test number.
func turns(gs []Grant) []int {
	out := make([]int, 0, len(gs))
	for _, g := range gs {
		out = append(out, int(g.Turn[2])|int(g.Turn[1])<<8)
	}
	return out
}

func TestLowestNumberIsGrantedFirst(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 1})
	if got := turns(ask(a, 7)); !slices.Equal(got, []int{7}) {
		t.Fatalf("a free slot: %v", got)
	}
	for _, n := range []int{5, 9, 3, 8} {
		if got := ask(a, n); got != nil {
			t.Fatalf("granted %v with no slot free", got)
		}
	}
	var order []int
	for last := 7; a.Waiting() > 0; {
		got := turns(a.Return(id(last)))
		order = append(order, got...)
		last = got[0]
	}
	if !slices.Equal(order, []int{3, 5, 8, 9}) {
		t.Errorf("order %v", order)
	}
}

func TestSlotIsReturnedOnce(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 1})
	ask(a, 1)
	ask(a, 2)
	ask(a, 3)
	if got := turns(a.Return(id(1))); !slices.Equal(got, []int{2}) {
		t.Fatalf("first return: %v", got)
	}
	if got := a.Return(id(1)); got != nil {
		t.Fatalf("second return grants %v", got)
	}
	if a.Running() != 1 || a.Waiting() != 1 {
		t.Errorf("%d run, %d wait", a.Running(), a.Waiting())
	}
}

func TestWithdrawKeepsASlotThatWasGranted(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 1})
	ask(a, 1)
	ask(a, 2)
	a.Withdraw(id(1)) // crossed the grant
	a.Withdraw(id(2))
	if a.Running() != 1 || a.Waiting() != 0 {
		t.Fatalf("%d run, %d wait", a.Running(), a.Waiting())
	}
	a.Return(id(1))
	if a.Running() != 0 {
		t.Error("the slot is lost")
	}
}

func TestReturnOfAWaitingTurnTakesItOut(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 1})
	ask(a, 1)
	ask(a, 2)
	a.Return(id(2))
	if got := a.Return(id(1)); got != nil {
		t.Errorf("granted %v", got)
	}
}

func TestAskTwiceIsOnce(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 1})
	ask(a, 1)
	ask(a, 2)
	if ask(a, 1) != nil || ask(a, 2) != nil || a.Running() != 1 || a.Waiting() != 1 {
		t.Errorf("%d run, %d wait", a.Running(), a.Waiting())
	}
}

func TestWithoutRoomOneRuns(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 4})
	a.SetRoom(0)
	if got := turns(ask(a, 1)); !slices.Equal(got, []int{1}) {
		t.Fatalf("with none running: %v", got)
	}
	if got := ask(a, 2); got != nil || a.Room() {
		t.Fatalf("a second one: %v", got)
	}
	ask(a, 3)
	if got := turns(a.Return(id(1))); !slices.Equal(got, []int{2}) {
		t.Fatalf("after the first: %v", got)
	}
	if got := turns(a.SetRoom(Unbounded)); !slices.Equal(got, []int{3}) {
		t.Fatalf("with room again: %v", got)
	}
}

func TestStoppedGrantsNothing(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 2})
	ask(a, 1)
	a.Stop()
	if ask(a, 2) != nil || a.Return(id(1)) != nil || a.SetRoom(Unbounded) != nil || a.Running() != 0 || a.Waiting() != 1 {
		t.Errorf("%d run, %d wait", a.Running(), a.Waiting())
	}
}

func TestLeaveTakesEverythingOfASession(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 1, MaxWaiting: 2})
	dead, other := id(50), id(51)
	a.Ask(Entry{Session: dead, Turn: id(1), Number: 1})
	a.Ask(Entry{Session: dead, Turn: id(2), Number: 2})
	a.Ask(Entry{Session: other, Turn: id(3), Number: 3})
	if !a.Full() {
		t.Error("two wait, at most two may")
	}
	if got := turns(a.Leave(dead)); !slices.Equal(got, []int{3}) {
		t.Fatalf("granted %v", got)
	}
	if hs := a.Holders(); len(hs) != 1 || hs[0].Session != other || a.Waiting() != 0 || a.Slots() != 1 || a.Full() {
		t.Errorf("holders %v", hs)
	}
}

func TestListsAreInOrder(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 3})
	for _, n := range []int{9, 4, 6, 8, 7, 5} {
		ask(a, n)
	}
	numbers := func(es []Entry) (out []int64) {
		for _, e := range es {
			out = append(out, e.Number)
		}
		return out
	}
	if got := numbers(a.Holders()); !slices.Equal(got, []int64{4, 6, 9}) {
		t.Errorf("holders %v", got)
	}
	if got := numbers(a.Line(0)[:2]); !slices.Equal(got, []int64{5, 7}) {
		t.Errorf("line %v", got)
	}
	if got := numbers(a.Line(0)); !slices.Equal(got, []int64{5, 7, 8}) {
		t.Errorf("line %v", got)
	}
}

// TestAdmissionInAnyOrder sends Ask, Withdraw, Return, Leave and SetRoom in any
// order and repetition, against a model that keeps plain sets: nobody is granted who
// does not wait, before an older input of the same principal and agent, or past a
// bound; and no slot is free that somebody who waits may have.
func TestAdmissionInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		bound := rapid.IntRange(0, 3)
		rules := Rules{
			Slots: rapid.IntRange(1, 4).Draw(rt, "slots"), PrincipalSlots: bound.Draw(rt, "principal slots"), AgentSlots: bound.Draw(rt, "agent slots"),
			Shares: map[string]Share{"p1": {Weight: bound.Draw(rt, "weight"), Slots: bound.Draw(rt, "slots of p1")}},
			Agents: map[string]int{"a1": bound.Draw(rt, "slots of a1")},
		}
		a := NewAdmission(rules)
		entry := func(n int) Entry {
			return Entry{
				Session: id(100 + n%3), Turn: id(n), Number: int64(n),
				Principal: fmt.Sprintf("p%d", n%4/2), Agent: fmt.Sprintf("a%d", n%2),
			}
		}
		waiting, holding, room := map[int]bool{}, map[int]bool{}, true
		held := func(same func(Entry) bool) (n int) {
			for m := range holding {
				if same(entry(m)) {
					n++
				}
			}
			return n
		}
		// may reports whether the rules leave a slot for the turn.
		may := func(n int) bool {
			e := entry(n)
			most, per := a.SlotsOf(e.Principal), rules.AgentSlots
			if own := rules.Agents[e.Agent]; own > 0 {
				per = own
			}
			return held(func(o Entry) bool { return o.Principal == e.Principal }) < most &&
				(per == 0 || held(func(o Entry) bool { return o.Agent == e.Agent }) < per)
		}
		for range rapid.IntRange(1, 100).Draw(rt, "steps") {
			a.At(rapid.Int64Range(0, 1_000_000).Draw(rt, "time"))
			n := rapid.IntRange(1, 16).Draw(rt, "turn")
			var got []Grant
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0, 1, 6:
				got = a.Ask(entry(n))
				if !holding[n] {
					waiting[n] = true
				}
			case 2:
				a.Withdraw(id(n))
				delete(waiting, n)
			case 3:
				got = a.Return(id(n))
				delete(waiting, n)
				delete(holding, n)
			case 4:
				room = !room
				got = a.SetRoom(further(room))
			case 5:
				got = a.Leave(id(100 + n%3))
				for m := range 17 {
					if m%3 == n%3 {
						delete(waiting, m)
						delete(holding, m)
					}
				}
			}
			for _, m := range turns(got) {
				for w := range waiting {
					if e, o := entry(m), entry(w); w < m && e.Principal == o.Principal && e.Agent == o.Agent {
						rt.Fatalf("%d granted before %d", m, w)
					}
				}
				if !waiting[m] || holding[m] || !may(m) {
					rt.Fatalf("%d granted: waits %v, holds %v, may %v", m, waiting[m], holding[m], may(m))
				}
				delete(waiting, m)
				holding[m] = true
			}
			most := rules.Slots
			if !room {
				most = 1
			}
			if len(holding) > rules.Slots || len(got) > 0 && len(holding) > most {
				rt.Fatalf("%d hold %d slots, room %v", len(holding), rules.Slots, room)
			}
			for w := range waiting {
				if may(w) && len(holding) < most {
					rt.Fatalf("a slot is free and %d waits", w)
				}
			}
			if a.Running() != len(holding) || a.Waiting() != len(waiting) || len(a.Line(100)) != len(waiting) {
				rt.Fatalf("%d run, %d wait; want %d, %d", a.Running(), a.Waiting(), len(holding), len(waiting))
			}
		}
	})
}

// TestSessionsAndAdmission runs sessions and admission together over channels
// that delay but keep order, and holds the host's promises: never more than the
// slots, one turn a session, its turns in order, nothing lost.
func TestSessionsAndAdmission(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		const sessions = 4
		slots := rapid.IntRange(1, 3).Draw(rt, "slots")
		w := &pair{a: NewAdmission(Rules{Slots: slots}), running: map[event.ID]int{}, parked: map[event.ID]int{}}
		for i := range sessions {
			w.sessions[i] = NewSession(0)
		}
		number := 0
		for range rapid.IntRange(0, 120).Draw(rt, "steps") {
			s := rapid.IntRange(0, sessions-1).Draw(rt, "session")
			switch rapid.IntRange(0, 8).Draw(rt, "what") {
			case 5:
				w.carry(s, w.sessions[s].Hold())
			case 6:
				w.carry(s, w.sessions[s].Release())
			case 7:
				w.park(s)
			case 8:
				w.unpark(s)
			case 0:
				number++
				w.accepted = append(w.accepted, number)
				w.carry(s, w.sessions[s].Accept(id(number), int64(number)))
			case 1:
				if ts := w.sessions[s].Turns(); len(ts) > 0 {
					turn := rapid.SampledFrom(ts).Draw(rt, "dropped")
					w.ended = append(w.ended, num(turn))
					w.carry(s, w.sessions[s].Drop(turn))
				}
			case 2:
				w.finish(s)
			case 3:
				w.deliver(s)
			case 4:
				w.admit(s)
			}
			if w.bad != "" || len(w.running) > slots {
				rt.Fatalf("%s; %d of %d slots in use", w.bad, len(w.running), slots)
			}
		}
		for range 10 * (number + 1) {
			for s := range sessions {
				w.carry(s, w.sessions[s].Release())
				w.admit(s)
				w.deliver(s)
				w.unpark(s)
				w.finish(s)
			}
		}
		slices.Sort(w.ended)
		if !slices.Equal(w.ended, w.accepted) {
			rt.Fatalf("accepted %v, ended %v", w.accepted, w.ended)
		}
		if w.a.Running() != 0 || w.a.Waiting() != 0 || w.bad != "" {
			rt.Fatalf("at rest %d run, %d wait; %s", w.a.Running(), w.a.Waiting(), w.bad)
		}
	})
}

// pair is sessions and admission with a mailbox each way and session.
type pair struct {
	a        *Admission
	sessions [4]*Session
	up       [4][]SessionEffect // to admission
	down     [4][]event.ID      // grants
	running  map[event.ID]int
	parked   map[event.ID]int // they hold no slot
	started  [4]int
	accepted []int
	ended    []int
	bad      string
}

func num(turn event.ID) int { return int(turn[2]) | int(turn[1])<<8 }

func (w *pair) carry(s int, effects []SessionEffect) {
	for _, e := range effects {
		if resume, ok := e.(Resume); ok {
			if _, parked := w.parked[resume.Turn]; !parked {
				w.bad = "a turn goes on that was not parked"
			}
			delete(w.parked, resume.Turn)
			w.running[resume.Turn] = s
			continue
		}
		start, ok := e.(Start)
		if !ok {
			w.up[s] = append(w.up[s], e)
			continue
		}
		if w.sessions[s].Held() {
			w.bad = "a held session starts a turn"
		}
		for _, other := range w.parked {
			if other == s {
				w.bad = "a turn starts while another of its session is parked"
			}
		}
		for _, other := range w.running {
			if other == s {
				w.bad = "two turns of one session"
			}
		}
		if num(start.Turn) <= w.started[s] {
			w.bad = "out of order"
		}
		w.started[s] = num(start.Turn)
		w.running[start.Turn] = s
	}
}

func (w *pair) deliver(s int) {
	if len(w.down[s]) > 0 {
		turn := w.down[s][0]
		w.down[s] = w.down[s][1:]
		w.carry(s, w.sessions[s].Granted(turn))
	}
}

func (w *pair) admit(s int) {
	if len(w.up[s]) == 0 {
		return
	}
	e := w.up[s][0]
	w.up[s] = w.up[s][1:]
	var grants []Grant
	switch e := e.(type) {
	case Ask:
		grants = w.a.Ask(Entry{Session: id(s), Turn: e.Turn, Number: e.Number})
	case Withdraw:
		w.a.Withdraw(e.Turn)
	case Return:
		grants = w.a.Return(e.Turn)
	}
	for _, g := range grants {
		w.down[num(g.Session)] = append(w.down[num(g.Session)], g.Turn)
	}
}

func (w *pair) park(s int) {
	turn, ok := w.sessions[s].Running()
	if _, is := w.running[turn]; ok && is {
		delete(w.running, turn)
		w.parked[turn] = s
		w.carry(s, w.sessions[s].Park(turn))
	}
}

func (w *pair) unpark(s int) {
	if turn, ok := w.sessions[s].Running(); ok {
		w.carry(s, w.sessions[s].Unpark(turn))
	}
}

func (w *pair) finish(s int) {
	if turn, ok := w.sessions[s].Running(); ok {
		delete(w.running, turn)
		delete(w.parked, turn)
		w.ended = append(w.ended, num(turn))
		w.carry(s, w.sessions[s].Done(turn))
		w.up[s] = append(w.up[s], Return{turn})
	}
}

func BenchmarkMillionWait(b *testing.B) {
	const n = 1 << 20
	a := NewAdmission(Rules{Slots: 1})
	for i := range n {
		a.Ask(Entry{Turn: wide(i), Number: int64(i)})
	}
	last, next := wide(0), n
	b.ReportAllocs()
	for b.Loop() {
		a.Ask(Entry{Turn: wide(next), Number: int64(next)})
		last = a.Return(last)[0].Turn
		next++
	}
}

func wide(n int) event.ID { return event.ID{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 1} }

func further(room bool) int {
	if room {
		return Unbounded
	}
	return 0
}

func TestHeldAdmissionGrantsNothing(t *testing.T) {
	t.Parallel()
	a := NewAdmission(Rules{Slots: 2})
	if got := ask(a, 1); len(got) != 1 {
		t.Fatalf("%v", got)
	}
	if got := a.Hold(true); got != nil {
		t.Errorf("%v", got)
	}
	if got := ask(a, 2); got != nil || a.Running() != 1 || a.Waiting() != 1 {
		t.Errorf("%v, %d run", got, a.Running())
	}
	if got := a.Hold(false); len(got) != 1 {
		t.Errorf("%v", got)
	}
}
