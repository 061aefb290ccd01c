package measure

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpu is the processor time that a living process used, its children apart, from its
// clock, which counts nanoseconds.
func cpu(pid int) time.Duration {
	const scheduled = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid<<3|scheduled), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// ownCPU is what this process used.
func ownCPU() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// childCPU is what those children of a process used that it has waited for, of this one
// for 0. It comes in hundredths of a second.
func childCPU(pid int) time.Duration {
	if pid == 0 {
		pid = os.Getpid()
	}
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // behind the name, which may have spaces
	f := strings.Fields(rest)
	if len(f) < 15 {
		return 0
	}
	user, err1 := strconv.Atoi(f[13])
	system, err2 := strconv.Atoi(f[14])
	if err1 != nil || err2 != nil {
		return 0
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// rss is a process' resident memory in bytes.
func rss(pid int) float64 {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 64)
			if err == nil {
				return n * 1024
			}
		}
	}
	return 0
}
