package actors

import (
	"time"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/queue"
)

// gauge watches the machine's memory and the sessions. It ends with the Host.
func (h *Host) gauge() {
	defer crash.Guard()
	clock := time.NewTicker(h.cfg.memory.every)
	defer clock.Stop()
	slow := time.Now()
	for {
		select {
		case <-h.gaugeEnd:
			return
		case <-clock.C:
		}
		h.root.Send(h.supervisor, &room{h.available()})
		if now := time.Now(); now.Sub(slow) >= slowLook {
			slow = now
			h.evictLater(now)
			h.lookAtDisk()
			h.root.Send(h.supervisor, &today{})
			h.root.Send(h.supervisor, &inspection{})
			if h.cfg.limits.MinAvailableMemory > 1 {
				h.root.Send(h.reaper, &sample{})
			}
		}
	}
}

// slowLook is the time between two looks at what does not hurry.
const slowLook = 900 * time.Millisecond

// scales are how the machine's memory is looked at.
type scales struct {
	read func() (uint64, bool) // MemAvailable
	// every is the time between two looks; ramp how long a turn takes to have all its
	// memory.
	every, ramp time.Duration
	// turn is what a turn is expected to take while nothing is known, in bytes.
	turn int64
}

func (m *scales) fill() {
	if m.read == nil {
		m.read = availableMemory
	}
	def(&m.every, time.Second)
	def(&m.ramp, 10*time.Second)
	def(&m.turn, 128<<20)
}

// memoryLeft is what is available beyond limits.min_available_memory, in bytes.
type memoryLeft struct {
	bytes int64
	known bool
}

// available reads how much memory there is, and notes whether it is too little.
func (h *Host) available() memoryLeft {
	floor := h.cfg.limits.MinAvailableMemory
	free, ok := h.cfg.memory.read()
	h.stats.tight.Store(ok && free < floor)
	switch {
	case !ok || floor <= 1: // off
		return memoryLeft{}
	case free < floor:
		return memoryLeft{known: true}
	}
	return memoryLeft{bytes: int64(min(free-floor, 1<<60)), known: true}
}

// further is how many turns may start until the next look. Those that are young are
// still to take what they need, so it is kept for them.
func (h *Host) further(left memoryLeft, young int) int {
	if !left.known {
		return queue.Unbounded
	}
	each := h.stats.turnMemory.Load()
	if each == 0 {
		each = h.cfg.memory.turn
	}
	return int(min(max(left.bytes/each-int64(young), 0), 1<<30))
}

// minTurnMemory is the least that a turn is expected to take.
const minTurnMemory = 8 << 20

// weighs notes the memory that the tree of a turn was seen to have. What was expected
// too low is corrected sooner than what was expected too high.
func (h *Host) weighs(bytes int64) {
	if bytes <= 0 {
		return
	}
	for {
		old := h.stats.turnMemory.Load()
		next := bytes
		switch {
		case old == 0:
		case bytes > old:
			next = old + (bytes-old)/2
		default:
			next = old - (old-bytes)/8
		}
		if h.stats.turnMemory.CompareAndSwap(old, max(next, minTurnMemory)) {
			return
		}
	}
}
