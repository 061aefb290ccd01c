//go:build slowed

package actors

import (
	"os"
	"time"

	"github.com/agenthost/agenthost/actors/fold"
)

// A build with the tag slowed has the two mistakes that the gates of the bench are to
// notice. AGENTHOST_SLOWED chooses one: "sleep" or "copy".
var slowed = os.Getenv("AGENTHOST_SLOWED")

// linger sleeps a millisecond for each event before it is published.
func linger(b *fold.Batch) {
	if slowed == "sleep" {
		for range b.Events {
			time.Sleep(time.Millisecond)
		}
	}
}

// handed is a copy for each subscriber, which is rendered for it alone.
func handed(b *fold.Batch) *fold.Batch {
	if slowed != "copy" {
		return b
	}
	return &fold.Batch{Session: b.Session, Events: append(b.Events[:0:0], b.Events...), Views: append(b.Views[:0:0], b.Views...), Bytes: b.Bytes}
}
