package faultplan

import (
	"encoding/json"
	"os"
)

// Lasting is the directory beside the plan where the server keeps what of its store
// a power cut would leave.
const Lasting = "lasting"

// Plan says what fails now. The zero value is a healthy server.
type Plan struct {
	// Boot names the run of the machine: another one after a power cut.
	Boot string `json:"boot"`
	// Operations of the store's files that fail; nil for none.
	Reads  *Fault `json:"reads,omitempty"`
	Writes *Fault `json:"writes,omitempty"`
	Torn   *Fault `json:"torn,omitempty"`
	Syncs  *Fault `json:"syncs,omitempty"`
	// SlowSyncMS is how much longer a sync takes.
	SlowSyncMS int `json:"slow_sync_ms,omitempty"`
	// Free is how many bytes the disk of the store has left; 0 is as many as it has.
	Free int64 `json:"free,omitempty"`
	// ClockS is how far the server's clock is ahead, in seconds.
	ClockS int64 `json:"clock_s,omitempty"`
	// Panic is what the server panics with, "" for nothing.
	Panic string `json:"panic,omitempty"`
}

// Fault makes an operation fail.
type Fault struct {
	Error string `json:"error"` // ENOSPC, EIO
	// After operations that still succeed, Times fail; for ever when it is below 0.
	After int64 `json:"after,omitempty"`
	Times int64 `json:"times"`
}

// Write replaces the plan in a file.
func (p Plan) Write(file string) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}
