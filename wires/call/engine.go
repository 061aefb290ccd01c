package call

import "github.com/agenthost/agenthost/actors/fold"

// Stream is a subscription to a session's events.
type Stream interface {
	// Next returns a batch, which may begin before the place of the subscription;
	// or wake, when there is nothing now; or the error that ended it.
	Next() (b *fold.Batch, wake <-chan struct{}, err error)
	// After is the number of the last event before those that are still to come.
	After() int64
	Close()
}

// Posted is what the host answers to accepted input.
type Posted = fold.Posted
