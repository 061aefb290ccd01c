package actors

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
)

// routine is the number of the goroutine that asks.
func routine() string {
	var buf [64]byte
	name, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte("["))
	return string(name)
}

func TestACrewKeepsItsGoroutines(t *testing.T) {
	t.Parallel()
	var w crew
	defer w.end()
	seen := map[string]bool{}
	for range 1000 {
		done := make(chan string)
		w.Go(func() { done <- routine() })
		seen[<-done] = true
	}
	if len(seen) > 100 {
		t.Errorf("%d goroutines did 1,000 things one after the other", len(seen))
	}
}

func TestACrewDoesEverythingAtOnceIfItMust(t *testing.T) {
	t.Parallel()
	var w crew
	const n = 3 * maxResting
	var all, done sync.WaitGroup
	all.Add(n)
	for range n {
		done.Add(1)
		w.Go(func() {
			defer done.Done()
			all.Done()
			all.Wait() // comes back only when all of them run
		})
	}
	done.Wait()
	w.end()
	w.end()
	late := make(chan struct{})
	w.Go(func() { close(late) })
	<-late
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.resting) != 0 {
		t.Errorf("%d rest after the end", len(w.resting))
	}
}
