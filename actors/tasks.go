package actors

import (
	"sync"

	"github.com/agenthost/agenthost/actors/crash"
)

// tasks counts goroutines that end by themselves. Unlike a sync.WaitGroup it may
// be waited for while further ones start.
type tasks struct {
	crew *crew // nil: a goroutine for each
	mu   sync.Mutex
	n    int
	idle *sync.Cond
}

// Go runs f in a goroutine of its own.
func (t *tasks) Go(f func()) {
	t.mu.Lock()
	t.n++
	t.mu.Unlock()
	run := func() {
		defer crash.Guard()
		defer t.done()
		f()
	}
	if t.crew == nil {
		go run()
		return
	}
	t.crew.Go(run)
}

func (t *tasks) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n--
	if t.n == 0 && t.idle != nil {
		t.idle.Broadcast()
	}
}

// wait returns when no task runs.
func (t *tasks) wait() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle == nil {
		t.idle = sync.NewCond(&t.mu)
	}
	for t.n > 0 {
		t.idle.Wait()
	}
}
