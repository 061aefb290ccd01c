package process

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// impose sets the limits that the kernel holds for each process. There is no way to
// hand them to a start, so the leader is started as traced by us, which stops it
// before its first instruction, and let go after this. Where tracing is forbidden
// it runs already, and what it may have started gets them too. It says how many open
// files the leader may have, 0 when that is not among them.
func impose(pid int, list []rlimit) (files int) {
	if len(list) == 0 {
		return 0
	}
	for todo, n := []int{pid}, 0; n < len(todo); n++ {
		for _, r := range list {
			lim := r.limit
			var old unix.Rlimit
			if unix.Prlimit(todo[n], r.resource, nil, &old) == nil {
				lim.Cur, lim.Max = min(lim.Cur, old.Max), min(lim.Max, old.Max)
			}
			err := unix.Prlimit(todo[n], r.resource, &lim, nil) // gone already, or another user's: nothing to bound
			if n == 0 && err == nil && r.resource == unix.RLIMIT_NOFILE {
				files = int(min(lim.Cur, math.MaxInt32))
			}
		}
		if children, _ := childrenOf(todo[n]); len(todo) < 1000 {
			todo = append(todo, children...)
		}
	}
	return files
}

// letGo ends the tracing of a process that was started by this thread.
func letGo(pid int) {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	// One that was killed meanwhile is the waiter's business.
	_ = syscall.PtraceDetach(pid)
}

type rlimit struct {
	resource int
	limit    unix.Rlimit
}

func (s *Spec) rlimits() (list []rlimit) {
	if s.NoCore {
		list = append(list, rlimit{unix.RLIMIT_CORE, unix.Rlimit{}})
	}
	l := &s.Limits
	if l.CPU > 0 {
		// SIGXCPU at the first, which says what it was about; SIGKILL at the second.
		s := uint64(math.Ceil(l.CPU.Seconds()))
		list = append(list, rlimit{unix.RLIMIT_CPU, unix.Rlimit{Cur: s, Max: s + 1}})
	}
	if l.FileSize > 0 {
		list = append(list, rlimit{unix.RLIMIT_FSIZE, unix.Rlimit{Cur: uint64(l.FileSize), Max: uint64(l.FileSize)}})
	}
	if l.OpenFiles > 0 {
		list = append(list, rlimit{unix.RLIMIT_NOFILE, unix.Rlimit{Cur: uint64(l.OpenFiles), Max: uint64(l.OpenFiles)}})
	}
	return list
}

// tick is the unit of the times in /proc/PID/stat: USER_HZ, which is 100 on every
// architecture that Go runs on.
const tick = 10 * time.Millisecond

func (u *Usage) add(e *entry) {
	u.Memory += memory(e.pid)
	u.CPU += time.Duration(e.ticks) * tick
	u.Processes += max(e.threads, 1)
}

// memory is what would be free without the process: its anonymous pages and those of
// shared memory. The pages of files, such as libraries, are the same ones in a
// hundred processes, and the kernel can take them back.
func memory(pid int) (bytes int64) {
	text := readAll("/proc/" + strconv.Itoa(pid) + "/status")
	for _, key := range []string{"\nRssAnon:", "\nRssShmem:"} {
		_, rest, _ := strings.Cut(string(text), key)
		word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if kib, err := strconv.ParseInt(word, 10, 64); err == nil {
			bytes += kib << 10
		}
	}
	return bytes
}

// Measure says what the trees of list take now, in the same order. It reads the
// process table, once for all of them. Those with a limit of open files are looked at
// for Status.FilesLimit as well.
func Measure(list []*Process) []Usage {
	out := make([]Usage, len(list))
	var all *census
	for i, p := range list {
		u := &out[i]
		if p.group != nil {
			for _, pid := range p.group.pids() {
				if e, ok := stat(pid); ok && !e.dead() {
					u.add(&e)
					p.files.look(pid)
				}
			}
			if cpu, ok := p.group.cpu(); ok {
				u.CPU = cpu
			}
			if p.group.memory {
				u.Memory = 0
			}
			if p.group.processes {
				u.Processes = 0
			}
		} else {
			if all == nil {
				all = looks.take()
			}
			live, _ := p.members(all)
			for j := range live {
				u.add(&live[j])
				p.files.look(live[j].pid)
			}
		}
		u.CPU = p.tree.burnt(u.CPU)
	}
	return out
}

// burnt is the most that was measured: what died took its time with it.
func (t *tree) burnt(now time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cpu = max(t.cpu, now)
	return t.cpu
}
