package process

import (
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// fileWatch notes when a process of a tree was seen with as many open files as it may
// have. The kernel answers EMFILE to nobody but the caller and keeps no note of it, and
// the dead have no descriptors left to count; so the living are looked at: by Measure,
// and whenever the leader says something.
type fileWatch struct {
	mu    sync.Mutex
	limit int // 0: none
	full  time.Time
}

// blamed is how long before its end a tree must have been seen at its limit for that to
// be told of it: long enough for a CLI to tidy up and go, and not so long that one which
// coped is told of it when it dies of something else.
const blamed = 5 * time.Second

func (w *fileWatch) bound(limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = limit
}

// look counts the open files of one process. One less than the limit counts as well: a
// program that was refused two of them gives the first one back.
func (w *fileWatch) look(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit > 0 && openFiles(pid) >= w.limit-1 {
		w.full = time.Now()
	}
}

// near says that a process was seen at its limit shortly before end.
func (w *fileWatch) near(end time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.full.IsZero() && end.Sub(w.full) < blamed
}

func (w *fileWatch) watches() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.limit > 0
}

// openFiles is how many descriptors a process has, 0 if it is dead or may not be asked.
func openFiles(pid int) int {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil || st.Size > 0 { // Linux 6.2 and later
		return int(st.Size)
	}
	d, err := os.Open(dir)
	if err != nil {
		return 0
	}
	names, _ := d.Readdirnames(-1)
	_ = d.Close()
	return len(names)
}

// family bounds the processes that are looked at because one of them spoke.
const family = 16

// lookAtFiles looks at the leader and what is below it, if it has a limit of open files.
func (p *Process) lookAtFiles() {
	if !p.files.watches() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped { // the number may be another's
		return
	}
	for todo, n := []int{p.pid}, 0; n < len(todo); n++ {
		p.files.look(todo[n])
		if children, _ := childrenOf(todo[n]); len(todo) < family {
			todo = append(todo, children...)
		}
	}
}
