package store

import "github.com/agenthost/agenthost/actors/event"

// Rested is a session as its journal tells it at one place: what its records should
// be there.
type Rested struct {
	// Head is the number of the event that it is as of.
	Head                   int64
	Owner                  string
	Created, Active        int64
	State                  SessionState
	Spec, Body, Checkpoint []byte // no Checkpoint while turns are open
	// Turns are those whose acceptance is among the events.
	Turns []Turn
}

// Refold makes a Rested of a checkpoint, nil for the beginning, and the events
// behind it. The store knows bytes only, so whoever knows what they mean hands it to
// a repair. It tells the end of the events when whole is set, else the newest place
// at which nothing was queued or running; Head is 0 when there is none.
type Refold func(checkpoint []byte, events []event.Event, whole bool) (*Rested, error)
