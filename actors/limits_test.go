package actors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// Each limit of the machine ends the turn under its own name, with and without a
// control group, set for the host and for the agent alone.
func TestLimitsOfTheMachine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("limits are Linux's")
	}
	const eats = "exec dd if=/dev/zero of=/dev/null bs=96M 2>/dev/null"
	for name, c := range map[string]struct {
		prompt string
		limits spec.Limits
		code   event.Code
		says   string
	}{
		"memory":               {"setsid sh -c '" + eats + "' & wait", spec.Limits{MemoryBytes: 64 << 20}, event.MemoryLimit, "max_memory_bytes"},
		"memory when settled":  {"echo hi; echo '#final'; " + eats, spec.Limits{MemoryBytes: 64 << 20}, "", ""},
		"cpu":                  {"while :; do :; done", spec.Limits{CPU: time.Second}, event.CPULimit, "max_cpu_seconds"},
		"cpu of all together":  {"for i in 1 2 3 4; do (while :; do :; done) & done; wait", spec.Limits{CPU: 2 * time.Second}, event.CPULimit, "max_cpu_seconds"},
		"processes":            {"for i in 1 2 3 4 5 6 7 8 9; do setsid sleep 300 & done; wait", spec.Limits{Processes: 5}, event.ProcessLimit, "max_processes"},
		"file":                 {"exec head -c 3000000 /dev/zero > f", spec.Limits{FileBytes: 1 << 20}, event.FileLimit, "max_written_file_bytes"},
		"open files, as said":  {"echo 'Error: EMFILE: too many open files' >&2; exit 1", spec.Limits{OpenFiles: 64}, event.CLICrashed, "max_open_files"},
		"open files, unsaid":   {hoardVar + "=0 exec " + os.Args[0], spec.Limits{OpenFiles: 32}, event.OpenFilesLimit, "max_open_files"},
		"open files, not full": {hoardVar + "=20 exec " + os.Args[0], spec.Limits{OpenFiles: 64}, event.CLICrashed, "exit status 1"},
		"output of this agent": {"while :; do echo 0123456789012345678901234567890123456789; done", spec.Limits{OutputBytes: 64 << 10}, event.OutputLimit, "65536"},
		"none reached":         {"echo hi", spec.Limits{CPU: time.Minute, MemoryBytes: 1 << 30, Processes: 500, FileBytes: 1 << 30, OpenFiles: 256}, "", ""},
	} {
		for _, where := range []string{"host", "agent"} {
			if where == "host" && name == "output of this agent" {
				continue
			}
			t.Run(name+" of the "+where, func(t *testing.T) {
				t.Parallel()
				dir, l, a := t.TempDir(), quick(), spec.Agent{Adapter: "script"}
				if where == "host" {
					l.MaxCPU, l.MaxMemoryBytes, l.MaxProcesses = c.limits.CPU, c.limits.MemoryBytes, c.limits.Processes
					l.MaxWritten, l.MaxOpenFiles = c.limits.FileBytes, c.limits.OpenFiles
				} else {
					a.Limits = c.limits
				}
				l.Linger = 30 * time.Second // what is settled is ended by its limit, not by this
				h := startedIn(t, dir, l, memory.New(), with(script{}), cgroups(t, where == "agent"))
				p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: a, Input: input(c.prompt)})
				must(t, err)
				end := outcome(t, follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID)))
				switch {
				case c.code == "":
					if end.Outcome != event.Completed {
						t.Errorf("%s %v", end.Outcome, end.Failure)
					}
				case end.Failure == nil || end.Failure.Code != c.code || !strings.Contains(end.Failure.Message, c.says):
					t.Errorf("%s %v, want %s naming %q", end.Outcome, end.Failure, c.code, c.says)
				}
				nothingLeft(t, h, dir)
			})
		}
	}
}

// hoardVar makes of the test's program a CLI that opens so many files, or with 0 as many
// as it gets, says more than its pipe holds, and dies without a word of them.
const hoardVar = "ACTORS_TEST_HOARD"

