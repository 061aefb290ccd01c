package server

import (
	"sync"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
)

// Bounds of the bodies that are on their way. The library makes room for a body as
// soon as its length is said, so a client could take memory by saying lengths; and a
// stranger need not be given any to be refused.
const (
	maxArriving = 128 << 20 // of all bodies; at least eight of the largest
	maxStrange  = 64 << 10  // of one without a valid token
)

// arrivals are the bodies that were announced and have not arrived.
type arrivals struct {
	most int

	mu    sync.Mutex
	total int
	all   map[*fasthttp.RequestHeader]arrival // the header stays where it is until its handler ran
}

// arrival is one body: the room that is kept for it, and why it is refused when it
// does not fit into that.
type arrival struct {
	room    int
	refused error
}

func newArrivals(maxBody int) *arrivals {
	return &arrivals{most: max(maxArriving, 8*maxBody), all: map[*fasthttp.RequestHeader]arrival{}}
}

// add keeps room; what was kept for a request that broke off is given back.
func (a *arrivals) add(h *fasthttp.RequestHeader, one arrival) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total -= a.all[h].room
	delete(a.all, h)
	if one.room > 0 && a.total+one.room > a.most {
		return false
	}
	a.total += one.room
	a.all[h] = one
	return true
}

// end gives the room of a request back and returns why its body is refused.
func (a *arrivals) end(h *fasthttp.RequestHeader) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.all[h]
	a.total -= one.room
	delete(a.all, h)
	return one.refused
}

var errArriving = event.Fail(event.HostBusy, "too many request bodies are on their way to this host; try again")

// announced decides how much of a request's body is read, when its header is there.
func (s *Server) announced(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	defer crash.Guard()
	cfg := fasthttp.RequestConfig{ReadTimeout: s.cfg.BodyTimeout}
	size := h.ContentLength()
	if size == -1 { // chunked: it may become as large as any
		size = s.cfg.MaxBody
	}
	if size <= 0 || size > s.cfg.MaxBody { // nothing, or refused before it is read
		return cfg
	}
	one := arrival{room: size}
	if size > maxStrange {
		if _, _, err := s.keys.Load().who(h); err != nil {
			one, cfg.MaxRequestBodySize = arrival{maxStrange, err}, maxStrange
		}
	}
	if !s.arrivals.add(h, one) {
		s.arrivals.add(h, arrival{refused: errArriving})
		cfg.MaxRequestBodySize = 1
	}
	return cfg
}
