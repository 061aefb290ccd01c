package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about its readers.
type (
	subscribe struct {
		owner string
		after int64 // -1: from now
		reply chan answer[*Subscription]
	}
	unsubscribe struct{}
)

func (s *session) subscribe(c actor.Context, m *subscribe) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*Subscription]{err: err}
		return
	}
	if s.subs >= s.host.cfg.limits.MaxSubscribers {
		f := event.Fail(event.TooManySubscribers, "this session has as many open streams as limits.max_subscribers allows")
		f.RetryAfter = 5
		m.reply <- answer[*Subscription]{err: f}
		return
	}
	head := s.ring.window.Load().head
	pos, since := m.after, head
	switch {
	case pos < 0:
		pos = head
	case pos > head && pos <= s.skipped:
		// Seen before the crash: it reads on behind what is just being stored.
		g := s.group(nil)
		g.then = append(g.then, func(c actor.Context, err error) {
			if err != nil {
				m.reply <- answer[*Subscription]{err: err}
				return
			}
			s.subscribe(c, m)
		})
		s.flush(c)
		return
	case pos > head:
		m.reply <- answer[*Subscription]{err: event.Fail(event.CursorNotFound, "this cursor was never issued for the session")}
		return
	case s.claimed(pos):
		since = pos
	}
	s.subs++
	s.host.stats.subscribers.Add(1)
	s.idle.stop()
	m.reply <- answer[*Subscription]{value: &Subscription{host: s.host, session: s.id, pid: c.Self(), ring: s.ring, pos: pos, since: since}}
}

func (s *session) unsubscribe(c actor.Context) {
	if s.subs == 0 {
		return // this actor is stopping and has let all readers go
	}
	s.subs--
	s.host.stats.subscribers.Add(-1)
	s.rest(c)
}
