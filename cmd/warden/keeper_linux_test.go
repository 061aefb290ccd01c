package warden

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/actors/process"
)

// The test binary is the warden under its verb, and with a variable a server.
const serverVar = "WARDEN_TEST_SERVER"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Verb {
		os.Exit(Main(os.Args[2:]))
	}
	if script := os.Getenv(serverVar); script != "" {
		os.Exit(server(script))
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreAnyFunction("os/signal.loop")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// server keeps a warden and one tree that runs script, whose lines it repeats, with
// the warden's pid before them.
func server(script string) int {
	fail := func(err error) int { fmt.Println(err); return 1 }
	if err := process.BecomeSubreaper(); err != nil {
		return fail(err)
	}
	silence, err := time.ParseDuration(os.Getenv("SILENCE"))
	if err != nil {
		return fail(err)
	}
	k, err := Start(slog.New(slog.NewTextHandler(os.Stderr, nil)), silence)
	if err != nil {
		return fail(err)
	}
	prefix := "warden-test/" + strconv.Itoa(os.Getpid()) + "/"
	k.Watch(prefix, "")
	p, err := process.Start(process.Spec{
		Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Marker: prefix + "turn",
		OnLines: func(lines [][]byte) {
			for _, l := range lines {
				fmt.Printf("%d %s\n", k.Pid(), l)
			}
		},
	})
	if err != nil {
		return fail(err)
	}
	if os.Getenv("UNTOLD") == "" {
		k.Planted(process.Tree{Marker: prefix + "turn", Pid: p.Pid(), Start: p.StartTime()})
	}
	go func() {
		for range time.Tick(10 * time.Millisecond) {
			fmt.Printf("warden %d\n", k.Pid())
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// victim is such a server under test.
type victim struct {
	*exec.Cmd
	out    *bufio.Reader
	stderr strings.Builder
	warden int
	tree   []int // pids that the script said
}

const patience = 20 * time.Second

func newVictim(t *testing.T, script string, n int, env ...string) *victim {
	t.Helper()
	v := &victim{Cmd: exec.Command(os.Args[0])}
	v.Env = append(append(os.Environ(), serverVar+"="+script, "SILENCE=10s"), env...)
	v.Stderr = &v.stderr
	v.WaitDelay = patience
	in, err := v.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := v.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = v.Process.Kill()
		_ = v.Wait() // killed
	})
	v.out = bufio.NewReader(out)
	for len(v.tree) < n {
		f := strings.Fields(v.line(t))
		if f[0] == "warden" {
			continue
		}
		pid, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		v.warden, _ = strconv.Atoi(f[0])
		v.tree = append(v.tree, pid)
	}
	if v.warden == 0 || !runs(v.warden) {
		t.Fatal("no warden")
	}
	return v
}

func (v *victim) line(t *testing.T) string {
	t.Helper()
	line, err := v.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, v.stderr.String())
	}
	return line
}

// newWarden waits for the next warden.
func (v *victim) newWarden(t *testing.T) int {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		f := strings.Fields(v.line(t))
		if pid, _ := strconv.Atoi(f[1]); f[0] == "warden" && pid != 0 && pid != v.warden {
			return pid
		}
	}
	t.Fatal("no new warden")
	return 0
}

// runs says that a process lives; a zombie does not.
func runs(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	rest := string(b[strings.LastIndexByte(string(b), ')')+1:])
	f := strings.Fields(rest)
	return len(f) > 0 && f[0] != "Z" && f[0] != "X"
}

func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

func (v *victim) treeGone(t *testing.T, limit time.Duration) {
	t.Helper()
	within(t, limit, fmt.Sprintf("%v is gone", v.tree), func() bool {
		for _, pid := range v.tree {
			if runs(pid) {
				return false
			}
		}
		return true
	})
}

