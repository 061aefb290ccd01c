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

// shortRest is how long a session stays in memory that had no turn yet, or that is one of
// more than crowd, if the others may stay longer: who makes many of them shall not need
// memory for all of them at once. All that the actor of an unused one knows is in the
// store's record; another one's turns are read back from there.
const (
	shortRest = 5 * time.Second
	crowd     = 1000
)

// rest arms the passivation clock when there is nothing to do. Until it strikes nothing
// is kept for readers: the last has gone, and the next comes from the store, as it does
// behind a passivation.
func (s *session) rest(c actor.Context) {
	if !s.restful() {
		return
	}
	s.ring.clear()
	after := s.host.cfg.limits.PassivateAfter
	if s.state.Session().Turns == 0 || s.host.stats.active.Load() > s.host.cfg.crowd {
		after = min(after, s.host.cfg.shortRest)
	}
	s.idle.arm(c, after, func(gen int) any { return &idleUp{gen} })
}
