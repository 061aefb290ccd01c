package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

// judge sees what the world outside sees: acknowledgements, commits that
// landed, processes; and says which promise was broken first.
type judge struct {
	w       *world
	verdict error

	trace    uint64 // of everything stored, to compare runs
	turns    map[event.ID]*turnFact
	journals map[event.ID]*journal
	alive    map[event.ID]event.ID // session -> turn of its process
	passed   map[event.ID]int      // turns in the line -> grants to others
}

type turnFact struct {
	session               event.ID
	number, ordinal       int64
	acked, started, ended bool
	outcome               event.Outcome
	// answered are the calls whose answer is stored, told those whose caller knows,
	// delivered those whose CLI knows.
	answered, told, delivered map[event.ID]bool
	waiting                   bool
	spawned                   int
	// A message: the turn that it was for, whether that turn's CLI has it, whether it
	// is part of the turn, and whether it is a turn. Of a turn: the number of the
	// newest that is part of it.
	steers                 event.ID
	shown, taken, accepted bool
	lastTaken              int64
}

// journal is what landed of a session.
type journal struct {
	head    int64
	order   []event.ID
	started int64    // number of the turn started last
	running event.ID // started and not ended
	state   *fold.State
}

func newJudge(w *world) *judge {
	return &judge{
		w: w, turns: map[event.ID]*turnFact{}, journals: map[event.ID]*journal{},
		alive: map[event.ID]event.ID{}, passed: map[event.ID]int{},
	}
}

func (j *judge) fail(format string, args ...any) {
	if j.verdict == nil {
		j.verdict = fmt.Errorf("%s: %s", j.w, fmt.Sprintf(format, args...))
	}
}

// acknowledged: a caller was told that the turn is accepted.
func (j *judge) acknowledged(id event.ID) {
	t := j.turns[id]
	if t == nil {
		t = &turnFact{}
		j.turns[id] = t
	}
	t.acked = true
}

// stored: these events are in the store.
func (j *judge) stored(session event.ID, events []event.Event) {
	g := j.journals[session]
	if g == nil {
		g = &journal{state: fold.New()}
		j.journals[session] = g
	}
	for i := range events {
		ev := &events[i]
		if ev.Seq != g.head+1 {
			j.fail("session %s: event %d after %d", session, ev.Seq, g.head)
			return
		}
		g.head = ev.Seq
		j.trace = (j.trace ^ uint64(ev.Kind)<<32 ^ uint64(ev.Seq) ^ uint64(ev.At)<<16) * 1099511628211
		if _, err := g.state.Apply(ev); err != nil {
			j.fail("session %s: %v", session, err)
		}
		if !ev.Turn.IsZero() {
			j.event(session, g, ev)
		}
	}
}

func (j *judge) event(session event.ID, g *journal, ev *event.Event) {
	t := j.turns[ev.Turn]
	if ev.Kind == event.InputAccepted {
		if t == nil {
			t = &turnFact{}
			j.turns[ev.Turn] = t
		}
		if g.state.Session().Held != nil {
			j.fail("turn %s is accepted while a budget holds session %s", ev.Turn, session)
		}
		if t.taken || t.accepted {
			j.fail("turn %s is accepted and was: part of a turn %v, a turn %v", ev.Turn, t.taken, t.accepted)
		}
		g.order = append(g.order, ev.Turn)
		now, _ := g.state.Turn(ev.Turn)
		t.session, t.number, t.ordinal, t.accepted = session, ev.Body.(*event.Input).Number, now.Ordinal, true
		return
	}
	if ev.Kind == event.InputSteered {
		j.steer(session, g, ev)
	}
	switch {
	case t == nil || t.session != session:
		j.fail("%s of turn %s, which was not accepted", ev.Kind, ev.Turn)
	case t.ended:
		j.fail("%s of turn %s after its end", ev.Kind, ev.Turn)
	case ev.Kind == event.TurnStarted:
		switch {
		case g.state.Session().Held != nil:
			j.fail("turn %s started while a budget holds session %s", ev.Turn, session)
		case t.started:
			j.fail("turn %s started twice", ev.Turn)
		case !g.running.IsZero():
			j.fail("turn %s started while %s runs", ev.Turn, g.running)
		case t.number <= g.started:
			j.fail("turn %d of session %s started after turn %d", t.number, session, g.started)
		}
		t.started, g.started, g.running = true, t.number, ev.Turn
	case ev.Kind == event.TurnWaiting, ev.Kind == event.LegStarted:
		if t.waiting == (ev.Kind == event.TurnWaiting) {
			j.fail("%s of turn %s, which waits: %v", ev.Kind, ev.Turn, t.waiting)
		}
		t.waiting = !t.waiting
	case ev.Kind == event.CallAnswered:
		call := ev.Body.(*event.Item).Call
		if !t.waiting || t.answered[call] {
			j.fail("call %s of turn %s is answered twice, or does not wait", call, ev.Turn)
		}
		mark(&t.answered, call)
	case ev.Kind == event.TurnEnded:
		t.ended, t.outcome = true, ev.Body.(*event.End).Outcome
		if t.outcome == event.Completed && t.spawned != 1 {
			j.fail("turn %s completed with %d processes", ev.Turn, t.spawned)
		}
		if g.running == ev.Turn {
			g.running = event.ID{}
		}
	case !t.started:
		j.fail("%s of turn %s before its start", ev.Kind, ev.Turn)
	}
}

