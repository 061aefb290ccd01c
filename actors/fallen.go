package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// crash is what is left to do for a session that panicked: its turn is ended, who
// waits is told, and the supervisor is asked for the end. The library drops what is
// in the mailbox of an actor that stops, so it stops only once the supervisor sends
// it nothing more, like one that passivates.
func (s *session) crash(c actor.Context) {
	s.dead = true
	s.close(internalEnd())
	if s.run != nil {
		c.Stop(s.run.pid)
	}
	c.Send(s.supervisor, &crashed{s.id})
}

// fallen: the actor panicked, and what it holds is not to be trusted. What still
// comes goes back to the supervisor, for the actor that will be read from the
// store. Left by stopping.
func (s *session) fallen(c actor.Context) {
	switch m := c.Message().(type) {
	case *passivate:
		c.Stop(c.Self())
	case *post, *update, *cancelTurn, *showTurn, *forgetTurn, *postItems, *removeItem, *remove, *subscribe, *wake:
		c.Send(s.supervisor, &toSession{s.id, m})
	case *turnEvents:
		m.release(internalEnd())
	default:
		s.refused(m, event.Fail(event.ServerRestarted, "an internal error ended this request; the server's log has the cause"))
	}
}
