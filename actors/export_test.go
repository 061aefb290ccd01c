package actors

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// CrashTurns makes the actors of all running turns panic: it sends what stands
// two below the supervisor the end of a clock that no turn has.
func CrashTurns(h *Host) {
	var turns []string // first all, then their ends: a turn that follows is not meant
	for _, shard := range h.system.ProcessRegistry.LocalPIDs.LocalPIDs {
		for _, id := range shard.Keys() {
			if strings.Count(id, "/") == 2 {
				turns = append(turns, id)
			}
		}
	}
	for _, id := range turns {
		h.root.Send(actor.NewPID(h.system.Address(), id), &timerUp{timer: 200})
	}
}

// KeptValues is the number of bundles of header values in memory.
func KeptValues(h *Host) int { return h.bag.Len() }

// WithLookup replaces the resolver.
func WithLookup(f func(ctx context.Context, host string) ([]netip.Addr, error)) Option {
	return func(c *config) { c.lookup = f }
}

// Evict makes one pass of the caps and returns how many sessions it asked to go.
func Evict(h *Host) int {
	h.evictor.mu.Lock()
	defer h.evictor.mu.Unlock()
	return h.evictSome(context.Background())
}

// WithMemory replaces the look at the machine's memory.
func WithMemory(read func() (uint64, bool), every, ramp time.Duration, turn int64) Option {
	return func(c *config) { c.memory = scales{read: read, every: every, ramp: ramp, turn: turn} }
}

// FixTurnMemory makes the host expect so much of a turn, whatever it sees.
func FixTurnMemory(h *Host, bytes int64) { h.stats.turnMemory.Store(bytes) }

// LoseTurn makes the host's admission forget a turn that waits, so that its session
// is stuck.
func LoseTurn(h *Host, turn event.ID) { h.root.Send(h.supervisor, &withdrawSlot{turn}) }

// Inspect looks at every session in memory once and returns how many are stuck.
func Inspect(ctx context.Context, h *Host) (int, error) {
	m := &inspection{all: true, reply: make(chan answer[int], 1)}
	h.root.Send(h.supervisor, m)
	return await(ctx, h, m.reply)
}

// AvailableMemory is what the host sees of the machine's memory.
func AvailableMemory() (uint64, bool) { return availableMemory() }

// WithShortRest replaces the time that a session without a turn stays in memory, and the
// number of sessions above which others do not stay longer.
func WithShortRest(d time.Duration, crowd int64) Option {
	return func(c *config) { c.shortRest, c.crowd = d, crowd }
}

// PutAway lets sessions leave memory that have nothing to do, as if they had rested for
// long enough.
func PutAway(h *Host, ids ...event.ID) {
	for _, id := range ids {
		h.root.Send(h.supervisor, &restful{id})
	}
}
