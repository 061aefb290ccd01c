package process

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agenthost/agenthost/actors/crash"
)

// handle is a pidfd in the runtime's poller. It names one process for ever, which
// a pid does not.
type handle struct {
	pid int
	fd  *os.File // nil on a kernel without pidfds: waiting costs a thread then
}

func newHandle(pid, fd int) *handle {
	h := &handle{pid: pid}
	if fd >= 0 {
		h.fd = file(fd, "pidfd")
	}
	return h
}

// openHandle opens a process that is not necessarily our child.
func openHandle(pid int) (*handle, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	return newHandle(pid, fd), nil
}

func (h *handle) close() {
	if h.fd != nil {
		_ = h.fd.Close()
	}
}

// wait returns when the process, our child, is dead; it does not reap it. The
// question is put by waitid, not by poll, so that what it says is what reap finds.
func (h *handle) wait() {
	kind, id := unix.P_PID, h.pid
	question := unix.WEXITED | unix.WNOWAIT
	ask := func(fd uintptr) bool {
		for {
			var info unix.Siginfo
			err := unix.Waitid(kind, id, &info, question, nil)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return err != nil || info.Signo != 0 // an error: somebody else reaped it
		}
	}
	if h.fd != nil {
		conn, err := h.fd.SyscallConn()
		if err == nil {
			question |= unix.WNOHANG
			kind = unix.P_PIDFD
			err = conn.Read(func(fd uintptr) bool { id = int(fd); return ask(fd) })
		}
		if err == nil {
			return
		}
		kind, id, question = unix.P_PID, h.pid, unix.WEXITED|unix.WNOWAIT
	}
	ask(0)
}

// dead reports whether the process, our child that nobody reaped, is dead.
func (h *handle) dead() bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, h.pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
		if !errors.Is(err, unix.EINTR) {
			return err != nil || info.Signo != 0
		}
	}
}

// waitGone returns when the process, anybody's child, is dead or ctx has ended.
func (h *handle) waitGone(ctx context.Context) {
	if h.fd == nil {
		return // the next look will tell
	}
	conn, err := h.fd.SyscallConn()
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() {
		defer crash.Guard()
		_ = h.fd.SetReadDeadline(time.Unix(1, 0))
	})
	defer stop()
	_ = conn.Read(func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 0)
		return err == nil && n > 0
	})
}

// signal sends sig; ESRCH means the process is gone.
func (h *handle) signal(sig syscall.Signal) error {
	if h.fd == nil {
		return syscall.Kill(h.pid, sig)
	}
	conn, err := h.fd.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	if err := conn.Control(func(fd uintptr) { sent = unix.PidfdSendSignal(int(fd), sig, nil, 0) }); err != nil {
		return err
	}
	return sent
}
