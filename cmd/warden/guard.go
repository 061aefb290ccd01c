package warden

import (
	"time"

	"github.com/agenthost/agenthost/actors/process"
)

// Times of the two sides.
const (
	// Silence is how long a server with trees may say nothing.
	Silence = 10 * time.Second
	// beat is how often it speaks.
	beat = time.Second
	// look is how often the warden looks while there are trees.
	look = 250 * time.Millisecond
	// absence is a time between two looks in which the warden itself did not run.
	absence = 2 * time.Second
)

// host is one that the server runs: how the markers of what it starts begin, and the
// control group that all of it is in, "" without one.
type host struct{ prefix, group string }

// guard decides when to act. It has no clock: now is the time since the machine's
// boot.
type guard struct {
	silence time.Duration
	hosts   []host
	trees   map[string]process.Tree // by marker
	bye     bool

	heard, looked time.Duration
}

func newGuard(silence, now time.Duration) *guard {
	return &guard{silence: silence, trees: map[string]process.Tree{}, heard: now, looked: now}
}

// word notes that the server spoke.
func (g *guard) word(now time.Duration) { g.heard = now }

// deaf says that the server, with trees of its own, was silent for too long.
func (g *guard) deaf(now time.Duration) bool {
	if now-g.looked > absence {
		g.heard = now // we were away too
	}
	g.looked = now
	if len(g.trees) == 0 {
		g.heard = now // it has no reason to speak
	}
	return now-g.heard > g.silence
}

// pause is how long to wait for a word; less than 0 is for ever.
func (g *guard) pause() time.Duration {
	if len(g.trees) == 0 {
		return -1
	}
	return min(look, max(g.silence/4, time.Millisecond))
}
