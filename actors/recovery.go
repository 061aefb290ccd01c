package actors

import (
	"context"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about being read from the store.
type (
	loaded struct {
		rec   *store.Session
		state *fold.State
		err   error
	}
	// wake only makes sure that the actor is there, so that it recovers.
	wake    struct{}
	retryUp struct{ gen int }
)

// load reads the session in a goroutine that ends by sending loaded.
func (s *session) load(c actor.Context) {
	self, host, id, fence := c.Self(), s.host, s.id, s.fence
	host.work.Go(func() {
		m := &loaded{}
		m.rec, m.state, m.err = host.loadSession(context.Background(), id, fence)
		host.root.Send(self, m)
	})
}

// arrive takes the loaded session in and settles what a former owner left.
func (s *session) arrive(c actor.Context, m *loaded) {
	switch {
	case event.CodeOf(m.err) == event.NotFound, m.err == nil && m.rec.State == store.Deleted:
		s.behavior.Become(s.missing)
		s.refuseWaiting(s.notFound())
		c.Send(s.supervisor, &restful{s.id})
		return
	case m.err != nil:
		s.break_(c, m.err)
		s.refuseWaiting(s.failure)
		return
	}
	s.state, s.owner, s.epoch = m.state, s.host.id, m.rec.Epoch
	s.ring = newRing(m.state.Session().Head, s.host.cfg.limits.RingBytes)
	s.behavior.Become(s.serving)
	s.recover(c, m.rec)
	s.failure, s.fence = nil, false
	held := s.waiting
	s.waiting = nil
	self := c.Self()
	for _, msg := range held {
		c.Send(self, msg)
	}
	s.rest(c)
}

// recover settles the turns that ran when the former owner went, and queues the
// others again in the order they were accepted.
func (s *session) recover(c actor.Context, rec *store.Session) {
	f := event.Fail(event.ServerRestarted, "the server was restarted while this turn ran; the turn was not run again")
	switch {
	case rec.Host != s.host.id:
	case s.failure != nil:
		f = event.Fail(event.StorageFailed, "the store refused to keep this turn's events, so the turn was ended; the server's log has the cause")
	default:
		f = internalEnd()
	}
	g := s.group(nil)
	if s.state.Session().Held != nil {
		s.effects(c, s.fifo.Hold())
	}
	if rec.Uncertain {
		s.skip(g, rec.Reserved)
	}
	for _, t := range s.state.OpenTurns() {
		if t.Status != fold.Queued {
			s.settle(g, t.ID, &event.End{Outcome: event.Failed, Failure: f})
			s.requeue(c)
			continue
		}
		s.effects(c, s.fifo.Accept(t.ID, t.Input.Number))
	}
	s.weigh(g)
	s.flush(c)
}

// skip uses up the numbers of the events that a crash of the machine may have
// taken: readers have seen some of them.
func (s *session) skip(g *group, reserved int64) {
	s.skipped = reserved
	s.add(g, event.Event{Kind: event.Skipped, Seq: reserved})
	g.durable, g.body = true, true
}

// internalEnd is the failure of a turn whose actor, or whose session's, panicked.
func internalEnd() *event.Failure {
	return event.Fail(event.ServerRestarted, "an internal error ended this turn; the server's log has the cause")
}

// A store that refuses is asked again after a moment, and less and less often.
const (
	retryAfter = time.Second
	maxPause   = 5 * time.Second
)

// break_ leaves the store alone for a moment and ends what runs.
func (s *session) break_(c actor.Context, err error) {
	s.host.log.Error("session cannot be stored", "session", s.id, "error", err)
	s.failure = storeFailure(err)
	s.ring.close(s.failure)
	s.asksNothing(c)
	s.effects(c, s.fifo.Close())
	f, _ := event.AsFailure(s.failure)
	s.stopTurn(c, f)
	s.behavior.Become(s.broken)
	s.answerRemovals(s.failure)
	s.answerForgets(s.failure)
	s.answerAmendments(s.failure)
	s.retryDue = false
	s.retry.arm(c, s.pause, func(gen int) any { return &retryUp{gen} })
	s.pause = min(2*s.pause, maxPause)
}

// reload reads a broken session again once the pause is over and nothing of it
// runs.
func (s *session) reload(c actor.Context) {
	if !s.retryDue || s.run != nil {
		return
	}
	s.reset()
	s.behavior.Become(s.loading)
	s.load(c)
}
