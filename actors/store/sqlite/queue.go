package sqlite

import "sync"

// Bounds of a group.
const (
	groupCount = 2000
	groupBytes = 1 << 20
)

// request is one change that waits for the writer.
type request struct {
	// check decides with reads only; its error refuses this request alone.
	check func(w *writer) error
	// apply makes the change; its error takes the whole group back.
	apply func(w *writer) error
	// done is called once with the result.
	done func(error)

	durable bool
	accepts bool // takes in new work: refused below the disk floor
	adds    bool // makes nothing end and no room: refused while the disk is full
	low     bool // was refused so
	bytes   int
	err     error
}

// queue holds requests for the writer, in order.
type queue struct {
	wake chan struct{} // 1: something waits or the queue has ended

	mu      sync.Mutex
	waiting []*request
	ended   bool
}

// add reports false after end.
func (q *queue) add(r *request) bool {
	q.mu.Lock()
	if q.ended {
		q.mu.Unlock()
		return false
	}
	q.waiting = append(q.waiting, r)
	first := len(q.waiting) == 1
	q.mu.Unlock()
	if first {
		q.ring()
	}
	return true
}

func (q *queue) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.ring()
}

func (q *queue) depth() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

func (q *queue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take moves the next group to dst. ended says that nothing waits or will.
func (q *queue) take(dst []*request) (group []*request, ended bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	bytes, n := 0, 0
	for n < len(q.waiting) && n < groupCount && (n == 0 || bytes+q.waiting[n].bytes <= groupBytes) {
		bytes += q.waiting[n].bytes
		n++
	}
	dst = append(dst[:0], q.waiting[:n]...)
	if n == len(q.waiting) {
		clear(q.waiting)
		q.waiting = q.waiting[:0]
	} else {
		clear(q.waiting[:n])
		q.waiting = q.waiting[n:]
	}
	return dst, n == 0 && q.ended
}
