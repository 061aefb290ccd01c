package warden

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agenthost/agenthost/actors/process"
)

// endLimit bounds the end of everything; it is done in less than a second unless
// something cannot be killed.
const endLimit = 5 * time.Second

// Main is the warden's whole life; args are those behind the verb: the silence and
// the server's pid.
func Main(args []string) int {
	silence, server := Silence, 0
	if len(args) == 2 {
		if d, err := time.ParseDuration(args[0]); err == nil && d > 0 {
			silence = d
		}
		server, _ = strconv.Atoi(args[1])
	}
	if st, err := os.Stdin.Stat(); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		fmt.Fprintln(os.Stderr, "agenthost: the verb warden is for a server's own use")
		return 2
	}
	settle()
	w := &watch{guard: newGuard(silence, now()), server: server, parent: os.Getppid, adopted: process.Adopted}
	why := w.run()
	if why == "" {
		return 0
	}
	r := w.remains()
	r.Alive = w.silent // a parent that is just dying is still one, so that does not tell
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), endLimit)
	defer cancel()
	found, left := r.End(ctx)
	report(w.server, why, len(r.Trees), found, left, time.Since(begin))
	return 0
}

// unheard are the signals that the warden does not hear.
var unheard = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGTSTP, syscall.SIGTTOU, syscall.SIGTTIN, syscall.SIGALRM, syscall.SIGPIPE,
}

// settle makes a quiet bystander of this process.
func settle() {
	signal.Ignore(unheard...)
	_ = os.Chdir("/") // so that no mount is held
	if os.Getenv(dumpable) == "" {
		_ = process.Conceal() // it has no secrets; what it watches is nobody's business
	}
	closeInherited()
	debug.SetGCPercent(20)
	debug.FreeOSMemory()
	dropPages()
}

// closeInherited closes what a parent left open without meaning us: our own
// descriptors are closed on exec, every one of them.
func closeInherited() {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, n := range names {
		fd, err := strconv.Atoi(n.Name())
		if err != nil || fd < 3 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
}

// dropPages gives back the pages of the binary. The start of a large program has
// touched most of them, and the warden needs few: those come back by themselves. A
// mapping with a page of its own, such as one that a loader has relocated and then
// made read-only, would not come back as it was and is left alone.
func dropPages() {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var from, to uint64
	for line := range bytes.Lines(maps) {
		f := bytes.Fields(line)
		switch {
		case len(f) >= 5 && bytes.IndexByte(f[0], '-') > 0:
			if from, to = 0, 0; len(f) >= 6 && bytes.HasPrefix(f[1], []byte("r-")) && f[5][0] == '/' {
				from, to = span(f[0])
			}
		case len(f) >= 2 && string(f[0]) == "Anonymous:" && string(f[1]) == "0" && to > from:
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED)
		}
	}
}

// span reads a mapping's addresses, 0 and 0 if they are none.
func span(text []byte) (from, to uint64) {
	left, right, _ := strings.Cut(string(text), "-")
	from, lerr := strconv.ParseUint(left, 16, 64)
	to, rerr := strconv.ParseUint(right, 16, 64)
	if lerr != nil || rerr != nil {
		return 0, 0
	}
	return from, to
}

// binary is what runs here, even if the file was replaced since.
func binary() (string, error) { return "/proc/self/exe", nil }

// now is CLOCK_BOOTTIME.
func now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// watch listens to one server.
type watch struct {
	*guard
	server  int
	parent  func() int // of this process
	adopted func(of int) map[int]uint64
	orphans map[int]uint64
	sampled time.Duration // when they were looked for
	silent  bool          // the server is there and says nothing
	rest    []byte        // of an unfinished line
}

// run returns why the server's trees are to be ended, "" if there is no reason.
func (w *watch) run() string {
	var buf [4 << 10]byte
	for {
		pause := -1
		if p := w.pause(); p >= 0 {
			pause = int(p.Milliseconds())
		}
		fds := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
		n, err := unix.Poll(fds, pause)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return "the pipe failed"
		}
		if n > 0 {
			n, err := unix.Read(0, buf[:])
			switch {
			case n > 0:
				w.word(now())
				w.take(buf[:n])
			case err == nil && w.bye && len(w.trees) == 0:
				return ""
			case err == nil:
				return "the server is gone"
			case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN):
				return "the pipe failed"
			}
			if n > 0 {
				w.look()
				continue // more may be there, and it counts before the clock does
			}
		}
		if w.deaf(now()) {
			w.silent = true
			return fmt.Sprintf("the server has said nothing for %s", w.silence)
		}
		w.look()
	}
}

// look notes which orphans the server has adopted, unless it did a moment ago. Once
// the server is gone another is our parent, and its children are none of our business.
func (w *watch) look() {
	if len(w.trees) == 0 {
		w.orphans = nil
		return
	}
	if w.parent() != w.server {
		return
	}
	if at := now(); at-w.sampled >= look {
		w.sampled, w.orphans = at, w.adopted(w.server)
	}
}

// take hears every whole line.
func (w *watch) take(p []byte) {
	w.rest = append(w.rest, p...)
	for {
		end := bytes.IndexByte(w.rest, '\n')
		if end < 0 {
			return
		}
		w.hear(string(w.rest[:end]))
		w.rest = append(w.rest[:0], w.rest[end+1:]...)
	}
}

func (w *watch) remains() *process.Remains {
	r := &process.Remains{Orphans: w.orphans}
	for _, h := range w.hosts {
		r.Prefixes = append(r.Prefixes, h.prefix)
		if h.group != "" {
			r.Groups = append(r.Groups, h.group)
		}
	}
	for _, t := range w.trees {
		r.Trees = append(r.Trees, t)
	}
	return r
}

// report is the one line. Whoever reads it may be gone, or not reading.
func report(server int, why string, trees, found, left int, took time.Duration) {
	if found == 0 && left == 0 {
		return
	}
	fds := []unix.PollFd{{Fd: 2, Events: unix.POLLOUT}}
	for {
		n, err := unix.Poll(fds, 200)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n < 1 || err != nil {
			return
		}
		break
	}
	_, _ = unix.Write(2, fmt.Appendf(nil, "time=%s level=WARN msg=\"the warden ended what the server left behind\" server=%d reason=%q trees=%d processes=%d left=%d ms=%d\n",
		time.Now().Format("2006-01-02T15:04:05.000Z07:00"), server, why, trees, found, left, took.Milliseconds()))
}
