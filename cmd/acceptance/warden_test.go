package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// promised is how long what a server left may live.
const promised = 2 * time.Second

// forest is a server with turns that run, each with shells that left its session,
// one of them without its marker and its parent.
type forest struct {
	*stage
	file string
	pids []int
}

func newForest(t *testing.T, turns int, settings ...setting) *forest {
	t.Helper()
	f := &forest{stage: newStage(t, settings...), file: filepath.Join(t.TempDir(), "pids")}
	note := " >/dev/null 2>&1 & echo $! >>'" + f.file + "'\n"
	f.scene("forest", "trap '' INT TERM\ncat >/dev/null\n"+printed(codexThread, codexTurn)+"echo $$ >>'"+f.file+"'\n"+
		"setsid sleep 300"+note+"env -i setsid sleep 300"+note+"sh -c 'env -i setsid sleep 300"+strings.ReplaceAll(strings.TrimSpace(note), "'", `"`)+"'\n"+
		"while :; do sleep 1; done\n")
	for range turns {
		f.http.say(f.newSession(play{adapter: "codex", scene: "forest"}), "go")
	}
	f.until(20*time.Second, "all trees stand", func() bool {
		b, err := os.ReadFile(f.file)
		f.pids = f.pids[:0]
		for _, word := range strings.Fields(string(b)) {
			pid, _ := strconv.Atoi(word)
			f.pids = append(f.pids, pid)
		}
		return err == nil && len(f.pids) == 4*turns
	})
	return f
}

func (f *forest) left() []int {
	return slices.DeleteFunc(slices.Clone(f.pids), func(pid int) bool { return !hostproc.Alive(pid) })
}

// felled kills the server; nothing of its trees lives when the promised time is over.
func (f *forest) felled() {
	f.t.Helper()
	begin := time.Now()
	f.Signal(syscall.SIGKILL)
	f.until(promised, "nothing of the trees lives", func() bool { return len(f.left()) == 0 && len(f.Marked()) == 0 })
	f.t.Logf("%d processes were gone after %s", len(f.pids), time.Since(begin).Round(time.Millisecond))
}

// The warden of a running server.
func (r *rig) warden() hostproc.Proc {
	r.t.Helper()
	var w hostproc.Proc
	r.until(time.Minute, "there is a warden", func() (ok bool) { w, ok = r.Warden(); return ok })
	return w
}

func TestKilledServerLeavesNoProcess(t *testing.T) {
	t.Parallel()
	f := newForest(t, 6)
	w := f.warden()
	f.felled()
	f.Kill() // which waits for its end
	f.until(promised, "the warden is gone", func() bool { return !hostproc.Alive(w.Pid) })
	if said := f.Log(); strings.Count(said, "the warden ended what the server left behind") != 1 {
		t.Errorf("the warden's line: %s", said)
	}
	f.Restart()
	f.well()
	f.Stop()
}

