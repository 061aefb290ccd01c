package simulation

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/turn"
)

// Messages about what is said to a running turn.
type (
	// unsteered gives one back to the session, steering hands one to the CLI.
	unsteered struct{ turn, input event.ID }
	steering  struct{ input event.ID }
)

// steerable reports whether a turn runs, and its start is on the way to the store: a
// turn that is queued again after a crash takes no messages.
func (s *session) steerable() bool {
	if s.run == nil {
		return false
	}
	t, open := s.state.Turn(s.run.id)
	return open && t.Status != fold.Queued
}

// steer accepts messages for the running turn; false when its CLI refused one.
func (s *session) steer(g *group, m post) bool {
	if s.run.deaf {
		s.w.counts["steers refused"]++
		return false
	}
	to := s.run
	var ids []event.ID
	for range m.n {
		id := s.w.id()
		s.w.number++
		s.w.counts["steers"]++
		s.add(g, event.Event{Kind: event.InputSteered, Turn: to.id, Body: &event.Input{
			ID: id, Number: s.w.number,
			Items: []*event.Item{{ID: event.ItemID(id, 0), Type: event.Message, Status: event.Done, User: true, Text: "and well"}},
		}})
		ids = append(ids, id)
	}
	g.then = append(g.then, func(err error) {
		if err != nil {
			return
		}
		for _, id := range ids {
			s.w.judge.acknowledged(id)
			for _, in := range s.state.Steering(to.id) {
				if in.ID == id && s.run == to {
					s.w.send(s.actor, to.actor, turn.Steer{Input: id, Items: in.Items})
				}
			}
		}
		if m.thenCancel {
			s.cancel(to.id)
		}
	})
	return true
}

func (s *session) unsteered(m unsteered) {
	if s.broken || s.run == nil || s.run.id != m.turn {
		return
	}
	s.run.deaf = true
	for _, in := range s.state.Steering(m.turn) {
		if in.ID == m.input {
			s.release(s.group(), in)
			s.w.counts["steers given back"]++
		}
	}
	s.flush()
	s.requeue()
}

// release makes a turn of a message that was not taken.
func (s *session) release(g *group, in *event.Input) {
	own := *in
	own.Waiting = true
	s.add(g, event.Event{Kind: event.InputAccepted, Turn: in.ID, Body: &own})
	s.record(g, in.ID, store.TurnOpen, 0)
	s.freed = append(s.freed, in.ID)
}

func (s *session) requeue() {
	for _, id := range s.freed {
		t, open := s.state.Turn(id)
		if !open {
			continue
		}
		s.effects(s.fifo.Accept(id, t.Input.Number))
		if s.deleting {
			s.cancel(id)
		}
	}
	s.freed = nil
}

// steer is what a CLI makes of a message: it takes it, refuses it, or dies or ends
// without a word.
func (p *process) steer(m steering) {
	switch w := p.w; {
	case w.chance(6):
		w.counts["steers unanswered"]++
	case w.chance(6):
		w.send(p.actor, p.t.actor, turn.Steered{Input: m.input})
	default:
		w.judge.steered(p.t.id, m.input)
		w.send(p.actor, p.t.actor, turn.Steered{Input: m.input, Taken: true})
		p.left = max(p.left, 1) // it has something to say to this
	}
}

// steered: a CLI has a message for its turn.
func (j *judge) steered(id, input event.ID) {
	t := j.turns[input]
	switch {
	case t == nil || t.steers != id:
		j.fail("turn %s was handed message %s, which is not for it", id, input)
	case t.shown:
		j.fail("message %s was handed twice", input)
	default:
		t.shown = true
	}
}

// steer: a message is stored for a running turn, or is stored as a part of it.
func (j *judge) steer(session event.ID, g *journal, ev *event.Event) {
	in := ev.Body.(*event.Input)
	t := j.turns[in.ID]
	if !in.Taken {
		if t == nil {
			t = &turnFact{}
			j.turns[in.ID] = t
		}
		if g.state.Session().Held != nil || t.accepted || !t.steers.IsZero() {
			j.fail("message %s is accepted twice, or while a budget holds session %s", in.ID, session)
		}
		t.session, t.number, t.steers = session, in.Number, ev.Turn
		return
	}
	if t == nil || t.steers != ev.Turn || t.accepted || t.taken || !t.shown {
		j.fail("message %s is part of turn %s: %+v", in.ID, ev.Turn, t)
		return
	}
	if j.turns[ev.Turn].lastTaken > t.number {
		j.fail("message %s is part of turn %s after a later one", in.ID, ev.Turn)
	}
	t.taken, j.turns[ev.Turn].lastTaken = true, t.number
	j.w.counts["steers taken"]++
}

// left is what an ended turn was not told.
func (s *session) left(id event.ID) []*event.Input {
	left := s.state.Steering(id)
	if s.w.faults.loseSteers && len(left) > 0 {
		return slices.Clone(left[1:])
	}
	return left
}
