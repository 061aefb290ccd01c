package actors

import (
	"fmt"
	"runtime/debug"

	"github.com/agenthost/agenthost/actors/event"
)

// asked runs a call into an adapter, which may be somebody else's code: a panic
// in it fails the call and nothing more.
func (h *Host) asked(r *RuntimeConfig, what string, call func() error) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		h.stats.crashes.Add(1)
		h.log.Error("adapter panicked", "adapter", r.Adapter.Name(), "call", what, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		err = event.Fail(event.CLICrashed, fmt.Sprintf("adapter %s failed inside the host; the server's log has the cause", r.Adapter.Name()))
	}()
	return call()
}
