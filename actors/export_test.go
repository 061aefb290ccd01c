package actors

import (
	"strings"

	"github.com/asynkron/protoactor-go/actor"
)

// CrashTurns makes the actors of all running turns panic: it sends what stands
// two below the supervisor an output without a batch.
func CrashTurns(h *Host) {
	for _, shard := range h.system.ProcessRegistry.LocalPIDs.LocalPIDs {
		for _, id := range shard.Keys() {
			if strings.Count(id, "/") == 2 {
				h.root.Send(actor.NewPID(h.system.Address(), id), &output{})
			}
		}
	}
}
