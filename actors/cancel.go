package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about one of its turns.
type (
	cancelTurn struct {
		owner string
		turn  event.ID
		reply chan answer[*fold.Turn]
	}
	// showTurn asks for a queued or running turn as it is now; nil when it has
	// ended and its end is stored.
	showTurn struct {
		owner string
		turn  event.ID
		reply chan answer[*fold.Turn]
	}
)

// cancelTarget is what a cancel of the session means: the running turn, else the
// oldest queued one. A turn that has ended and whose process lingers is neither.
func (s *session) cancelTarget() (event.ID, bool) {
	turn, running, ok := s.fifo.CancelTarget()
	if !ok || !running {
		return turn, ok
	}
	if s.state.IsOpen(turn) {
		return turn, true
	}
	if waiting := s.fifo.Turns(); len(waiting) > 0 {
		return waiting[0], true
	}
	return event.ID{}, false
}

// cancel ends a turn: the running one through its actor, a queued one at once.
func (s *session) cancel(c actor.Context, turn event.ID) {
	if s.run != nil && s.run.turn == turn {
		c.Send(s.run.pid, &cancel{})
		return
	}
	if !s.state.IsOpen(turn) {
		return
	}
	s.effects(c, s.fifo.Drop(turn))
	g := s.group(nil)
	s.settle(g, turn, &event.End{Outcome: event.Cancelled})
	s.flush(c)
}

func (s *session) stopTurn(c actor.Context, f *event.Failure) {
	if s.run != nil {
		c.Send(s.run.pid, &stop{failure: f})
	}
}

func (s *session) cancelOne(c actor.Context, m *cancelTurn) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*fold.Turn]{err: err}
		return
	}
	s.cancel(c, m.turn)
	s.tell(c, m.turn, m.reply)
}

func (s *session) show(c actor.Context, m *showTurn) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*fold.Turn]{err: err}
		return
	}
	s.tell(c, m.turn, m.reply)
}

// tell answers with an open turn, and with nil for one that has ended, once its
// end is in the store for the asker to read.
func (s *session) tell(c actor.Context, turn event.ID, reply chan answer[*fold.Turn]) {
	if t, open := s.state.Turn(turn); open {
		reply <- answer[*fold.Turn]{value: t}
		return
	}
	g := s.group(nil)
	g.then = append(g.then, func(_ actor.Context, err error) { reply <- answer[*fold.Turn]{err: err} })
	s.flush(c)
}