func hoard(most string) int {
	n, _ := strconv.Atoi(most)
	var kept []*os.File
	for n == 0 || len(kept) < n {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		kept = append(kept, f)
	}
	for range 4000 {
		fmt.Println(strings.Repeat("x", 300))
	}
	runtime.KeepAlive(kept)
	return 1
}

// cgroups is an option with those of the machine, if it has any and they are wanted.
func cgroups(t *testing.T, wanted bool) actors.Option {
	t.Helper()
	g, err := process.FindCgroups()
	if err != nil || !wanted {
		return actors.WithCgroups(nil)
	}
	return actors.WithCgroups(g)
}

// notebook is a warden that writes down what it is told.
type notebook struct {
	mu     sync.Mutex
	prefix string
	trees  map[string]process.Tree
	told   int
}

func (n *notebook) Watch(prefix, _ string) { n.mu.Lock(); defer n.mu.Unlock(); n.prefix = prefix }

func (n *notebook) Planted(t process.Tree) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trees[t.Marker] = t
	n.told++
}

func (n *notebook) Gone(marker string) { n.mu.Lock(); defer n.mu.Unlock(); delete(n.trees, marker) }

func TestWardenIsToldOfEveryTree(t *testing.T) {
	t.Parallel()
	n := &notebook{trees: map[string]process.Tree{}}
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New(), with(script{}), actors.WithWarden(n))
	p := create(t, h, "echo $$; sleep 300")
	follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	eventually(t, "the tree is told", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		for marker, tree := range n.trees {
			stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(tree.Pid), "stat"))
			return strings.HasPrefix(marker, n.prefix) && strings.HasSuffix(marker, p.Turns[0].ID.Hex()) &&
				(runtime.GOOS != "linux" || err == nil && strings.Contains(string(stat), " "+strconv.FormatUint(tree.Start, 10)+" "))
		}
		return false
	})
	cancelSession(t, h, p.Session.ID)
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	eventually(t, "its end is told", func() bool { n.mu.Lock(); defer n.mu.Unlock(); return len(n.trees) == 0 && n.told == 1 })
	nothingLeft(t, h, dir)
	said := strings.Join(h.Guarantees(), "\n")
	if !strings.Contains(said, "(warden)") || strings.Contains(strings.Join(started(t, quick(), memory.New(), with(script{})).Guarantees(), "\n"), "(warden)") {
		t.Errorf("guarantees:\n%s", said)
	}
}

// What left group, session, parents and environment behind is still in the turn's
// control group, with no subreaper at all.
func TestControlGroupHoldsWhatEscapes(t *testing.T) {
	t.Parallel()
	if _, err := process.FindCgroups(); err != nil {
		t.Skip("cgroup v2 is not writable here:", err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "escaped")
	h := startedIn(t, dir, quick(), memory.New(), with(script{}), cgroups(t, true))
	if !strings.Contains(strings.Join(h.Guarantees(), "\n"), "control group") {
		t.Skip("cgroup v2 cannot be used here")
	}
	p := create(t, h, "sh -c 'env -i setsid sleep 300 >/dev/null 2>&1 & echo $! >"+file+"'; echo hi; echo '#final'")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	nothingLeft(t, h, dir)
	b, err := os.ReadFile(file)
	must(t, err)
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(b)) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("it lives: %s", stat)
	}
	eventually(t, "the orphan is counted", func() bool { return h.Stats().OrphansReaped == 1 })
}

var _ agent.Adapter = script{}

// A runner with limits serves one turn, so what is known of its end is known of the turn.
func TestOpenFilesOfARunner(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("limits are Linux's")
	}
	for code, prompt := range map[event.Code]string{
		event.OpenFilesLimit: hoardVar + "=0 " + os.Args[0],
		event.CLICrashed:     "echo hi",
	} {
		h, _ := onStage(t, troupe{threads: 4}, func(l *actors.Limits) { l.MaxOpenFiles = 32 })
		turn := plays(t, h, prompt+"; kill -9 $RUNNER; sleep 300")
		if f := turn.End.Failure; f == nil || f.Code != code {
			t.Errorf("%s %v, want %s", turn.Status, f, code)
		}
	}
}
