package spec

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
)

// OnBusy says what becomes of a message that comes while a turn of its session runs.
type OnBusy string

// The closed set. Empty means what the next one that may say so says: the request, the
// session's metadata, its agent's, the adapter's configuration; at last Queue.
const (
	Queue OnBusy = "queue" // it waits, and is a turn of its own
	// Steer makes it part of the turn that runs. One that the turn ends without is a
	// turn of its own.
	Steer  OnBusy = "steer"
	Reject OnBusy = "reject" // it is refused
)

// OnBusyKey is the key of metadata that says it.
const OnBusyKey = "agenthost.on_busy"

// ValidOnBusy checks b against the closed set; "" is allowed.
func ValidOnBusy(param string, b OnBusy) error {
	switch b {
	case "", Queue, Steer, Reject:
		return nil
	}
	return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("%s %.60q is not one of queue, steer, reject", OnBusyKey, b))
}