// granted: admission gave a turn a slot.
func (j *judge) granted() {
	if n := j.w.admit.Running(); n > slots {
		j.fail("%d slots are held", n)
	}
}

// running: the session started the turn.
func (j *judge) running(session, id event.ID) {
	j.slots()
	if t := j.turns[id]; t == nil || t.ended {
		s := j.w.sessions[session]
		if now, open := s.state.Turn(id); open && !now.Input.ID.IsZero() {
			return // made of a message, with a commit that is on its way
		}
		j.fail("turn %s is run: %+v", id, t)
	}
}

// spawned: a CLI runs for the turn.
func (j *judge) spawned(session, id event.ID) {
	t := j.turns[id]
	if t == nil {
		j.fail("turn %s has a process and was not accepted", id)
		return
	}
	if t.spawned++; t.spawned > 1 {
		j.fail("turn %s runs for the second time", id)
	}
	if other, ok := j.alive[session]; ok {
		j.fail("turn %s has a process while that of %s is there", id, other)
	}
	j.alive[session] = id
	j.slots()
}

// slots: a turn and its process go on in a slot, or wait without one; only so many
// may.
func (j *judge) slots() {
	running, processes, parked := 0, 0, 0
	for _, t := range j.w.turns {
		if !t.parked {
			running++
		} else {
			parked++
		}
	}
	for _, p := range j.w.procs {
		if !p.t.parked {
			processes++
		}
	}
	if running > slots || processes > slots || parked > maxParked {
		j.fail("%d turns and %d processes on %d slots, %d wait without one", running, processes, slots, parked)
	}
	for _, e := range j.w.admit.Holders() {
		for _, t := range j.w.turns {
			if t.id == e.Turn && t.parked && !j.w.onItsWay(e.Turn) {
				j.fail("turn %s waits and holds a slot", t.id)
			}
		}
	}
}

// told: the caller was told that its answers are taken.
func (j *judge) told(id event.ID, calls []event.ID) {
	t := j.turns[id]
	for _, call := range calls {
		mark(&t.told, call)
	}
}

// delivered: the CLI was told the answer to a call.
func (j *judge) delivered(id, call event.ID) {
	t := j.turns[id]
	if t == nil || t.delivered[call] {
		j.fail("the answer to call %s of turn %s is delivered twice", call, id)
		return
	}
	mark(&t.delivered, call)
}

func mark(m *map[event.ID]bool, id event.ID) {
	if *m == nil {
		*m = map[event.ID]bool{}
	}
	(*m)[id] = true
}

// kept: what a caller was told is in the journal.
func (j *judge) kept() {
	for id, t := range j.turns {
		for call := range t.told {
			if !t.answered[call] {
				j.fail("the answer to call %s of turn %s was acknowledged and is lost", call, id)
			}
		}
	}
}

func (j *judge) died(session event.ID) { delete(j.alive, session) }

