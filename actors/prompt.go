package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// lined says that a turn whose session asked promptly has to wait for a slot.
type lined struct{ turn event.ID }

// prompt starts an accepted input before it is stored, if nothing is in its way: its
// acceptance and its start are then stored by one commit. Nothing is acknowledged,
// published or spawned before that. If it cannot start at once the acceptance is
// stored alone: any message but the slot lets it go.
func (s *session) prompt(c actor.Context, g *group, turn event.ID) bool {
	if s.run != nil || s.flight != nil || len(s.next) != 1 || s.next[0] != g || s.staged != 1 || s.fifo.Waiting() > 0 || s.halted || s.quiescing ||
		s.host.stats.full(s.host.cfg.limits.MaxConcurrentTurns) {
		return false
	}
	s.hasty = turn
	s.enqueue(c, turn)
	if s.fifo.Asked() != turn { // held at a budget
		s.hasty = event.ID{}
	}
	return true
}

// calm lets go what waits for the start of a turn, unless m is what it waits for.
// before is the turn that it waited for when m came.
func (s *session) calm(c actor.Context, m any, before event.ID) {
	if s.hasty.IsZero() || s.hasty != before {
		return // m began it
	}
	if _, over := m.(*actor.Stopping); over {
		return // who waits was told
	}
	if _, slot := m.(*granted); slot && s.run != nil && s.run.turn == s.hasty {
		return // what the turn does first, or that its actor is gone, comes next
	}
	s.hasty = event.ID{}
	s.flush(c)
}
