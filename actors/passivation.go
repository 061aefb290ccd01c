package actors

import "github.com/asynkron/protoactor-go/actor"

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

// rest arms the passivation clock when there is nothing to do.
func (s *session) rest(c actor.Context) {
	if s.restful() {
		s.idle.arm(c, s.host.cfg.limits.PassivateAfter, func(gen int) any { return &idleUp{gen} })
	}
}
