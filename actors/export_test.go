package actors

import (
	"context"
	"net/netip"
	"strings"

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
