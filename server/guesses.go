package server

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of wrong tokens from one address: so many at once, and one more each time
// that guessEvery has passed.
const (
	guessBurst   = 10
	guessEvery   = 6 * time.Second
	maxGuessers  = 4096
	guessersTidy = time.Second
)

// guesses counts the wrong tokens of each address, and makes an address wait that
// sends many: its tokens are not judged meanwhile, so that waiting is what a guess
// costs. Principals that came in from there before are: one client behind a gateway
// that holds an old token does not shut the others out, and no other address notices
// anything.
//
// The table is bounded. An address that does not fit pushes out one that has waited
// long enough, or any: who has thousands of addresses has thousands of allowances
// anyway.
type guesses struct {
	some atomic.Bool // there is an address in the table

	mu   sync.Mutex
	of   map[netip.Addr]*guesser
	tidy time.Time
}

type guesser struct {
	wrong float64 // fewer with time
	at    time.Time
}

// left is how many wrong tokens still count at now.
func (g *guesser) left(now time.Time) float64 {
	return math.Max(0, g.wrong-now.Sub(g.at).Seconds()/guessEvery.Seconds())
}

// wait is how long tokens from there are not judged; 0 is not at all.
func (g *guesses) wait(from netip.Addr, now time.Time) time.Duration {
	if !g.some.Load() {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.of[from]
	if one == nil {
		return 0
	}
	over := one.left(now) - (guessBurst - 1)
	if over <= 1e-9 {
		return 0
	}
	return time.Duration(over * float64(guessEvery))
}

// wrong counts a wrong token, and reports whether it was the last that is judged for
// now.
func (g *guesses) wrong(from netip.Addr, now time.Time) (last bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.of[from]
	if one == nil {
		if len(g.of) >= maxGuessers {
			g.forget(now)
		}
		if g.of == nil {
			g.of = map[netip.Addr]*guesser{}
		}
		one = &guesser{at: now}
		g.of[from] = one
		g.some.Store(true)
	}
	before := one.left(now)
	one.wrong, one.at = before+1, now
	return before <= guessBurst-1 && one.wrong > guessBurst-1
}

// forget makes room for one address.
func (g *guesses) forget(now time.Time) {
	if now.Sub(g.tidy) >= guessersTidy {
		g.tidy = now
		for from, one := range g.of {
			if one.left(now) == 0 {
				delete(g.of, from)
			}
		}
	}
	for from := range g.of {
		if len(g.of) < maxGuessers {
			break
		}
		delete(g.of, from)
	}
}

// places are addresses from which a principal showed a valid token. There is a fixed
// number of slots; an address that comes to the slot of another takes it.
type places struct{ slots [64]atomic.Uint64 }

var placeSeed = maphash.MakeSeed()

func placeOf(a netip.Addr) uint64 {
	b := a.As16()
	h := maphash.Bytes(placeSeed, b[:])
	return h | 1 // 0 is an empty slot
}

func (p *places) slot(place uint64) *atomic.Uint64 {
	return &p.slots[place>>32%uint64(len(p.slots))]
}

func (p *places) has(a netip.Addr) bool {
	place := placeOf(a)
	return p.slot(place).Load() == place
}

func (p *places) add(a netip.Addr) {
	place := placeOf(a)
	if s := p.slot(place); s.Load() != place {
		s.Store(place)
	}
}
