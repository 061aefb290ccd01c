package simulation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/turn"
)

var errRefused = errors.New("the disk is full")

// Messages of a session.
type (
	post struct {
		n          int // inputs, all or nothing
		thenCancel bool
		steer      bool // they are for the running turn, if there is one
	}
	cancel     struct{}
	remove     struct{}
	granted    struct{ turn event.ID }
	turnEvents struct {
		turn   event.ID
		events []event.Event
		// start says that they have the TurnStarted; the turn waits for its commit.
		start *turnActor
		// answered are the calls that these events answer; their caller waits too.
		answered []event.ID
	}
	park      struct{ turn event.ID }
	unpark    struct{ turn event.ID }
	finished  struct{ turn event.ID }
	committed struct{ err error }
	reload    struct{}
)

// session is the model of a session actor.
type session struct {
	w     *world
	id    event.ID
	actor int

	state *fold.State
	fifo  *queue.Session
	host  event.ID
	epoch int64

	flight *group
	next   []*group
	staged int
	freed  []event.ID // turns made of messages for another, not in the fifo yet

	run      *turnActor
	broken   bool
	deleting bool
}

// group is one commit's content; while one is in flight the next gathers.
type group struct {
	head   int64
	events []event.Event
	turns  []store.Turn
	create *store.NewSession
	then   []func(error)
}

func (w *world) newSession(id event.ID) *session {
	s := &session{w: w, id: id}
	s.actor = w.spawn(s.receive)
	w.sessions[id] = s
	s.reset()
	return s
}

func (s *session) reset() {
	s.state, s.fifo = fold.New(), queue.NewSession(maxQueue)
	s.flight, s.next, s.staged, s.broken, s.freed = nil, nil, 0, false, nil
}

// open creates a session, sometimes with its first input.
func (w *world) open() {
	s := w.newSession(w.id())
	s.host, s.epoch = w.host, 1
	owner := owners[w.rng.IntN(len(owners))]
	set := &spec.Session{ID: s.id, Owner: owner, Created: w.now, Agent: spec.Agent{Adapter: "sim"}}
	if w.chance(2) {
		set.Agent.Limits.SessionTokens = int64(1 + w.rng.IntN(40))
	}
	raw := w.settings(set)
	g := s.group()
	g.create = &store.NewSession{Owner: owner, Created: w.now}
	s.add(g, event.Event{Kind: event.SessionCreated, Body: &event.Settings{JSON: raw}})
	g.then = append(g.then, func(err error) {
		if err == nil {
			w.known = append(w.known, s.id)
		}
	})
	if w.chance(2) {
		s.post(post{n: 1})
	}
	s.flush()
}

// session is the actor of a session, read from the store if need be.
func (w *world) session(id event.ID) *session {
	if s := w.sessions[id]; s != nil {
		return s
	}
	s := w.newSession(id)
	s.load(event.ServerRestarted)
	return s
}

// load reads the session back and settles what a former owner left running.
func (s *session) load(lost event.Code) {
	rec, err := s.w.store.Session(context.Background(), "", s.id)
	s.w.must(err)
	if err == nil && rec.Host != s.w.host {
		rec, err = s.w.store.Claim(context.Background(), s.id, s.w.host)
		s.w.must(err)
	}
	if err != nil {
		return
	}
	s.host, s.epoch = rec.Host, rec.Epoch
	s.state = s.w.judge.read(s.id, rec.Head, true)
	if s.state.Session().Held != nil && !s.w.faults.heldStarts {
		s.effects(s.fifo.Hold())
	}
	g := s.group()
	var queued []*fold.Turn
	for _, t := range s.state.OpenTurns() {
		if t.Status != fold.Queued && !s.w.faults.rerunStarted {
			s.settle(g, t, &event.End{Outcome: event.Failed, Failure: event.Fail(lost, "lost")})
			continue
		}
		queued = append(queued, t)
	}
	s.requeue()
	for _, t := range queued {
		if number := t.Input.Number; s.w.faults.reorder {
			s.effects(s.fifo.Accept(t.ID, -number))
		} else {
			s.effects(s.fifo.Accept(t.ID, number))
		}
	}
	s.flush()
}