// looked waits until a warden has looked around some more times: it sleeps between
// two looks, which its threads count.
func looked(t *testing.T, warden int) {
	t.Helper()
	sleeps := func() (n int) {
		files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(warden), "task", "*", "status"))
		for _, f := range files {
			b, _ := os.ReadFile(f)
			if _, rest, ok := strings.Cut(string(b), "\nvoluntary_ctxt_switches:"); ok {
				line, _, _ := strings.Cut(rest, "\n")
				one, _ := strconv.Atoi(strings.TrimSpace(line))
				n += one
			}
		}
		return n
	}
	// It looks at most once in a while, however often it is woken.
	before, begin := sleeps(), time.Now()
	within(t, patience, "the warden looks around", func() bool { return sleeps() >= before+20 && time.Since(begin) > 4*look })
}

// stubborn is a CLI that ignores signals, with shells in sessions of their own, one
// of which has no marker and no parent.
const stubborn = `trap '' INT TERM; echo $$; setsid sleep 300 & echo $!; env -i setsid sleep 300 & echo $!
sh -c 'env -i setsid sleep 300 & echo $!'; while :; do sleep 1; done`

// endLimitOfTest is more than the two seconds that are promised, and that the
// acceptance tests hold the real binary to: this one starts and reads slowly under
// the race detector.
const endLimitOfTest = 8 * time.Second

func TestKilledServerLeavesNothing(t *testing.T) {
	t.Parallel()
	v := newVictim(t, stubborn, 4)
	// The orphan without a marker is found by a look at what the server has adopted.
	looked(t, v.warden)
	if err := v.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	v.treeGone(t, endLimitOfTest)
	within(t, patience, "the warden ends", func() bool { return !runs(v.warden) })
	_ = v.Wait() // killed; what it and the warden wrote is read then
	if said := v.stderr.String(); strings.Count(said, "the warden ended what the server left behind") != 1 || !strings.Contains(said, "left=0") {
		t.Errorf("it said %q", said)
	}
}

// A tree that was started a moment before is known by its marker.
func TestKilledServerLeavesNothingUntold(t *testing.T) {
	t.Parallel()
	v := newVictim(t, "echo $$; setsid sleep 300 & echo $!; wait", 2, "UNTOLD=1")
	_ = v.Process.Kill()
	v.treeGone(t, endLimitOfTest)
}

func TestStoppedServerLosesItsTrees(t *testing.T) {
	t.Parallel()
	v := newVictim(t, stubborn, 4, "SILENCE=1500ms")
	if err := v.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	v.treeGone(t, 1500*time.Millisecond+endLimitOfTest)
	if took := time.Since(stopped); took < time.Second {
		t.Errorf("ended after %s", took)
	}
	if !runs(v.Process.Pid) {
		t.Error("the server itself was ended")
	}
	_ = v.Process.Signal(syscall.SIGCONT)
	if pid := v.newWarden(t); !runs(pid) {
		t.Error("the server that goes on has no warden")
	}
}

// A server that speaks late, but speaks, keeps its trees.
func TestSlowServerKeepsItsTrees(t *testing.T) {
	t.Parallel()
	v := newVictim(t, "echo $$; exec sleep 300", 1, "SILENCE=5s")
	for range 4 {
		_ = v.Process.Signal(syscall.SIGSTOP)
		<-time.After(time.Second) // this is the slowness, not a wait for something
		_ = v.Process.Signal(syscall.SIGCONT)
		<-time.After(700 * time.Millisecond)
	}
	if !runs(v.tree[0]) || !runs(v.warden) {
		t.Error("ended for slowness")
	}
}

func TestKilledWardenIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	v := newVictim(t, stubborn, 4)
	_ = syscall.Kill(v.warden, syscall.SIGKILL)
	next := v.newWarden(t)
	if !runs(v.tree[0]) {
		t.Fatal("the tree went with the warden")
	}
	looked(t, next)
	_ = v.Process.Kill()
	v.treeGone(t, endLimitOfTest)
	within(t, patience, "the second warden ends", func() bool { return !runs(next) })
}

