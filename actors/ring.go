package actors

import (
	"sort"
	"sync/atomic"

	"github.com/agenthost/agenthost/actors/fold"
)

// ring keeps a session's recent batches for its readers. The session actor is
// the only writer; readers take the current window without a lock and may keep
// it as long as they like, which holds at most one ring's worth of memory.
type ring struct {
	window   atomic.Pointer[window]
	maxBytes int
	bytes    int // of the window; the writer's alone
}

// window is an immutable view of the ring.
type window struct {
	batches []*fold.Batch
	head    int64 // last published event
	// wake is closed when the next window is there.
	wake chan struct{}
	// end, when set, says why nothing more will come.
	end error
	// forgotten are the numbers of TurnForgotten events. Who came after one of them
	// reads what the window holds up to it from the store, which leaves the turn's
	// content out.
	forgotten []int64
}

func newRing(head int64, maxBytes int) *ring {
	r := &ring{maxBytes: maxBytes}
	r.window.Store(&window{head: head, wake: make(chan struct{})})
	return r
}

// publish appends b and wakes the readers.
func (r *ring) publish(b *fold.Batch) {
	linger(b)
	old := r.window.Load()
	batches := append(old.batches, b)
	r.bytes += b.Bytes
	drop := 0
	for r.bytes > r.maxBytes && drop < len(batches)-1 {
		r.bytes -= batches[drop].Bytes
		drop++
	}
	if drop > 0 {
		// A fresh array, so that the dropped batches are not held by this one.
		batches = append(make([]*fold.Batch, 0, 2*(len(batches)-drop)), batches[drop:]...)
	}
	forgotten := old.forgotten
	for len(forgotten) > 0 && forgotten[0] < batches[0].First() {
		forgotten = forgotten[1:]
	}
	r.replace(old, &window{batches: batches, head: b.Last(), wake: make(chan struct{}), forgotten: forgotten})
}

// pass goes on to head with nothing kept of what led there: its readers come from the
// store.
func (r *ring) pass(head int64) {
	r.bytes = 0
	r.replace(r.window.Load(), &window{head: head, wake: make(chan struct{})})
}

// clear keeps nothing of what was published.
func (r *ring) clear() {
	if w := r.window.Load(); len(w.batches) > 0 && w.end == nil {
		r.pass(w.head)
	}
}

// forget notes published TurnForgotten events.
func (r *ring) forget(seqs ...int64) {
	if len(seqs) == 0 {
		return
	}
	old := r.window.Load()
	next := *old
	next.forgotten = append(old.forgotten[:len(old.forgotten):len(old.forgotten)], seqs...)
	next.wake = make(chan struct{})
	r.replace(old, &next)
}

// close tells the readers that nothing more will come.
func (r *ring) close(end error) {
	old := r.window.Load()
	if old.end != nil {
		return
	}
	next := *old
	next.wake, next.end = make(chan struct{}), end
	r.replace(old, &next)
}

func (r *ring) replace(old, w *window) {
	r.window.Store(w)
	close(old.wake)
}

// shown is the first event that the window has for a reader that came when since
// was the last one; head+1 when it has none.
func (w *window) shown(since int64) int64 {
	var hidden int64
	for _, seq := range w.forgotten {
		if seq <= since {
			hidden = seq
		}
	}
	i := sort.Search(len(w.batches), func(i int) bool { return w.batches[i].First() > hidden })
	if i == len(w.batches) {
		return w.head + 1
	}
	return w.batches[i].First()
}

// find returns the batch that holds event seq; nil when the window does not.
func (w *window) find(seq int64) *fold.Batch {
	i := sort.Search(len(w.batches), func(i int) bool { return w.batches[i].Last() >= seq })
	if i == len(w.batches) || w.batches[i].First() > seq {
		return nil
	}
	return w.batches[i]
}