func (s *session) receive(m any) {
	switch m := m.(type) {
	case post:
		s.post(m)
		s.flush()
	case raise:
		s.raise(m)
	case unsteered:
		s.unsteered(m)
	case cancel:
		if t, _, ok := s.fifo.CancelTarget(); ok {
			s.w.counts["cancels"]++
			s.cancel(t)
		}
	case remove:
		s.deleting = true
		for _, t := range s.state.OpenTurns() {
			s.cancel(t.ID)
		}
		s.erase()
	case granted:
		s.effects(s.fifo.Granted(m.turn))
	case turnEvents:
		s.took(m)
	case answers:
		s.answer(m)
	case park:
		s.park(m.turn)
	case unpark:
		s.unpark(m.turn)
	case finished:
		s.finished(m.turn)
	case committed:
		s.landed(m.err)
	case reload:
		if s.broken && s.run == nil {
			s.reset()
			s.load(event.StorageFailed)
		} else if s.broken {
			s.retry()
		}
	default:
		s.w.judge.fail("session got %T", m)
	}
}

func (s *session) post(m post) {
	if s.broken || s.deleting || s.fifo.Full(m.n+s.staged) || s.budgets().Reached(budget.Amount{}) != nil {
		s.w.counts["posts refused"]++
		return
	}
	g := s.group()
	if m.steer && s.steerable() && s.steer(g, m) {
		return
	}
	var ids []event.ID
	for range m.n {
		id := s.w.id()
		s.w.number++
		s.w.counts["posted"]++
		s.add(g, event.Event{Kind: event.InputAccepted, Turn: id, Body: &event.Input{
			Number: s.w.number, WasIdle: s.state.AtRest(),
			Items: []*event.Item{{ID: event.ItemID(id, 0), Type: event.Message, Status: event.Done, User: true, Text: "go on"}},
		}})
		s.record(g, id, store.TurnOpen, 0)
		s.staged++
		if s.w.faults.ackEarly {
			s.w.judge.acknowledged(id)
		}
		ids = append(ids, id)
	}
	g.then = append(g.then, func(err error) {
		if err != nil {
			return
		}
		for _, id := range ids {
			s.w.judge.acknowledged(id)
			s.staged--
			if t, open := s.state.Turn(id); open {
				s.effects(s.fifo.Accept(id, t.Input.Number))
			}
		}
		if s.run != nil {
			s.w.send(s.actor, s.run.actor, turn.Hurry{})
		}
		if m.thenCancel {
			s.cancel(ids[0])
		}
	})
}

func (s *session) effects(effects []queue.SessionEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case queue.Ask:
			s.w.send(s.actor, supervisor, s.entry(e))
		case queue.Withdraw, queue.Return:
			s.w.send(s.actor, supervisor, e)
		case queue.Start:
			if s.run != nil && !s.w.faults.doneEarly {
				s.w.judge.fail("session starts a turn while one is there")
			}
			s.run = s.w.newTurn(s, e.Turn)
		case queue.Resume:
			s.resume(e.Turn)
		}
	}
}

// cancel ends a turn: the running one through its actor, a queued one at once.
func (s *session) cancel(id event.ID) {
	if s.run != nil && s.run.id == id {
		s.w.send(s.actor, s.run.actor, turn.Cancel{})
		return
	}
	t, open := s.state.Turn(id)
	if !open || s.broken {
		return
	}
	s.effects(s.fifo.Drop(id))
	s.settle(s.group(), t, &event.End{Outcome: event.Cancelled})
	s.flush()
}

// took folds what the running turn did.
func (s *session) took(m turnEvents) {
	_, open := s.state.Turn(m.turn)
	if s.broken || !open && !s.w.faults.lateEvents {
		if m.start != nil {
			s.w.send(s.actor, m.start.actor, startStored{errRefused})
		}
		return
	}
	g := s.group()
	for _, ev := range m.events {
		if ev.Kind != event.TurnEnded {
			if in, ok := ev.Body.(*event.Input); ok && s.w.faults.steerAlways {
				for _, one := range s.state.Steering(m.turn) {
					if one.ID == in.ID {
						s.release(g, one)
					}
				}
			}
			s.add(g, ev)
		} else {
			s.ended(g, ev)
			s.record(g, m.turn, store.TurnEnded, s.state.Session().Head)
			if s.w.faults.doneEarly {
				defer func() { s.effects(s.fifo.Done(m.turn)) }()
			}
		}
	}
	if len(m.answered) > 0 {
		g.then = append(g.then, func(err error) {
			if err == nil {
				s.w.judge.told(m.turn, m.answered)
			}
		})
	}
	if t := m.start; t != nil {
		g.then = append(g.then, func(err error) { s.w.send(s.actor, t.actor, startStored{err}) })
	}
	s.flush()
	s.requeue()
}

// settle ends a turn that has no actor.
func (s *session) settle(g *group, t *fold.Turn, end *event.End) {
	for _, it := range t.Items {
		if it.Status == event.InProgress {
			cut := *it
			cut.Status = event.Incomplete
			s.add(g, event.Event{Kind: event.ItemDone, Turn: t.ID, Item: it.ID, Body: &cut})
		}
	}
	s.ended(g, event.Event{Kind: event.TurnEnded, Turn: t.ID, Body: end})
	s.record(g, t.ID, store.TurnEnded, s.state.Session().Head)
}

