package hostproc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Proc is a process as /proc tells.
type Proc struct {
	Pid, Parent int
	State       byte   // R S D T Z ...
	Start       uint64 // clock ticks after boot: with Pid, an identity
	Command     string // argv, else the short name in brackets
	Marker      string // AGENTHOST_OWNER, "" without one
}

func (p Proc) String() string {
	return fmt.Sprintf("%d %c %s", p.Pid, p.State, p.Command)
}

// Signal signals the process if it still is the one that was seen, and says so.
func (p Proc) Signal(sig syscall.Signal) bool {
	now, ok := read(p.Pid)
	return ok && now.Start == p.Start && syscall.Kill(p.Pid, sig) == nil
}

// Alive says whether a process with this id exists and is no zombie.
func Alive(pid int) bool {
	p, ok := read(pid)
	return ok && p.State != 'Z'
}

const markerVar = "AGENTHOST_OWNER="

func read(pid int) (Proc, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Proc{}, false
	}
	// pid (name) state ppid ...; the name may hold anything.
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return Proc{}, false
	}
	f := strings.Fields(string(stat[end+1:]))
	if len(f) < 20 {
		return Proc{}, false
	}
	p := Proc{Pid: pid, State: f[0][0]}
	p.Parent, _ = strconv.Atoi(f[1])
	p.Start, _ = strconv.ParseUint(f[19], 10, 64)
	if argv, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && len(argv) > 0 {
		p.Command = strings.ReplaceAll(strings.TrimRight(string(argv), "\x00"), "\x00", " ")
	} else {
		p.Command = "[" + string(stat[open+1:end]) + "]"
	}
	if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil {
		for v := range strings.SplitSeq(string(env), "\x00") {
			if mark, ok := strings.CutPrefix(v, markerVar); ok {
				p.Marker = mark
			}
		}
	}
	return p, true
}

// Processes lists all of the machine that can be read.
func Processes() []Proc {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []Proc
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := read(pid); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// Ignored is the set of signals that a process ignores, a bit for each from SIGHUP on.
func Ignored(pid int) uint64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if v, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			set, _ := strconv.ParseUint(strings.TrimSpace(v), 16, 64) // the kernel writes hex
			return set
		}
	}
	return 0
}

// Marked lists the living processes that carry the marker of this state directory,
// of whatever server start.
func (h *Host) Marked() []Proc {
	id, err := os.ReadFile(filepath.Join(h.StateDir, "id"))
	if err != nil {
		return nil // never started
	}
	prefix := strings.TrimSpace(string(id)) + "/"
	var out []Proc
	for _, p := range Processes() {
		if p.State != 'Z' && p.Pid != h.Pid && strings.HasPrefix(p.Marker, prefix) {
			out = append(out, p)
		}
	}
	return out
}

// warden says that the process is the server's watchman, a part of the server.
func (p Proc) warden() bool {
	f := strings.Fields(p.Command)
	return len(f) > 1 && f[1] == "warden" // whatever the server's file is called
}

// Warden is the server's watchman, false when there is none.
func (h *Host) Warden() (Proc, bool) {
	for _, p := range Processes() {
		if p.Parent == h.Pid && p.warden() {
			return p, true
		}
	}
	return Proc{}, false
}

// Descendants lists the server's children and theirs, zombies included, without its
// warden.
func (h *Host) Descendants() []Proc {
	all := slices.DeleteFunc(Processes(), Proc.warden)
	in := map[int]bool{h.Pid: true}
	var out []Proc
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if in[p.Parent] && !in[p.Pid] {
				in[p.Pid], grew = true, true
				out = append(out, p)
			}
		}
	}
	return out
}

// Zombies lists the dead descendants that nobody waited for.
func (h *Host) Zombies() []Proc {
	var out []Proc
	for _, p := range h.Descendants() {
		if p.State == 'Z' {
			out = append(out, p)
		}
	}
	return out
}

// Clean waits until nothing that the server started is left, alive or dead.
func (h *Host) Clean(timeout time.Duration) {
	h.tb.Helper()
	var left []Proc
	if !until(timeout, func() bool {
		left = append(h.Marked(), h.Descendants()...)
		return len(left) == 0
	}) {
		h.tb.Errorf("left after %s: %v", timeout, left)
	}
}

// Descriptors counts the server's open files.
func (h *Host) Descriptors() int {
	entries, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(h.Pid), "fd"))
	if err != nil {
		return -1
	}
	return len(entries)
}

// RSS is the server's resident memory in bytes.
func (h *Host) RSS() int64 { return h.status("VmRSS:") }

// PeakRSS is the most that RSS was since the start or ResetPeak.
func (h *Host) PeakRSS() int64 { return h.status("VmHWM:") }

// ResetPeak makes PeakRSS count from now.
func (h *Host) ResetPeak() {
	_ = os.WriteFile(filepath.Join("/proc", strconv.Itoa(h.Pid), "clear_refs"), []byte("5"), 0)
}

// status reads a kB line of /proc/PID/status; -1 when there is none.
func (h *Host) status(key string) int64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(h.Pid), "status"))
	if err != nil {
		return -1
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if v, ok := strings.CutPrefix(line, key); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
			if err == nil {
				return n << 10
			}
		}
	}
	return -1
}

// until asks for a condition until it holds or the time is over.
func until(timeout time.Duration, ok func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(timeout)
	for {
		if ok() {
			return true
		}
		select {
		case <-tick.C:
		case <-deadline:
			return ok()
		}
	}
}
