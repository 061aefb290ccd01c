package server

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/wires/apierr"
)

// addresses bounds what one address may take of the server: before any token is looked
// at, so that who has none is bounded too.
type addresses struct {
	conns, perMinute int // 0: no bound

	mu    sync.Mutex
	open  map[netip.Addr]int
	rates queue.Rates
}

// enter takes a place for a connection; false when the address has as many as it may.
// A place that was taken is given back by leave.
func (a *addresses) enter(who netip.Addr) bool {
	if a.conns == 0 {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[who] >= a.conns {
		return false
	}
	if a.open == nil {
		a.open = map[netip.Addr]int{}
	}
	a.open[who]++
	return true
}

func (a *addresses) leave(who netip.Addr) {
	if a.conns == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open[who]--; a.open[who] <= 0 {
		delete(a.open, who)
	}
}

// hurried refuses a request that comes faster than its address may send them.
func (a *addresses) hurried(from net.Addr) error {
	if a.perMinute == 0 {
		return nil
	}
	a.mu.Lock()
	wait, ok := a.rates.Take(addressOf(from).String(), a.perMinute, 1, time.Since(started).Milliseconds())
	a.mu.Unlock()
	if ok {
		return nil
	}
	f := event.Fail(apierr.RateLimitReached, fmt.Sprintf("one address may send %d requests a minute here (limits.address_requests_per_minute); send this one later", a.perMinute))
	f.RetryAfter = int((wait + 999) / 1000)
	return f
}

// addressOf is whom an address belongs to: of IPv6 the /64, which is what one customer
// has at least and within which one takes addresses at will. Peers without an address,
// such as those of a Unix socket, are one.
func addressOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip, ok := netip.AddrFromSlice(tcp.IP)
	if !ok {
		return netip.Addr{}
	}
	if ip = ip.Unmap(); ip.Is6() {
		if net64, err := ip.Prefix(64); err == nil {
			return net64.Addr()
		}
	}
	return ip
}
