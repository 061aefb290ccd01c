package process

import (
	"sync"

	"github.com/agenthost/agenthost/actors/crash"
)

// maxUnread is how much may wait to be written to a process that does not read.
const maxUnread = 64 << 20

// outbox is what waits to be written to the stdin of a process that is talked to.
type outbox struct {
	mu     sync.Mutex
	queue  [][]byte
	size   int
	closed bool
	wake   chan struct{} // (1)
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

func (o *outbox) put(b []byte, last bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.size+len(b) > maxUnread {
		return false
	}
	if len(b) > 0 {
		o.queue, o.size = append(o.queue, b), o.size+len(b)
	}
	o.closed = last
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return true
}

// take gives what waits, and whether nothing will follow it.
func (o *outbox) take() (list [][]byte, last bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	list, o.queue, o.size = o.queue, nil, 0
	return list, o.closed
}

// Say writes b, which may not change any more, to the stdin of a process whose Spec
// says Talk. It does not wait. False says that stdin is closed, or that the process
// has left too much unread.
func (p *Process) Say(b []byte) bool { return p.outbox != nil && p.outbox.put(b, false) }

// Hush closes stdin behind what was said.
func (p *Process) Hush() {
	if p.outbox != nil {
		p.outbox.put(nil, true)
	}
}

// talk writes what is said until stdin is hushed, or closed by either side.
func (p *Process) talk() {
	defer crash.Guard()
	defer func() { _ = p.stdin.Close() }()
	for {
		list, last := p.outbox.take()
		for _, b := range list {
			if _, err := p.stdin.Write(b); err != nil {
				return
			}
		}
		if last {
			return
		}
		select {
		case <-p.outbox.wake:
		case <-p.gone:
			return
		}
	}
}
