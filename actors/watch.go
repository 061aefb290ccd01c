package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/asynkron/protoactor-go/actor"
)

// A session that is in progress has a turn that lives, or one that waits in the line:
// else it would be in progress for ever. Nothing should ever break that, so it is
// looked at.
type (
	// inspect asks a session whether it is in order. Reply: *inspected.
	inspect struct{ round *inspection }
	// inspected names a turn that is open, and what should bring it on: an actor, or,
	// with line, its place in the line. Both are false when nothing will.
	inspected struct {
		session, turn event.ID
		line, stuck   bool
		round         *inspection
	}
	// inspection is a look at sessions: at some, or with all set at every one, and
	// then reply tells how many are stuck.
	inspection struct {
		all         bool
		left, stuck int
		reply       chan answer[int]
	}
)

// inspectEach is how many sessions one look of the watchdog takes in.
const inspectEach = 64

// inspect asks sessions how they are: the ones that looked bad the last time, and
// others as the map gives them, which is at random.
func (s *supervisor) inspect(c actor.Context, m *inspection) {
	m.left = 1 // this look itself
	for id := range s.suspects {
		if r := s.sessions[id]; r != nil && !r.resting && !m.all {
			m.left++
			c.Send(r.pid, &inspect{m})
		}
	}
	n := 0
	for _, r := range s.sessions {
		if r.resting {
			continue
		}
		if n++; n > inspectEach && !m.all {
			break
		}
		m.left++
		c.Send(r.pid, &inspect{m})
	}
	s.looked(m)
}

func (s *supervisor) looked(m *inspection) {
	if m.left--; m.left == 0 && m.reply != nil {
		m.reply <- answer[int]{value: m.stuck}
	}
}

// inspected judges what a session says. What it sent before is here already, so what
// it asked for admission must know of. It has to look bad twice.
func (s *supervisor) inspected(m *inspected) {
	defer s.looked(m.round)
	if !m.stuck && (!m.line || s.admit.Has(m.turn)) {
		delete(s.suspects, m.session)
		return
	}
	m.round.stuck++
	switch was := s.suspects[m.session]; {
	case was == nil || was.turn != m.turn:
		s.suspects[m.session] = &suspect{turn: m.turn, round: m.round}
	case was.round != m.round && !was.told:
		was.told = true
		s.host.stats.stuck.Add(1)
		s.host.log.Error("a session is in progress and nothing brings its turn on; this is a fault of the host: report it, and cancel the turn or restart to go on",
			"session", m.session, "turn", m.turn, "in_line", m.line)
	}
}

// suspect is a session that looked bad.
type suspect struct {
	turn  event.ID
	round *inspection
	told  bool
}

// inspected is the session's own word on its oldest open turn.
func (s *session) inspected() (turn event.ID, line, stuck bool) {
	if s.failure != nil || s.storing() || s.staged > 0 || s.run != nil && !s.run.parked {
		return turn, false, false // something is on its way, or its turn lives
	}
	open := s.state.OpenTurns()
	if len(open) == 0 || s.halted || s.quiescing || s.fifo.Held() {
		return turn, false, false
	}
	turn = open[0].ID
	if s.run != nil {
		// It waits for its caller, or for the slot in which it goes on.
		return turn, s.fifo.Asked() == turn, false
	}
	return turn, s.fifo.Asked() == turn, s.fifo.Asked() != turn || open[0].Status != fold.Queued
}
