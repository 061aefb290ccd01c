package actors

import (
	"context"
	"io"

	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about its end.
type (
	remove struct {
		owner string
		reply chan answer[struct{}]
	}
	removed struct{ err error }
)

// remove begins the end of the session: what is queued is cancelled, what runs
// is ended, then the records go.
func (s *session) remove(c actor.Context, m *remove) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[struct{}]{err: err}
		return
	}
	s.removals = append(s.removals, m.reply)
	s.behavior.Become(s.closing)
	for _, t := range s.state.OpenTurns() {
		s.cancel(c, t.ID)
	}
	s.erase(c)
}

// erase removes the records once nothing runs and everything is stored.
func (s *session) erase(c actor.Context) {
	if len(s.removals) == 0 || s.erasing || s.run != nil || s.storing() {
		return
	}
	s.erasing = true
	s.ring.close(io.EOF)
	self, host, id, ws := c.Self(), s.host, s.id, s.state.Settings()
	host.work.Go(func() {
		err := host.removeArtifacts(context.Background(), id) // first: they are found by the session
		if err == nil {
			err = host.store.Remove(context.Background(), id)
		}
		if err == nil {
			host.bag.DropOwner(id)
			host.removeWorkspace(ws)
		}
		host.root.Send(self, &removed{err})
	})
}

func (s *session) erased(c actor.Context, err error) {
	if err != nil {
		err = storeFailure(err)
	}
	s.answerRemovals(err)
	s.behavior.Become(s.missing)
	c.Send(s.supervisor, &restful{s.id})
}

func (s *session) answerRemovals(err error) {
	for _, r := range s.removals {
		r <- answer[struct{}]{err: err}
	}
	s.removals = nil
}
