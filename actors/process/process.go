package process

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// Process is one started process. Its methods may be called from anywhere.
type Process struct {
	spec   Spec
	pid    int
	start  uint64 // start time of the leader, in ticks since boot; 0 = not known
	handle *handle
	group  *group // nil: none could be made

	stdout, stderr *os.File
	stdin          *os.File // write end, nil once everything was written

	// mu orders signals against the reaping of the leader: while reaped is false
	// the leader's pid and group are its own, even if it is dead.
	mu     sync.Mutex
	reaped bool

	sweeping sync.Mutex // one Sweep at a time
	tree     tree       // what was recorded of its descendants
	files    fileWatch  // whether one of the tree had no descriptor left

	status   Status
	gone     chan struct{} // closed when the leader is reaped
	errEnded chan struct{} // closed when the reader of stderr has ended
	tail     *tail
	outbox   *outbox // of a process that is talked to
}

// Start starts the process. An error means that nothing was started and no
// callback will be made.
func Start(spec Spec) (*Process, error) {
	ResetSignals()
	spec.setDefaults()
	path, err := resolve(spec.Path)
	if err != nil {
		return nil, err
	}
	p := &Process{
		spec: spec, gone: make(chan struct{}), errEnded: make(chan struct{}),
		tail: newTail(spec.StderrTail),
	}
	if err := wrappable(&spec, path); err != nil {
		return nil, err
	}
	ends, err := p.openPipes()
	defer ends.close()
	if err != nil {
		p.closePipes()
		return nil, startError(path, spec.Dir, err)
	}
	c := &child{path: path, argv: append([]string{spec.Path}, spec.Args...),
		env: environment(spec.Env, spec.Marker), dir: spec.Dir, ends: ends}
	if len(spec.Wrap) > 0 {
		c.argv = append(append(append([]string{}, spec.Wrap...), path), spec.Args...)
		c.path = spec.Wrap[0]
	}
	p.group = spec.Cgroups.group(groupName(spec.Marker), &spec.Limits)
	if err := table.start(p, c); err != nil {
		p.group.remove()
		p.closePipes()
		return nil, startError(path, spec.Dir, err)
	}
	p.status.Started = time.Now()
	switch {
	case p.outbox != nil:
		go p.talk()
	case p.stdin != nil:
		go p.writeStdin(p.stdin)
	}
	go p.readStderr()
	go p.wait()
	go p.run()
	return p, nil
}

// StartTime is the leader's start time in ticks since the machine's boot: with the
// pid its identity. 0 is not known.
func (p *Process) StartTime() uint64 { return p.start }

// Watched reports whether the tree has a limit that only Measure can tell of.
func (p *Process) Watched() bool {
	l := p.spec.Limits
	memory, processes := p.group.holds()
	return l.CPU > 0 || l.OpenFiles > 0 || l.Memory > 0 && !memory || l.Processes > 0 && !processes
}

// Pid is the leader's process id, which is its group's and session's too.
func (p *Process) Pid() int { return p.pid }

// Exited is closed when the leader is reaped; its output may still be on its way.
func (p *Process) Exited() <-chan struct{} { return p.gone }

// Dead reports whether the leader is dead, be it reaped or not. It does not block.
func (p *Process) Dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reaped || p.handle.dead()
}

// run reads stdout to its end and makes all the callbacks.
func (p *Process) run() {
	defer crash.Guard()
	gaveUp := p.readStdout()
	<-p.gone
	<-p.errEnded
	p.status.GaveUp = gaveUp
	p.status.MemoryLimit, p.status.ProcessLimit = p.group.hits()
	p.status.FilesLimit = p.files.near(p.status.Ended)
	p.status.Stderr = p.tail.bytes()
	if p.spec.OnExit != nil {
		p.spec.OnExit(p.status)
	}
}

// wait reaps the leader and lets the other goroutines end.
func (p *Process) wait() {
	defer crash.Guard()
	p.handle.wait()
	p.mu.Lock()
	state, usage, ok := reap(p.pid)
	p.reaped = true
	p.mu.Unlock()
	table.reaped(p)
	p.handle.close()

	p.status.Ended = time.Now()
	p.status.Code = -1
	if ok {
		p.status.Code = state.ExitStatus()
		if state.Signaled() {
			p.status.Signal = signalName(state.Signal())
		}
		p.status.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		p.status.MaxRSS = usage.Maxrss * rssUnit
	}
	// Whoever else has the pipes open gets this long. A writer of stdin that is
	// still blocked has nobody left to write to.
	deadline := p.status.Ended.Add(p.spec.DrainGrace)
	_ = p.stdout.SetReadDeadline(deadline)
	_ = p.stderr.SetReadDeadline(deadline)
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	close(p.gone)
}

// writeStdin ends by itself: the process read everything, closed the pipe, or died
// (wait closes our end). None of that is an error: the process decides what it reads.
func (p *Process) writeStdin(w *os.File) {
	defer crash.Guard()
	_, _ = w.Write(p.spec.Stdin)
	_ = w.Close()
}

func (p *Process) readStderr() {
	defer crash.Guard()
	var buf [4 << 10]byte
	for {
		n, err := p.stderr.Read(buf[:])
		p.told(true, buf[:n])
		if p.spec.Stderr == nil {
			p.tail.write(buf[:n])
		} else if n > 0 {
			p.tail.write(p.spec.Stderr(buf[:n]))
		}
		if err != nil {
			break
		}
	}
	if p.spec.Stderr != nil {
		p.tail.write(p.spec.Stderr(nil))
	}
	_ = p.stderr.Close()
	close(p.errEnded)
}

// readStdout delivers stdout and says whether it was given up.
func (p *Process) readStdout() (gaveUp bool) {
	s := newSplitter(&p.spec)
	defer s.release()
	defer func() { _ = p.stdout.Close() }()
	for {
		space := s.space()
		n, err := p.stdout.Read(space)
		if n > 0 {
			p.arrived()
			p.told(false, space[:n])
			s.feed(n)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			gaveUp = !p.drain(s)
		}
		s.end()
		return gaveUp
	}
}

// drain takes what is in the pipe now and says whether that was its end. The
// deadline may have passed while a callback was blocked, so everything the leader
// wrote may still be in there; what a survivor adds meanwhile is not waited for.
func (p *Process) drain(s *splitter) (ended bool) {
	conn, err := p.stdout.SyscallConn()
	if err != nil {
		return false
	}
	left := 0
	if conn.Control(func(fd uintptr) { left = pending(int(fd)) }) != nil {
		return false
	}
	for left >= 0 {
		// Behind the last byte one more is asked for: that tells an ended pipe from
		// an empty one.
		space := s.space()
		space = space[:min(len(space), max(left, 1))]
		n, rerr := 0, error(nil)
		if conn.Control(func(fd uintptr) { n, rerr = read(int(fd), space) }) != nil {
			return false
		}
		if n <= 0 {
			return n == 0 && rerr == nil
		}
		p.arrived()
		p.told(false, space[:n])
		s.feed(n)
		left -= n
	}
	return false
}

// told hands on what was read, as it came. What has just spoken may be about to give
// up, so it is looked at now.
func (p *Process) told(stderr bool, read []byte) {
	p.lookAtFiles()
	if p.spec.OnBytes != nil && len(read) > 0 {
		p.spec.OnBytes(stderr, read)
	}
}

func (p *Process) arrived() {
	if p.status.FirstByte.IsZero() {
		p.status.FirstByte = time.Now()
	}
}

func read(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
