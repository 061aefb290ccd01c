package memory

import (
	"sync"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Store is one handle on a simulated disk.
type Store struct {
	data   *data
	manual bool
	done   chan struct{} // closed when the goroutine of New has ended
	fatal  chan struct{}

	mu      sync.Mutex
	changed *sync.Cond // pending, applied or closed
	pending []*store.Commit
	queued  int64 // commits ever queued
	applied int64 // commits ever answered
	closed  bool
	err     error // after Fail
	refuse  error // for the next commit
}

var _ store.Store = (*Store)(nil)

// New returns an empty store whose commits are applied in order by one
// goroutine; Close ends it.
func New() *Store {
	s := newHandle(newData(), false)
	go s.run()
	return s
}

// NewManual returns an empty store without a goroutine: a commit waits for Step.
func NewManual() *Store { return newHandle(newData(), true) }

func newHandle(d *data, manual bool) *Store {
	s := &Store{data: d, manual: manual, done: make(chan struct{}), fatal: make(chan struct{})}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Reopen plays a restart: it drops what was not applied, closes s and returns a
// handle of the same kind on what was.
func (s *Store) Reopen() *Store {
	s.Drop()
	_ = s.Close() // cannot fail
	s.data.mu.Lock()
	s.data.crashed = false
	s.data.mu.Unlock()
	n := newHandle(s.data, s.manual)
	if !n.manual {
		go n.run()
	}
	return n
}

// Crash plays an end of the machine that took commits: every session there is
// becomes uncertain.
func (s *Store) Crash() {
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	s.data.crashed = true
	for _, r := range s.data.sessions {
		r.Uncertain = true
	}
}

// Uncertain is true after Crash, until the store is reopened.
func (s *Store) Uncertain() bool {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	return s.data.crashed
}

// Commit queues c.
func (s *Store) Commit(c *store.Commit) {
	s.mu.Lock()
	if s.closed {
		err := s.stopped()
		s.mu.Unlock()
		if c.Done != nil {
			c.Done(err)
		}
		return
	}
	s.pending = append(s.pending, c)
	s.queued++
	s.mu.Unlock()
	s.changed.Broadcast()
}

// Pending counts commits that wait for Step.
func (s *Store) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending)
}

// Step applies the oldest waiting commit and calls its Done. It reports whether
// there was one.
func (s *Store) Step() bool {
	s.mu.Lock()
	if len(s.pending) == 0 {
		s.mu.Unlock()
		return false
	}
	c := s.pending[0]
	s.pending[0] = nil
	s.pending = s.pending[1:]
	err := s.err
	if err == nil {
		err, s.refuse = s.refuse, nil
	}
	s.mu.Unlock()
	if err == nil {
		err = s.data.apply(c)
	}
	if c.Done != nil {
		c.Done(err)
	}
	s.mu.Lock()
	s.applied++
	s.mu.Unlock()
	s.changed.Broadcast()
	return true
}

// Drop forgets the waiting commits as a crash would: their Done is never called.
// It returns how many there were.
func (s *Store) Drop() int {
	s.mu.Lock()
	n := len(s.pending)
	s.pending = nil
	s.applied += int64(n)
	s.mu.Unlock()
	s.changed.Broadcast()
	return n
}

// Refuse makes the next Step answer its commit with err instead of applying it.
func (s *Store) Refuse(err error) {
	s.mu.Lock()
	s.refuse = err
	s.mu.Unlock()
}

// Fail plays a failed sync: Fatal is closed and everything is refused.
func (s *Store) Fail() {
	s.mu.Lock()
	if s.err == nil {
		s.err = store.ErrFailed
		close(s.fatal)
	}
	s.mu.Unlock()
}

// Fatal is closed by Fail.
func (s *Store) Fatal() <-chan struct{} { return s.fatal }

// Err is ErrFailed after Fail.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close applies what waits and ends the goroutine.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.changed.Broadcast()
	if !s.manual {
		<-s.done
		return nil
	}
	for first && s.Step() {
	}
	return nil
}

func (s *Store) run() {
	defer crash.Guard()
	defer close(s.done)
	for {
		s.mu.Lock()
		for len(s.pending) == 0 && !s.closed {
			s.changed.Wait()
		}
		end := len(s.pending) == 0
		s.mu.Unlock()
		if end {
			return
		}
		s.Step()
	}
}

// settled waits until the commits queued so far are answered, so that a blocking
// call takes effect behind them. A manual store does not wait: there the caller
// is the one who would step.
func (s *Store) settled() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for upTo := s.queued; !s.manual && s.applied < upTo && s.err == nil; {
		s.changed.Wait()
	}
	return s.stopped()
}

// readable says whether a look-up may be answered.
func (s *Store) readable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped()
}

func (s *Store) stopped() error {
	if s.err != nil {
		return s.err
	}
	if s.closed {
		return store.ErrClosed
	}
	return nil
}

// find locks nothing: its callers hold data.mu.
func (s *Store) find(owner string, id event.ID) (*session, error) {
	if got := s.data.seen(owner, id); got != nil {
		return got, nil
	}
	return nil, store.ErrNotFound
}