// What ends a server or its group does not end the warden.
func TestWardenOutlivesSignals(t *testing.T) {
	t.Parallel()
	v := newVictim(t, "echo $$; exec sleep 300", 1)
	// One that is ended in the few milliseconds before that is followed by another.
	within(t, patience, "it has come to ignore signals", func() bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.warden))
		_, rest, _ := strings.Cut(string(b), "SigIgn:")
		var ignored uint64
		_, _ = fmt.Sscanf(rest, "%x", &ignored)
		return ignored&(1<<(syscall.SIGPIPE-1)) != 0
	})
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGPIPE} {
		_ = syscall.Kill(v.warden, sig)
		_ = syscall.Kill(-v.warden, sig)
	}
	_ = syscall.Kill(-v.Process.Pid, syscall.SIGKILL) // no group of that number: the test's is another
	if pgid, err := syscall.Getpgid(v.warden); err != nil || pgid != v.warden {
		t.Errorf("the warden is in the group %d: %v", pgid, err)
	}
	within(t, patience, "it still runs", func() bool { return runs(v.warden) })
	_ = v.Process.Kill()
	v.treeGone(t, endLimitOfTest)
}

// Close ends the warden and everything that belongs to it.
func TestCloseEndsTheWarden(t *testing.T) {
	before := 0
	for i := range 4 {
		if i == 1 { // the runtime has its poller now
			before = descriptors(t)
		}
		k, err := Start(slog.New(slog.DiscardHandler), 0)
		if err != nil {
			t.Fatal(err)
		}
		k.Watch("p/", "")
		for i := range 1000 {
			k.Planted(process.Tree{Marker: strconv.Itoa(i), Pid: 1 << 30, Start: 1})
			k.Gone(strconv.Itoa(i))
		}
		pid := k.Pid()
		k.Close()
		k.Close()
		if runs(pid) || k.Pid() != 0 {
			t.Error("the warden still runs")
		}
		if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); err == nil {
			t.Error("it is a zombie")
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors, there were %d", after, before)
	}
}

// A warden that does not read is replaced; nothing waits for it meanwhile.
func TestWardenThatDoesNotReadIsReplaced(t *testing.T) {
	t.Parallel()
	k, err := Start(slog.New(slog.DiscardHandler), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	first := k.Pid()
	_ = syscall.Kill(first, syscall.SIGSTOP)
	begin := time.Now()
	for i := range 3 * maxPending {
		k.Planted(process.Tree{Marker: fmt.Sprintf("marker-of-a-turn-%d", i%50), Pid: 1 << 30, Start: 1})
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("telling took %s", took)
	}
	within(t, patience, "another warden", func() bool { pid := k.Pid(); return pid != 0 && pid != first && runs(pid) })
	if runs(first) {
		t.Error("the first one is left")
	}
}

// A warden whose server was killed before it looked has another parent, such as init.
// What that one has adopted is a stranger's.
func TestStrangersOrphansAreLeftAlone(t *testing.T) {
	t.Parallel()
	for parent, want := range map[int]int{42: 1, 1: 0} {
		asked := 0
		w := &watch{guard: newGuard(time.Hour, now()), server: 42, parent: func() int { return parent }, adopted: func(of int) map[int]uint64 {
			asked = of
			return map[int]uint64{7: 8}
		}}
		w.hear(strings.TrimSpace(plantedLine(&process.Tree{Marker: "m", Pid: 9, Start: 1})))
		w.look()
		if len(w.orphans) != want || len(w.remains().Orphans) != want || (asked != 0) != (want > 0) {
			t.Errorf("with parent %d: asked for those of %d, found %v", parent, asked, w.orphans)
		}
	}
}

func TestVerbIsNotForPeople(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], Verb)
	cmd.Stdin = nil // /dev/null
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "for a server's own use") {
		t.Errorf("%v %q", err, out)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func BenchmarkTell(b *testing.B) {
	k, err := Start(slog.New(slog.DiscardHandler), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	tree := process.Tree{Marker: "0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef", Pid: 1 << 30, Start: 1}
	for b.Loop() {
		k.Planted(tree)
		k.Gone(tree.Marker)
	}
}
