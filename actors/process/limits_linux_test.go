package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKernelLimitsOfEachProcess(t *testing.T) {
	t.Parallel()
	t.Run("cpu", func(t *testing.T) {
		t.Parallel()
		spec := sh("while :; do :; done")
		spec.Limits.CPU = time.Second
		if s := start(t, spec).wait(t); s.Signal != "SIGXCPU" || s.CPU < 500*time.Millisecond {
			t.Errorf("%+v", s)
		}
	})
	t.Run("cpu of a program that ignores the signal", func(t *testing.T) {
		t.Parallel()
		spec := sh("trap '' XCPU; while :; do :; done")
		spec.Limits.CPU = time.Second
		if s := start(t, spec).wait(t); s.Signal != "SIGKILL" || s.CPU < 500*time.Millisecond {
			t.Errorf("%+v", s)
		}
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "f")
		spec := sh("exec head -c 10000000 /dev/zero > '" + file + "'")
		spec.Limits.FileSize = 1 << 20
		s := start(t, spec).wait(t)
		if st, err := os.Stat(file); err != nil || st.Size() != 1<<20 || s.Signal != "SIGXFSZ" {
			t.Errorf("%+v %v %v", s, st, err)
		}
	})
	t.Run("open files, of a child too", func(t *testing.T) {
		t.Parallel()
		spec := sh("sh -c 'ulimit -n; ulimit -Hn'; exit 0")
		spec.Limits.OpenFiles = 37
		r := start(t, spec)
		r.wait(t)
		if r.text() != "37\n37" {
			t.Errorf("%q", r.text())
		}
	})
	t.Run("no more than the machine allows", func(t *testing.T) {
		t.Parallel()
		spec := sh("ulimit -Hn")
		spec.Limits.OpenFiles = 1 << 40
		r := start(t, spec)
		if s := r.wait(t); s.Code != 0 || len(r.text()) > 12 {
			t.Errorf("%+v %q", s, r.text())
		}
	})
}

// helpHoard opens files until it is refused, or as many as it is told, speaks of other
// things, more than its pipe holds, and dies without saying why.
func helpHoard() int {
	most, _ := strconv.Atoi(os.Getenv("HOARD"))
	for n := 0; most == 0 || n < most; n++ {
		if _, err := syscall.Open(os.DevNull, syscall.O_RDONLY, 0); err != nil {
			break
		}
	}
	if os.Getenv("SILENT") != "" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		return 1
	}
	line := []byte(strings.Repeat("x", 300) + "\n")
	for range 4000 {
		_, _ = syscall.Write(1, line)
	}
	return 1
}

// What dies with all its open files in use is told of, if it was seen so: when its owner
// measured, or because it spoke.
func TestOpenFilesAreSeen(t *testing.T) {
	t.Parallel()
	t.Run("by measuring", func(t *testing.T) {
		t.Parallel()
		spec := helper(t, "hoard", "SILENT=1")
		spec.Limits.OpenFiles = 32
		r := start(t, spec)
		if !r.Watched() {
			t.Error("nobody would look")
		}
		eventually(t, "it is seen", func() bool {
			Measure([]*Process{r.Process})
			return r.files.near(time.Now())
		})
		r.Signal(syscall.SIGCONT)
		if s := r.wait(t); s.Code != 1 || !s.FilesLimit {
			t.Errorf("%+v", s)
		}
	})
	for name, c := range map[string]struct {
		script string
		limit  int
		want   bool
	}{
		"as it speaks":      {"exec %s", 32, true},
		"of a child":        {"%s; exit 1", 32, true},
		"some were left":    {"HOARD=20 exec %s", 64, false},
		"there is no limit": {"HOARD=20 exec %s", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := helper(t, "hoard")
			spec.Path, spec.Args = "/bin/sh", []string{"-c", fmt.Sprintf(c.script, os.Args[0])}
			spec.Limits.OpenFiles = c.limit
			r := start(t, spec)
			if s := r.wait(t); s.Code != 1 || s.FilesLimit != c.want || len(s.Stderr) > 0 || len(r.text()) < 1_000_000 {
				t.Errorf("%+v, %d bytes", s, len(r.text()))
			}
		})
	}
}

