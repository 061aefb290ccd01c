package warden

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/process"
)

// Verb is the hidden verb of the binary that runs Main.
const Verb = "warden"

// dumpable is the variable with which a server, and so its warden, may be looked into.
const dumpable = "AGENTHOST_DUMPABLE"

// Bounds of the Keeper.
const (
	// maxPending lines may wait for the pipe; then the table is sent anew, to
	// another warden.
	maxPending = 16 << 10
	// pipeHolds is what a new pipe takes without a reader: a page at the least.
	pipeHolds = 4 << 10
	// writeLimit is how long a warden may not read.
	writeLimit = 5 * time.Second
	// byeLimit is how long one may take to end.
	byeLimit = 3 * time.Second
	// A warden that ended is followed by another one after a moment that doubles.
	firstPause, lastPause = 50 * time.Millisecond, 10 * time.Second
)

// Keeper is the server's side: it keeps a warden running and tells it everything.
// Its methods never wait for the warden. Two goroutines are its own: run, and one
// that waits for the warden's end; Close ends both.
type Keeper struct {
	log     *slog.Logger
	silence time.Duration

	mu      sync.Mutex
	trees   map[string]process.Tree
	hosts   []host
	pending []string // lines for the warden that runs
	lost    bool     // more than could be kept

	wake   chan struct{} // has room for one
	quit   chan struct{}
	closed sync.Once
	done   chan struct{}
	pid    int // of the warden that runs, under mu
}

// Start starts a warden. A silence of 0 is Silence.
func Start(log *slog.Logger, silence time.Duration) (*Keeper, error) {
	if silence <= 0 {
		silence = Silence
	}
	k := &Keeper{
		log: log, silence: silence, trees: map[string]process.Tree{},
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	r, err := k.start()
	if err != nil {
		return nil, err
	}
	go k.run(r)
	return k, nil
}

// Available reports whether this platform has one.
func Available() bool {
	_, err := binary()
	return err == nil
}

// Watch tells how the markers of a host begin and which control group is its own.
func (k *Keeper) Watch(prefix, group string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := host{prefix: prefix, group: group}
	k.hosts = append(k.hosts, h)
	k.say(watchLine(h))
}

// Planted tells of a tree that was started.
func (k *Keeper) Planted(t process.Tree) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trees[t.Marker] = t
	k.say(plantedLine(&t))
}

// Gone tells that nothing is left of a tree.
func (k *Keeper) Gone(marker string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.trees[marker]; !ok {
		return
	}
	delete(k.trees, marker)
	k.say(goneLine(marker))
}

func (k *Keeper) say(line string) {
	if len(k.pending) >= maxPending {
		k.lost = true
	} else {
		k.pending = append(k.pending, line)
	}
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Pid is the running warden's process id, 0 between two of them.
func (k *Keeper) Pid() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pid
}

// Close ends the warden, which first ends the trees that are left, if any.
func (k *Keeper) Close() {
	k.closed.Do(func() { close(k.quit) })
	<-k.done
}

// running is one warden.
type running struct {
	cmd   *exec.Cmd
	pipe  *os.File
	ended chan struct{}
}

// table is all there is to tell. It waits in the pipe when the warden begins, so
// that a server which is killed right then has told it.
func (k *Keeper) table(pipe *os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lost, k.pending = false, k.pending[:0]
	for _, h := range k.hosts {
		k.pending = append(k.pending, watchLine(h))
	}
	for _, t := range k.trees {
		k.pending = append(k.pending, plantedLine(&t))
	}
	var fits []byte
	for len(k.pending) > 0 && len(fits)+len(k.pending[0]) <= pipeHolds {
		fits, k.pending = append(fits, k.pending[0]...), k.pending[1:]
	}
	_, err := pipe.Write(fits)
	return err
}

// start starts a warden with the table as it is.
func (k *Keeper) start() (*running, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the warden: %w", err)
	}
	defer func() { _ = in.Close() }()
	if err := k.table(out); err != nil {
		return nil, errors.Join(fmt.Errorf("start the warden: %w", err), out.Close())
	}
	cmd := exec.Command(path)
	cmd.Args = []string{os.Args[0], Verb, k.silence.String(), strconv.Itoa(os.Getpid())}
	cmd.Env = []string{"GOMAXPROCS=1"}
	if v := os.Getenv(dumpable); v != "" {
		cmd.Env = append(cmd.Env, dumpable+"="+v)
	}
	cmd.Stdin, cmd.Stderr = in, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	process.ResetSignals()
	forget, err := process.Spared(func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, fmt.Errorf("start the warden: %w", err)
		}
		return cmd.Process.Pid, nil
	})
	if err != nil {
		return nil, errors.Join(err, out.Close())
	}
	r := &running{cmd: cmd, pipe: out, ended: make(chan struct{})}
	k.mu.Lock()
	k.pid = cmd.Process.Pid
	k.mu.Unlock()
	go func() {
		defer crash.Guard()
		_ = cmd.Wait() // how it ended does not matter
		forget()
		close(r.ended)
	}()
	return r, nil
}

// run keeps a warden running until Close.
func (k *Keeper) run(r *running) {
	defer crash.Guard()
	defer close(k.done)
	pause := firstPause
	for {
		if r != nil {
			began := time.Now()
			stopped := k.serve(r)
			k.end(r)
			if stopped {
				return
			}
			if time.Since(began) > lastPause {
				pause = firstPause
			}
			k.log.Warn("the warden ended; another one takes over", "pid", r.cmd.Process.Pid)
		}
		select {
		case <-k.quit:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
		var err error
		if r, err = k.start(); err != nil {
			k.log.Warn("weaker guarantee: no warden, so CLIs may outlive this server if it is killed", "error", err)
		}
	}
}

// serve tells one warden everything; true when it is to end for good.
func (k *Keeper) serve(r *running) (stopped bool) {
	t := time.NewTicker(min(beat, k.silence/5))
	defer t.Stop()
	for {
		if !k.write(r, "") {
			return false
		}
		select {
		case <-k.wake:
		case <-t.C:
			if k.watching() && !k.write(r, wordBeat+"\n") {
				return false
			}
		case <-r.ended:
			return false
		case <-k.quit:
			k.write(r, wordBye+"\n")
			return true
		}
	}
}

func (k *Keeper) watching() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.trees) > 0
}

// write sends what is pending, then more; false when this warden is of no use.
func (k *Keeper) write(r *running, more string) bool {
	k.mu.Lock()
	lost := k.lost
	var text []byte
	for _, line := range k.pending {
		text = append(text, line...)
	}
	k.pending = k.pending[:0]
	k.mu.Unlock()
	if text = append(text, more...); len(text) == 0 || lost {
		return !lost
	}
	_ = r.pipe.SetWriteDeadline(time.Now().Add(writeLimit))
	_, err := r.pipe.Write(text)
	return err == nil
}

// end closes the pipe and waits for the warden's end. One that is of no use is not
// to act on the end of the pipe.
func (k *Keeper) end(r *running) {
	select {
	case <-k.quit:
	default:
		_ = r.cmd.Process.Kill()
	}
	_ = r.pipe.Close()
	select {
	case <-r.ended:
	case <-time.After(byeLimit):
		_ = r.cmd.Process.Kill()
		<-r.ended
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pid = 0
}
