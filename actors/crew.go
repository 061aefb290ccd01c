package actors

import (
	"sync"

	"github.com/agenthost/agenthost/actors/crash"
)

// crew runs functions in goroutines that it keeps for the next ones. A new goroutine
// begins with a small stack, which is copied each time it gets too small: a turn has
// dozens of them, and all of them call deep.
//
// The last one to rest is the first to work again, so few are used when little is to
// be done. More than maxResting end by themselves, the others with end.
type crew struct {
	mu      sync.Mutex
	resting []chan func()
	over    bool
}

// maxResting bounds the goroutines that wait for work. Few: all that a burst needed
// would stay, and a server at rest has the goroutines of one that did nothing yet.
const maxResting = 8

// Go runs f in a goroutine of its own. It does so after end, too.
func (w *crew) Go(f func()) {
	w.mu.Lock()
	if n := len(w.resting); n > 0 {
		next := w.resting[n-1]
		w.resting = w.resting[:n-1]
		w.mu.Unlock()
		next <- f // has room
		return
	}
	w.mu.Unlock()
	go w.work(f)
}

// work does f, and then what it is handed. It ends when too many rest, and at end.
func (w *crew) work(f func()) {
	defer crash.Guard()
	next := make(chan func(), 1)
	for {
		f()
		if !w.rest(next) {
			return
		}
		var more bool
		if f, more = <-next; !more {
			return
		}
	}
}

func (w *crew) rest(next chan func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || len(w.resting) >= maxResting {
		return false
	}
	w.resting = append(w.resting, next)
	return true
}

// end lets the resting ones go; those that work end after it.
func (w *crew) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	for _, next := range w.resting {
		close(next)
	}
	w.resting = nil
}

// Schedule runs an actor's messages, so a crew is the dispatcher of the actor library.
func (w *crew) Schedule(f func()) { w.Go(f) }

// Throughput is the count of messages after which others get a turn: the library's own.
func (w *crew) Throughput() int { return 300 }