func TestOpenFilesOfNobody(t *testing.T) {
	t.Parallel()
	if n := openFiles(1 << 30); n != 0 {
		t.Errorf("%d", n)
	}
	if n := openFiles(os.Getpid()); n < 3 {
		t.Errorf("%d", n)
	}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	// dd keeps a buffer of 64 MiB; one child leaves the session.
	big := start(t, sh("sleep 300 & setsid sleep 300 & echo on; exec dd if=/dev/zero of=/dev/null bs=64M 2>/dev/null"))
	small := start(t, sh("echo on; sleep 300"))
	big.first(t)
	small.first(t)
	list := []*Process{big.Process, small.Process}
	var first []Usage
	eventually(t, "what is used is seen", func() bool {
		first = Measure(list)
		return first[0].Memory > 60<<20 && first[0].Processes == 3 && first[0].CPU > 0 && first[1].Processes == 2 && first[1].Memory < 30<<20
	})
	Kill.Do(big.Process)
	big.wait(t)
	big.Sweep(t.Context())
	if u := Measure(list)[0]; u.Memory != 0 || u.Processes != 0 || u.CPU < first[0].CPU {
		t.Errorf("of a dead tree: %+v, it was %+v", u, first[0])
	}
}

func TestMeasureInAGroup(t *testing.T) {
	c := realCgroups(t)
	spec := sh("echo on; env -i setsid dd if=/dev/zero of=/dev/null bs=64M 2>/dev/null & wait")
	spec.Cgroups, spec.Limits = c, Limits{Memory: 1 << 40, Processes: 1 << 20, CPU: time.Hour}
	r := start(t, spec)
	r.first(t)
	memory, processes := r.group.holds()
	eventually(t, "what is used is seen", func() bool {
		u := Measure([]*Process{r.Process})[0]
		return (memory || u.Memory > 60<<20) && (processes || u.Processes == 2) && u.CPU > 0
	})
	if !r.Watched() {
		t.Error("CPU time is not looked at")
	}
}

func TestRemainsEnd(t *testing.T) {
	t.Parallel()
	polite := start(t, sh("trap 'echo bye; exit 0' INT; echo on; while :; do sleep 0.05; done"))
	stubborn := start(t, sh("trap '' INT TERM; setsid sleep 300 & echo $!; while :; do sleep 1; done"))
	wiped := start(t, sh("env -i setsid sleep 300 & echo $!; wait"))
	other := start(t, sh("echo on; sleep 300"))
	for _, r := range []*run{polite, other} {
		r.first(t)
	}
	tool, lone := atoi(t, stubborn.first(t)), atoi(t, wiped.first(t))
	e, ok := stat(lone)
	if !ok {
		t.Fatal("it is gone")
	}
	left := &Remains{Orphans: map[int]uint64{lone: e.start, other.pid: 1}} // a start time that is another's
	for _, r := range []*run{polite, stubborn} {
		left.Trees = append(left.Trees, Tree{Marker: r.spec.Marker, Pid: r.pid, Start: r.start})
	}
	begin := time.Now()
	found, more := left.End(t.Context())
	if took := time.Since(begin); found < 4 || more != 0 || took > 10*time.Second {
		t.Errorf("%d found, %d left, %s", found, more, took)
	}
	if !strings.Contains(polite.text(), "bye") && polite.wait(t).Signal != "" {
		t.Error("the polite one was not asked")
	}
	if running(tool) || running(lone) || !running(other.pid) {
		t.Errorf("tool %v, lone %v, other %v", running(tool), running(lone), running(other.pid))
	}
}

// By markers alone, and not this program, which has one of that kind in a nested run.
func TestRemainsByMarker(t *testing.T) {
	t.Parallel()
	spec := sh("setsid sleep 300 & echo $!; wait")
	spec.Marker = "remains-" + t.Name() + "/boot/turn"
	r := start(t, spec)
	tool := atoi(t, r.first(t))
	left := &Remains{Prefixes: []string{"remains-" + t.Name() + "/boot/"}}
	if found, more := left.End(t.Context()); found != 2 || more != 0 || running(tool) {
		t.Errorf("%d found, %d left", found, more)
	}
	// Of a program that goes on, only what was there at the first look is ended.
	spec.Args = []string{"-c", "trap 'setsid sleep 300 & echo $!; exit' INT; echo on; while :; do sleep 0.02; done"}
	old := start(t, spec)
	old.first(t)
	stopped := &Remains{Alive: true, Prefixes: left.Prefixes}
	if found, more := stopped.End(t.Context()); found == 0 || more != 0 || stopped.Prefixes != nil || running(old.pid) {
		t.Errorf("%d found, %d left, %v", found, more, stopped.Prefixes)
	}
	if found, more := (&Remains{}).End(t.Context()); found != 0 || more != 0 {
		t.Errorf("nothing to end: %d %d", found, more)
	}
}