// finished: the turn's process is gone. The next turn asks before the slot is
// returned, so that it is in the line when the slot is granted.
func (s *session) finished(id event.ID) {
	s.w.turns = slices.DeleteFunc(s.w.turns, func(t *turnActor) bool { return t.id == id })
	if s.run != nil && s.run.id == id {
		s.run.unpark()
		s.run = nil
	}
	s.effects(s.fifo.Done(id))
	s.w.send(s.actor, supervisor, queue.Return{Turn: id})
	s.erase()
}

func (s *session) group() *group {
	if n := len(s.next); n > 0 {
		return s.next[n-1]
	}
	g := &group{head: s.state.Session().Head}
	s.next = append(s.next, g)
	return g
}

func (s *session) add(g *group, ev event.Event) {
	ev.At = s.w.now
	s.state.Stamp(&ev)
	if _, err := s.state.Apply(&ev); err != nil {
		s.w.judge.fail("live fold: %v", err)
	}
	g.events = append(g.events, ev)
}

func (s *session) record(g *group, id event.ID, st store.TurnState, last int64) {
	row := store.Turn{ID: id, Session: s.id, State: st, Last: last}
	if t, open := s.state.Turn(id); open {
		row.Ordinal, row.First, row.Number = t.Ordinal, t.First, t.Input.Number
	} else {
		fact := s.w.judge.turns[id]
		if fact == nil || !fact.accepted {
			return // accepted in this very group, which is enough here
		}
		row.Ordinal, row.Number = fact.ordinal, fact.number
	}
	g.turns = append(g.turns, row)
}

func (s *session) flush() {
	if s.flight != nil || s.broken || len(s.next) == 0 {
		return
	}
	g := s.next[0]
	s.next = nil
	if len(g.events) == 0 {
		return
	}
	s.flight = g
	st := store.Active
	com := &store.Commit{
		Session: s.id, Host: s.host, Epoch: s.epoch, Head: g.head, Events: g.events, Create: g.create,
		State: &st, Turns: g.turns,
	}
	if s.state.AtRest() {
		st = store.Idle
		if s.w.chance(3) {
			cp, err := s.state.Checkpoint()
			s.w.must(err)
			com.Checkpoint = cp
		}
	}
	com.Done = func(err error) {
		if err != nil && !errors.Is(err, errRefused) {
			s.w.judge.fail("commit of session %s: %v", s.id, err)
		}
		if err == nil {
			s.w.judge.stored(s.id, g.events)
		}
		s.w.send(storage, s.actor, committed{err})
	}
	s.w.store.Commit(com)
}

// landed publishes a group: from here on callers know of it.
func (s *session) landed(err error) {
	g := s.flight
	s.flight = nil
	if err != nil {
		s.lost(g, err)
		return
	}
	for _, f := range g.then {
		f(nil)
	}
	s.flush()
	s.erase()
}

// lost: the fold is ahead of the store. What runs is ended, then the session is
// read again.
func (s *session) lost(g *group, err error) {
	for _, g := range append([]*group{g}, s.next...) {
		for _, f := range g.then {
			f(err)
		}
	}
	s.next = nil
	s.broken = true
	s.effects(s.fifo.Close())
	if g.create != nil {
		delete(s.w.sessions, s.id)
		delete(s.w.inbox, s.actor)
		return
	}
	if s.run != nil {
		s.w.send(s.actor, s.run.actor, turn.Stop{Failure: event.Fail(event.StorageFailed, "the disk is full")})
	}
	s.retry()
}

func (s *session) retry() {
	s.w.after(time.Second, func() { s.w.send(clock, s.actor, reload{}) })
}

// erase removes a session that is to go once nothing runs and all is stored.
func (s *session) erase() {
	if !s.deleting || s.broken || s.run != nil || s.flight != nil || len(s.next) > 0 || !s.state.AtRest() {
		return
	}
	s.w.judge.erased(s.id)
	s.w.must(s.w.store.Remove(context.Background(), s.id))
	s.w.known = slices.DeleteFunc(s.w.known, func(id event.ID) bool { return id == s.id })
	delete(s.w.sessions, s.id)
	delete(s.w.inbox, s.actor)
	s.w.send(s.actor, supervisor, left{s.id})
}

func (s *session) restful() bool {
	return s.run == nil && s.flight == nil && len(s.next) == 0 && !s.broken && !s.deleting && s.state.AtRest()
}
