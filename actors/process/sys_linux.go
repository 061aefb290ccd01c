package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agenthost/agenthost/actors/crash"
)

// rssUnit is the unit of rusage.maxrss.
const rssUnit = 1 << 10

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(s))
}

func access(dir string) bool { return unix.Access(dir, unix.X_OK) == nil }

func pipe() (r, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, os.NewSyscallError("pipe2", err)
	}
	return fds[0], fds[1], nil
}

// pending is how many bytes wait in a pipe.
func pending(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// spawn forks and executes. It runs in a locked thread whose signal mask is empty
// meanwhile: a mask is inherited through exec as well.
//
// The main thread is left out. The kernel gives it our orphans, so as long as it
// has no other children, an empty list of them says that there are no orphans.
func (p *Process) spawn(c *child) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.Gettid() == os.Getpid() {
		done := make(chan error, 1)
		go func() { // cannot run in this thread: we hold it
			defer crash.Guard()
			done <- p.spawn(c)
		}()
		return <-done
	}
	var none, old unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &old); err != nil {
		return os.NewSyscallError("sigmask", err)
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil) }()

	group := p.group.open()
	if group < 0 {
		p.ungroup()
	}
	defer func() { closeFD(group) }()
	limits := p.spec.rlimits()
	held := len(limits) > 0
	for try := 0; ; try++ {
		pidfd := -1
		pid, _, err := syscall.StartProcess(c.path, c.argv, &syscall.ProcAttr{
			Dir: c.dir, Env: c.env,
			Files: c.ends.files(),
			Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd, UseCgroupFD: group >= 0, CgroupFD: group, Ptrace: held},
		})
		if held && err != nil && !errors.Is(err, syscall.ETXTBSY) { // tracing may be forbidden
			held = false
			continue
		}
		if group >= 0 && inGroup(err) {
			closeFD(group)
			group = -1
			p.ungroup()
			continue
		}
		if errors.Is(err, syscall.ETXTBSY) && try < spawnRetries {
			time.Sleep(time.Millisecond << (2 * try))
			continue
		}
		if err != nil {
			return err
		}
		p.pid = pid
		p.files.bound(impose(pid, limits))
		if held {
			letGo(pid)
		}
		p.handle = newHandle(pid, pidfd)
		if e, ok := stat(pid); ok {
			p.start = e.start
		}
		return nil
	}
}

// ungroup gives the tree's group up.
func (p *Process) ungroup() {
	p.group.remove()
	p.group = nil
}

func closeFD(fd int) {
	if fd >= 0 {
		_ = syscall.Close(fd)
	}
}

// reap takes the status of a child that is dead.
func reap(pid int) (ws syscall.WaitStatus, ru syscall.Rusage, ok bool) {
	for {
		got, err := syscall.Wait4(pid, &ws, syscall.WNOHANG, &ru)
		if !errors.Is(err, syscall.EINTR) {
			return ws, ru, err == nil && got == pid
		}
	}
}

var subreaper atomic.Bool

// BecomeSubreaper makes this program the parent of every orphan below it, and the
// sweeps use that. It is process-wide, so only a program's main may call it. Orphans
// are reaped by the sweeps and by ReapOrphans.
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	subreaper.Store(true)
	return nil
}

// ignoredAtStart reads what is ignored now, which includes the signals that the
// runtime leaves alone and does not know to be ignored.
func ignoredAtStart() []os.Signal {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	_, rest, _ := bytes.Cut(status, []byte("\nSigIgn:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 64)
	if err != nil {
		return nil
	}
	var list []os.Signal
	for s := 1; s <= 64; s++ {
		if mask&(1<<(s-1)) != 0 {
			list = append(list, syscall.Signal(s))
		}
	}
	return list
}
