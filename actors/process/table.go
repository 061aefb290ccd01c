package process

import "sync"

// registry knows the processes of this package. It is one for the whole program,
// as its children are: a sweep must tell its orphans from everybody's leaders.
type registry struct {
	mu      sync.Mutex
	leaders map[int]*Process           // by pid, until reaped
	unswept map[*Process]struct{}      // until swept
	starts  map[chan struct{}]struct{} // running starts, each closed at its end
	spared  map[int]struct{}
}

var table = registry{
	leaders: map[int]*Process{}, unswept: map[*Process]struct{}{},
	starts: map[chan struct{}]struct{}{}, spared: map[int]struct{}{},
}

func (r *registry) start(p *Process, c *child) error {
	done := make(chan struct{})
	r.mu.Lock()
	r.starts[done] = struct{}{}
	r.mu.Unlock()
	err := p.spawn(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.starts, done)
	close(done)
	if err == nil {
		r.leaders[p.pid] = p
		r.unswept[p] = struct{}{}
	}
	return err
}

// settle waits until every leader forked before the call is in the table or gone.
// Who looks at our children must do it between looking and judging: a leader that
// is just being forked looks like an orphan.
func (r *registry) settle() {
	r.mu.Lock()
	running := make([]chan struct{}, 0, len(r.starts))
	for done := range r.starts {
		running = append(running, done)
	}
	r.mu.Unlock()
	for _, done := range running {
		<-done
	}
}

// reaped forgets the pid, unless it was given to a new leader already.
func (r *registry) reaped(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaders[p.pid] == p {
		delete(r.leaders, p.pid)
	}
}

func (r *registry) swept(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unswept, p)
}

func (r *registry) leader(pid int) *Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leaders[pid]
}

// foreign says that pid is not an orphan of a tree: it leads one, or is spared.
func (r *registry) foreign(pid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, spared := r.spared[pid]
	return spared || r.leaders[pid] != nil
}

// owned says that an unswept process other than p has this marker.
func (r *registry) owned(marker string, p *Process) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for q := range r.unswept {
		if q != p && q.spec.Marker == marker {
			return true
		}
	}
	return false
}

// suspect says that an unswept process other than p is old enough to have started
// something at the given time.
func (r *registry) suspect(start uint64, p *Process) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for q := range r.unswept {
		if q != p && q.start <= start {
			return true
		}
	}
	return false
}

// Spared runs start, which starts a child of ours in a session of its own without
// this package, and excepts that child from the hunt for orphans until forget is
// called, which is when it has been waited for. It is needed only after
// BecomeSubreaper.
func Spared(start func() (pid int, err error)) (forget func(), err error) {
	done := make(chan struct{})
	table.mu.Lock()
	table.starts[done] = struct{}{}
	table.mu.Unlock()
	pid, err := start()
	table.mu.Lock()
	defer table.mu.Unlock()
	delete(table.starts, done)
	close(done)
	if err != nil {
		return nil, err
	}
	table.spared[pid] = struct{}{}
	return func() {
		table.mu.Lock()
		defer table.mu.Unlock()
		delete(table.spared, pid)
	}, nil
}