// A warden that is killed is followed by one that knows the same trees; a clean
// stop ends it.
func TestKilledWardenIsReplaced(t *testing.T) {
	t.Parallel()
	f := newForest(t, 2)
	first := f.warden()
	if err := syscall.Kill(first.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var second hostproc.Proc
	f.until(time.Minute, "another warden", func() (ok bool) {
		second, ok = f.Warden()
		return ok && second.Pid != first.Pid
	})
	if left := f.left(); len(left) != len(f.pids) {
		t.Errorf("only %v live on", left)
	}
	f.felled()
	f.Kill() // which waits for its end
	f.Restart()
	third := f.warden()
	f.Stop()
	if hostproc.Alive(second.Pid) || hostproc.Alive(third.Pid) {
		t.Error("a warden outlived its server's stop")
	}
}

// A server that is stopped, not killed, is waited for ten seconds; then its trees
// go. When it goes on, its turns have failed and it works.
func TestStoppedServerLosesItsTrees(t *testing.T) {
	t.Parallel()
	f := newForest(t, 2)
	first := f.warden()
	f.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	f.until(10*time.Second+promised+10*time.Second, "nothing of the trees lives", func() bool { return len(f.left()) == 0 })
	if took := time.Since(stopped); took < 8*time.Second {
		t.Errorf("it was given only %s", took)
	}
	f.Signal(syscall.SIGCONT)
	f.until(time.Minute, "it has a warden again", func() bool { w, ok := f.Warden(); return ok && w.Pid != first.Pid })
	f.well()
	f.Stop()
}

// The warden is small, holds nothing and outlives what is sent to the server's
// group.
func TestWardenIsSmall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	w := r.warden()
	proc := filepath.Join("/proc", strconv.Itoa(w.Pid))
	r.normalTurn()
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib := 0
	if _, err := fmt.Sscan(rest, &kib); err != nil || kib > 12<<10 {
		t.Errorf("it takes %d KiB: %v", kib, err)
	}
	t.Logf("the warden takes %d KiB", kib)
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if at, err := os.Readlink(filepath.Join(proc, "fd", f.Name())); err == nil && (strings.HasPrefix(at, "socket:") || strings.HasPrefix(at, r.StateDir)) {
			t.Errorf("it holds %s", at)
		}
	}
	env, err := os.ReadFile(filepath.Join(proc, "environ"))
	if err != nil || string(env) != "GOMAXPROCS=1\x00" {
		t.Errorf("its environment is %q %v", env, err)
	}
	if group, err := syscall.Getpgid(w.Pid); err != nil || group != w.Pid {
		t.Errorf("it is in the group %d: %v", group, err)
	}
	r.Stop()
	if hostproc.Alive(w.Pid) {
		t.Error("it outlived the server")
	}
}

// 300 turns leave neither the server nor its warden with more descriptors.
func TestTurnsLeaveNoDescriptorInTheWarden(t *testing.T) {
	t.Parallel()
	const turns = 300
	r := newRig(t, limit("max_processes", 400), limit("max_cpu_seconds", 60), limit("max_open_files", 200))
	w := r.warden()
	count := func() int {
		list, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(w.Pid), "fd"))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	r.normalTurn()
	base, held := count(), r.Usage()
	done := make(chan string, 3)
	for range 3 {
		go func() {
			for range turns / 3 {
				if a := r.http.do("POST", "/v1/responses", map[string]any{"model": "codex", "input": "[[say: hi]]"}); a.status != 200 || a.str("status") != "completed" {
					done <- fmt.Sprintf("%d %s", a.status, clip(a.body))
					return
				}
			}
			done <- ""
		}()
	}
	for range 3 {
		if wrong := <-done; wrong != "" {
			t.Error(wrong)
		}
	}
	r.Clean(time.Minute)
	if now := count(); now > base {
		t.Errorf("the warden has %d descriptors, it had %d", now, base)
	}
	r.Back(held, 8, 15*time.Second)
	if again, ok := r.Warden(); !ok || again.Pid != w.Pid {
		t.Errorf("the warden is another: %v, it was %v", again, w)
	}
	r.Stop()
}

// Limits reach real processes, and each is named on the wire.
func TestLimitsAreNamed(t *testing.T) {
	t.Parallel()
	s := newStage(t, limit("max_memory_bytes", "96MiB"), limit("max_cpu_seconds", 1), limit("max_processes", 40), limit("max_written_file_bytes", "1MiB"))
	s.scene("memory", "cat >/dev/null\nexec dd if=/dev/zero of=/dev/null bs=128M 2>/dev/null\n")
	s.scene("cpu", "cat >/dev/null\nwhile :; do :; done\n")
	s.scene("processes", "cat >/dev/null\ni=0; while [ $i -lt 60 ]; do setsid sleep 300 >/dev/null 2>&1 & i=$((i+1)); done; wait\n")
	s.scene("file", "cat >/dev/null\nexec head -c 3000000 /dev/zero > big\n")
	for scene, says := range map[string]string{
		"memory": "max_memory_bytes", "cpu": "max_cpu_seconds", "processes": "max_processes", "file": "max_written_file_bytes",
	} {
		e := s.plain(play{adapter: "codex", scene: scene})
		e.is(t, "failed", "", 15*time.Second)
		if !strings.Contains(e.message, says) {
			t.Errorf("%s: %q does not name %s", scene, e.message, says)
		}
	}
	s.well()
	s.Stop()
}
