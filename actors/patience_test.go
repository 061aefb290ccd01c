package actors_test

import (
	"testing"
	"time"
)

// eventually asks ok until it says yes, and fails after a while.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	c := ctx(t)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-c.Done():
			t.Fatalf("still not: %s", what)
		case <-tick.C:
		}
	}
}
