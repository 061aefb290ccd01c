package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// rssUnit is the unit of rusage.maxrss.
const rssUnit = 1

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(s))
}

func access(dir string) bool { return unix.Access(dir, unix.X_OK) == nil }

func pipe() (r, w int, err error) {
	var fds [2]int
	syscall.ForkLock.RLock() // no fork between the making and the closing on exec
	defer syscall.ForkLock.RUnlock()
	if err := syscall.Pipe(fds[:]); err != nil {
		return -1, -1, os.NewSyscallError("pipe", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return fds[0], fds[1], nil
}

// pending bounds what is taken from a pipe that is given up: it holds no more.
func pending(int) int { return readSize }

// spawn forks and executes. The mask is not emptied here.
func (p *Process) spawn(c *child) error {
	for try := 0; ; try++ {
		pid, _, err := syscall.StartProcess(c.path, c.argv, &syscall.ProcAttr{
			Dir: c.dir, Env: c.env,
			Files: c.ends.files(),
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
		if errors.Is(err, syscall.ETXTBSY) && try < spawnRetries {
			time.Sleep(time.Millisecond << (2 * try))
			continue
		}
		if err != nil {
			return err
		}
		p.pid, p.handle = pid, &handle{pid: pid}
		return nil
	}
}

// handle waits on a kqueue of its own, in a thread of its own.
type handle struct{ pid int }

func (h *handle) wait() {
	kq, err := unix.Kqueue()
	if err != nil {
		return // reap blocks instead
	}
	defer func() { _ = unix.Close(kq) }()
	unix.CloseOnExec(kq)
	change := []unix.Kevent_t{{}}
	unix.SetKevent(&change[0], h.pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change[0].Fflags = unix.NOTE_EXIT
	events := make([]unix.Kevent_t, 1)
	for {
		_, err := unix.Kevent(kq, change, events, nil)
		if !errors.Is(err, syscall.EINTR) {
			return // an error is ESRCH: it is dead already
		}
	}
}

func (*handle) close() {}

// dead is not told here before the process is reaped.
func (*handle) dead() bool { return false }

// reap takes the status of a child that is dead, or just about to be.
func reap(pid int) (ws syscall.WaitStatus, ru syscall.Rusage, ok bool) {
	for {
		got, err := syscall.Wait4(pid, &ws, 0, &ru)
		if !errors.Is(err, syscall.EINTR) {
			return ws, ru, err == nil && got == pid
		}
	}
}

// tree is nothing here: only the group is known.
type tree struct{}

// Record does nothing here.
func (p *Process) Record() {}

// Signal signals the group.
func (p *Process) Signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.pid, sig)
	}
}

// SignalTree signals the group; nothing else is known here.
func (p *Process) SignalTree(sig syscall.Signal) { p.Signal(sig) }

// Sweep kills what is left of the group and waits until it is gone. The group
// number is not compared with anything: it stays taken while a member lives.
func (p *Process) Sweep(ctx context.Context) (killed int) {
	p.sweeping.Lock()
	defer p.sweeping.Unlock()
	defer table.swept(p)
	for syscall.Kill(-p.pid, syscall.SIGKILL) == nil {
		select {
		case <-p.gone:
			killed = 1 // at least
		default:
		}
		select {
		case <-ctx.Done():
			return killed
		case <-time.After(5 * time.Millisecond):
		}
	}
	return killed
}

// SweepPart can tell nobody from anybody here.
func (p *Process) SweepPart(context.Context, string) (killed int, known bool) { return 0, false }

// Resident is not known here.
func (p *Process) Resident() int64 { return 0 }

// BecomeSubreaper is not available here.
func BecomeSubreaper() error { return fmt.Errorf("become subreaper: %w", errors.ErrUnsupported) }

// ReapOrphans has nothing to do here.
func ReapOrphans() int { return 0 }

// SweepMarked is not available here: other processes' environments cannot be read.
func SweepMarked(string, func(marker string) bool) (int, error) {
	return 0, fmt.Errorf("sweep marked: %w", errors.ErrUnsupported)
}

func ignoredAtStart() []os.Signal { return nil }
