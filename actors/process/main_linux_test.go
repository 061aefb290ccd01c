package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// The tests run twice: as they are, and by TestUnderSubreaper once more in a
// program that adopts its orphans.
const (
	helperVar    = "PROCESS_TEST_HELPER"
	subreaperVar = "PROCESS_TEST_SUBREAPER"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVar); name != "" {
		os.Exit(helpers[name]())
	}
	if os.Getenv(subreaperVar) != "" {
		if err := BecomeSubreaper(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	code := m.Run()
	if code == 0 {
		if left := ownChildren(); len(left) > 0 {
			fmt.Fprintln(os.Stderr, "children left:", left)
			code = 1
		}
		if err := goleak.Find(goleak.IgnoreTopFunction("os/signal.signal_recv"), goleak.IgnoreAnyFunction("os/signal.loop")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func TestUnderSubreaper(t *testing.T) {
	if subreaper.Load() {
		t.Skip("this is it")
	}
	args := []string{"-test.count=1"}
	if testing.Verbose() {
		args = append(args, "-test.v")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), subreaperVar+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// ownChildren lists children of this program, the dead ones too.
func ownChildren() (list []entry) {
	all, _ := scan()
	for _, e := range all {
		if e.ppid == os.Getpid() {
			list = append(list, e)
		}
	}
	return list
}

// helpers are what the test binary does when it is run as another program.
var helpers = map[string]func() int{
	"bytes":      helpBytes,
	"signals":    helpSignals,
	"mask":       helpMask,
	"emfile":     helpEMFILE,
	"threads":    helpThreads,
	"lastlines":  helpLastLines,
	"mainthread": helpMainThread,
	"headless":   helpHeadless,
	"hoard":      helpHoard,
}

// helper is a Spec that runs the test binary as one of them.
func helper(t *testing.T, name string, env ...string) Spec {
	t.Helper()
	return Spec{Path: os.Args[0], Env: append([]string{helperVar + "=" + name, "PATH=" + os.Getenv("PATH")}, env...)}
}

func sh(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

// run is one process under test and what its callbacks said.
type run struct {
	*Process
	mu      sync.Mutex
	lines   []string
	bytes   int64
	calls   int
	dropped []int64
	limits  int
	exits   int
	status  Status
	exited  chan struct{}
	line    chan struct{} // has room for one: something came
}

var turns struct {
	sync.Mutex
	n int
}

// start runs spec and sweeps it when the test ends.
func start(t testing.TB, spec Spec) *run {
	t.Helper()
	r := &run{exited: make(chan struct{}), line: make(chan struct{}, 1)}
	if spec.OnLines == nil {
		spec.OnLines = func(lines [][]byte) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.calls++
			for _, l := range lines {
				r.bytes += int64(len(l)) + 1
				if len(r.lines) < 10_000 {
					r.lines = append(r.lines, string(l))
				}
			}
			select {
			case r.line <- struct{}{}:
			default:
			}
		}
	}
	spec.OnDropped = func(n int64) {
		r.mu.Lock()
		r.dropped = append(r.dropped, n)
		r.lines = append(r.lines, "<dropped>")
		r.mu.Unlock()
	}
	spec.OnLimit = func() { r.mu.Lock(); r.limits++; r.mu.Unlock() }
	spec.OnExit = func(s Status) {
		r.mu.Lock()
		r.exits++
		r.status = s
		r.mu.Unlock()
		close(r.exited)
	}
	if spec.Marker == "" {
		turns.Lock()
		turns.n++
		spec.Marker = fmt.Sprintf("test-%d/boot/turn%d", os.Getpid(), turns.n)
		turns.Unlock()
	}
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	r.Process = p
	t.Cleanup(func() {
		r.Sweep(context.Background())
		r.wait(t)
	})
	return r
}

const patience = time.Minute

func (r *run) wait(t testing.TB) Status {
	t.Helper()
	select {
	case <-r.exited:
	case <-time.After(patience):
		t.Fatal("OnExit never came")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exits != 1 {
		t.Fatalf("OnExit came %d times", r.exits)
	}
	return r.status
}

// first waits for the first line.
func (r *run) first(t testing.TB) string {
	t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		if len(r.lines) > 0 {
			defer r.mu.Unlock()
			return r.lines[0]
		}
		r.mu.Unlock()
		select {
		case <-r.line:
		case <-deadline:
			t.Fatal("no line came")
		}
	}
}

func (r *run) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("never: " + what)
		}
	}
}

func running(pid int) bool {
	e, ok := stat(pid)
	return ok && !e.dead()
}

func atoi(t testing.TB, s string) int {
	t.Helper()
	n, ok := number([]byte(strings.TrimSpace(s)))
	if !ok {
		t.Fatalf("not a pid: %q", s)
	}
	return n
}

const byteText = "über\ngrößer\n\nend"

func init() {
	if name := os.Getenv(helperVar); name == "mainthread" || name == "headless" {
		runtime.LockOSThread() // init and main run in the main thread
	}
}

func helpMainThread() int {
	if unix.Gettid() != os.Getpid() {
		return 1
	}
	p, err := Start(Spec{Path: "/bin/sleep", Args: []string{"100"}})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if list, ok := adopted(); !ok || len(list) > 0 {
		fmt.Println(list, ok)
	} else {
		fmt.Println("none")
	}
	p.Sweep(context.Background())
	return 0
}

// helpHeadless ends its first thread and lives on in the others.
func helpHeadless() int {
	if unix.Gettid() != os.Getpid() {
		return 1
	}
	said := make(chan struct{})
	go func() {
		fmt.Println(os.Getpid())
		_, _ = os.Stdout.Close(), os.Stderr.Close()
		close(said)
		time.Sleep(time.Minute)
		os.Exit(0)
	}()
	<-said
	_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	return 1
}

func helpBytes() int {
	for i := range len(byteText) {
		if _, err := os.Stdout.WriteString(byteText[i : i+1]); err != nil {
			return 1
		}
	}
	return 0
}

// sigLines prints the signal lines of a child started by this package.
func sigLines() int {
	done := make(chan struct{})
	p, err := Start(Spec{
		Path: "/bin/cat", Args: []string{"/proc/self/status"},
		OnLines: func(lines [][]byte) {
			for _, l := range lines {
				if bytes.HasPrefix(l, []byte("Sig")) {
					fmt.Printf("%s\n", l)
				}
			}
		},
		OnExit: func(Status) { close(done) },
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	<-done
	p.Sweep(context.Background())
	return 0
}

func helpSignals() int { return sigLines() }

// helpMask runs sigLines in a program started with blocked signals: such that the
// runtime does not unblock of itself.
func helpMask() int {
	if os.Getenv("MASKED") != "" {
		return sigLines()
	}
	runtime.LockOSThread()
	set := unix.Sigset_t{Val: [16]uint64{1<<(syscall.SIGUSR1-1) | 1<<(syscall.SIGALRM-1)}}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil); err != nil {
		return 1
	}
	err := syscall.Exec(os.Args[0], os.Args, append(os.Environ(), "MASKED=1"))
	fmt.Println(err)
	return 1
}

func helpEMFILE() int {
	// The runtime opens its poller with the first pipe, and dies if it cannot.
	p, err := Start(Spec{Path: "/bin/true"})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	<-p.Exited()
	p.Sweep(context.Background())
	var lim syscall.Rlimit
	names, _ := os.ReadDir("/proc/self/fd")
	for extra := range 8 {
		lim.Cur, lim.Max = uint64(len(names)+extra), 1024
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
			fmt.Println(err)
			return 1
		}
		p, err := Start(Spec{Path: "/bin/true", Stdin: []byte("x")})
		switch {
		case err == nil:
			<-p.Exited()
			p.Sweep(context.Background())
		case !errors.Is(err, ErrResources):
			fmt.Println("extra", extra, err)
			return 1
		case extra == 0:
			fmt.Println("refused")
		}
	}
	return 0
}

func threads() int {
	data, _ := os.ReadDir("/proc/self/task")
	return len(data)
}

// helpThreads has 200 processes at once.
func helpThreads() int {
	const n = 200
	ends := make(chan Status, n)
	var list []*Process
	begin := 0
	for i := range n {
		p, err := Start(Spec{
			Path: "/bin/sleep", Args: []string{"100"}, Marker: fmt.Sprintf("threads/%d/%d", os.Getpid(), i),
			OnExit: func(s Status) { ends <- s },
		})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		list = append(list, p)
		if i == 20 {
			begin = threads()
		}
	}
	grown := threads() - begin
	var wg sync.WaitGroup
	for _, p := range list {
		wg.Go(func() { p.Sweep(context.Background()) })
	}
	wg.Wait()
	for range n {
		if s := <-ends; s.Signal != "SIGKILL" {
			fmt.Printf("%+v\n", s)
			return 1
		}
	}
	if left := ownChildren(); len(left) > 0 {
		fmt.Println("left", left)
		return 1
	}
	fmt.Println("grown", grown)
	return 0
}

// helpLastLines waits for a file and then writes what just fits into a pipe.
func helpLastLines() int {
	for {
		if _, err := os.Stat(os.Getenv("GO_FILE")); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_, err := os.Stdout.Write(bytes.Repeat([]byte("0123456789abcde\n"), 4096))
	if err != nil {
		return 1
	}
	return 0
}
