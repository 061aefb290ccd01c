package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about stopping while it has nothing to do.
type (
	// passivate is the supervisor's leave to stop.
	passivate struct{}
	idleUp    struct{ gen int }
)

// restful reports whether the actor can be read back from the store as it is.
func (s *session) restful() bool {
	return s.subs == 0 && s.run == nil && !s.storing() && s.reading == 0 && s.state.AtRest() && len(s.removals) == 0
}

// unusedRest is how long a session that had no turn yet stays in memory, if the others
// may stay longer: who makes many of them for later shall not need memory for all of
// them at once, and all that its actor knows is in the store's record.
const unusedRest = 5 * time.Second

// rest arms the passivation clock when there is nothing to do. Until it strikes nothing
// is kept for readers: the last has gone, and the next comes from the store, as it does
// behind a passivation.
func (s *session) rest(c actor.Context) {
	if !s.restful() {
		return
	}
	s.ring.clear()
	after := s.host.cfg.limits.PassivateAfter
	if s.state.Session().Turns == 0 {
		after = min(after, s.host.cfg.unusedRest)
	}
	s.idle.arm(c, after, func(gen int) any { return &idleUp{gen} })
}
