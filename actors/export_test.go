package actors

import "github.com/asynkron/protoactor-go/actor"

// CrashTurns makes the actors of all running turns panic: it sends every actor a
// message that only they take, and that no process ever sends.
func CrashTurns(h *Host) {
	for _, shard := range h.system.ProcessRegistry.LocalPIDs.LocalPIDs {
		for _, id := range shard.Keys() {
			h.root.Send(actor.NewPID(h.system.Address(), id), &output{})
		}
	}
}
