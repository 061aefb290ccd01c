package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/wires/apierr"
)

// rates bounds the requests of each principal.
type rates struct {
	mu sync.Mutex
	of queue.Rates
}

// started is where this process's time begins for rates: it does not jump.
var started = time.Now()

// hurried refuses a request that comes faster than its principal may send them, or
// faster than a statement of the policy lets it.
func (s *Server) hurried(who *holder, d *policy.Decision) error {
	most := who.perMinute
	if most == 0 {
		most = s.cfg.RequestsPerMinute
	}
	if err := s.take(who, who.id, most, ""); err != nil {
		return err
	}
	for _, r := range d.Rates {
		if err := s.take(who, r.Key, r.PerMinute, " of this kind"); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) take(who *holder, key string, most int, kind string) error {
	if most == 0 {
		return nil
	}
	s.rates.mu.Lock()
	wait, ok := s.rates.of.Take(key, most, 1, time.Since(started).Milliseconds())
	s.rates.mu.Unlock()
	if ok {
		return nil
	}
	f := event.Fail(apierr.RateLimitReached, fmt.Sprintf("%s may send %d requests%s a minute; send this one later", who.id, most, kind))
	f.RetryAfter = int((wait + 999) / 1000)
	return f
}
