package server

import (
	"fmt"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/event"
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

// hurried refuses a request that comes faster than its principal may send them.
func (s *Server) hurried(who *holder) error {
	most := who.perMinute
	if most == 0 {
		most = s.cfg.RequestsPerMinute
	}
	if most == 0 {
		return nil
	}
	s.rates.mu.Lock()
	wait, ok := s.rates.of.Take(who.id, most, 1, time.Since(started).Milliseconds())
	s.rates.mu.Unlock()
	if ok {
		return nil
	}
	f := event.Fail(apierr.RateLimitReached, fmt.Sprintf("%s may send %d requests a minute; send this one later", who.id, most))
	f.RetryAfter = int((wait + 999) / 1000)
	return f
}