// read folds a session's journal as the store has it, from the newest
// checkpoint or from the start.
func (j *judge) read(session event.ID, head int64, checkpoint bool) *fold.State {
	ctx := context.Background()
	state, from := fold.New(), int64(1)
	if checkpoint {
		cp, err := j.w.store.CheckpointBefore(ctx, session, head)
		j.w.must(err)
		if cp.Seq > 0 {
			if state, err = fold.Restore(cp.Body); err != nil {
				j.fail("%v", err)
				return fold.New()
			}
			from = cp.Seq + 1
		}
	}
	for from <= head {
		events, err := j.w.store.Read(ctx, session, from, head, 1<<20)
		if err != nil || len(events) == 0 {
			j.fail("read of session %s from %d to %d: %d events, %v", session, from, head, len(events), err)
			return state
		}
		for i := range events {
			if _, err := state.Apply(&events[i]); err != nil {
				j.fail("session %s: %v", session, err)
				return state
			}
		}
		from = events[len(events)-1].Seq + 1
	}
	return state
}

// same compares two folds by what readers can see of them.
func (j *judge) same(what string, session event.ID, a, b *fold.State) {
	see := func(s *fold.State) string {
		ses := s.Session()
		raw, err := json.Marshal(struct {
			Session fold.Session
			Open    []*fold.Turn
		}{ses, s.OpenTurns()})
		j.w.must(err)
		for _, t := range s.OpenTurns() {
			items, err := json.Marshal(t.Items)
			j.w.must(err)
			raw = append(raw, items...)
		}
		return string(raw)
	}
	if x, y := see(a), see(b); x != y {
		j.fail("%s of session %s differs:\n%s\n%s", what, session, x, y)
	}
}

// restarted compares the store with what was known before the server went.
func (j *judge) restarted() {
	clear(j.alive)
	j.kept()
	ctx := context.Background()
	for id, g := range j.journals {
		rec, err := j.w.store.Session(ctx, "", id)
		if err != nil {
			j.fail("session %s is lost: %v", id, err)
			continue
		}
		if rec.Head != g.head {
			j.fail("session %s has %d events, %d were stored", id, rec.Head, g.head)
			continue
		}
		if g.head%4 == 0 { // some of them
			j.same("journal", id, g.state, j.read(id, rec.Head, false))
			j.same("checkpoint", id, g.state, j.read(id, rec.Head, true))
		}
	}
	for id, t := range j.turns {
		if t.acked && t.session.IsZero() {
			j.fail("turn %s was acknowledged and is lost", id)
		}
	}
}

// erased: the session is being removed.
func (j *judge) erased(session event.ID) {
	if turn, ok := j.alive[session]; ok {
		j.fail("session %s is removed while turn %s has a process", session, turn)
	}
	g := j.journals[session]
	for _, id := range g.order {
		if !j.turns[id].ended {
			j.fail("session %s is removed while turn %s has not ended", session, id)
		}
		delete(j.turns, id)
	}
	delete(j.journals, session)
}

// quiet: nothing is to do any more, so nothing may be left.
func (j *judge) quiet() {
	if j.verdict != nil {
		return
	}
	j.kept()
	if j.w.parked != 0 {
		j.fail("at rest %d turns wait", j.w.parked)
	}
	for id, t := range j.turns {
		switch {
		case t.session.IsZero() && t.acked:
			j.fail("turn %s was acknowledged and is lost", id)
		case t.taken: // it is no turn
		case !t.session.IsZero() && !t.ended:
			j.fail("turn %s (number %d) is stuck: started %v", id, t.number, t.started)
		case t.ended && t.spawned == 0 && t.outcome == event.Completed:
			j.fail("turn %s completed without a process", id)
		}
	}
	if n := j.w.admit.Running() + j.w.admit.Waiting() + len(j.w.procs) + len(j.w.turns); n > 0 && !j.w.draining {
		j.fail("at rest %d run, %d wait, %d processes, %d turns",
			j.w.admit.Running(), j.w.admit.Waiting(), len(j.w.procs), len(j.w.turns))
	}
	for id, g := range j.journals {
		if s := j.w.sessions[id]; s != nil {
			j.same("live fold", id, g.state, s.state)
			if !s.fifo.Idle() {
				j.fail("session %s has %d waiting at rest", id, s.fifo.Waiting())
			}
		}
		events, err := j.w.store.Read(context.Background(), id, 1, math.MaxInt64, 1)
		if err != nil || len(events) == 0 {
			j.fail("session %s cannot be read: %v", id, err)
		}
		j.same("journal", id, g.state, j.read(id, g.head, false))
		j.same("checkpoint", id, g.state, j.read(id, g.head, true))
	}
}
