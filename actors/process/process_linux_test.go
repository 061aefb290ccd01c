package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

func TestStdinIsWrittenThenClosed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 64 << 10, 64<<10 + 1, 2 << 20} {
		spec := sh("wc -c")
		spec.Stdin = bytes.Repeat([]byte("x"), n)
		r := start(t, spec)
		if s := r.wait(t); s.Code != 0 || strings.TrimSpace(r.text()) != fmt.Sprint(n) {
			t.Errorf("%d bytes: %q, %+v", n, r.text(), s)
		}
	}
}

func TestNoStdinIsDevNull(t *testing.T) {
	t.Parallel()
	r := start(t, sh("readlink /proc/self/fd/0; cat; echo end"))
	r.wait(t)
	if got := r.text(); got != "/dev/null\nend" {
		t.Errorf("got %q", got)
	}
}

//cases:2
func TestExitWithoutReadingAPromptIsAnExit(t *testing.T) {
	t.Parallel()
	spec := sh("echo no >&2; exit 3")
	spec.Stdin = bytes.Repeat([]byte("x"), 2<<20)
	s := start(t, spec).wait(t)
	if s.Code != 3 || s.Signal != "" || string(s.Stderr) != "no\n" {
		t.Errorf("%+v", s)
	}
}

func TestClosingStdinEarlyIsNoError(t *testing.T) {
	t.Parallel()
	spec := sh("exec 0<&-; echo answer")
	spec.Stdin = bytes.Repeat([]byte("x"), 2<<20)
	r := start(t, spec)
	if s := r.wait(t); s.Code != 0 || r.text() != "answer" {
		t.Errorf("%q %+v", r.text(), s)
	}
}

// The leak check of TestMain is the other half of this test.
func TestBlockedWriterEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	spec := sh("echo up; exec sleep 100")
	spec.Stdin = bytes.Repeat([]byte("x"), 2<<20)
	r := start(t, spec)
	r.first(t)
	r.SignalTree(syscall.SIGKILL)
	if s := r.wait(t); s.Signal != "SIGKILL" || s.Code != -1 {
		t.Errorf("%+v", s)
	}
}

func TestWriterEndsThoughSomethingElseHoldsStdin(t *testing.T) {
	t.Parallel()
	spec := sh("exec 3<&0; sleep 100 <&3 >/dev/null 2>&1 & exit 0")
	spec.Stdin = bytes.Repeat([]byte("x"), 2<<20)
	r := start(t, spec)
	r.wait(t)
	if _, err := r.stdin.Write(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("stdin is not closed: %v", err)
	}
}

//cases:3
func TestStderrFloodDoesNotBlock(t *testing.T) {
	t.Parallel()
	r := start(t, sh(`for i in 1 2 3 4 5; do head -c 1048576 /dev/zero | tr '\0' x >&2; echo $i; done; echo last >&2`))
	s := r.wait(t)
	if r.text() != "1\n2\n3\n4\n5" || len(s.Stderr) != DefaultStderrTail || !bytes.HasSuffix(s.Stderr, []byte("xlast\n")) {
		t.Errorf("%q, %d bytes of stderr", r.text(), len(s.Stderr))
	}
}

// What is kept of stderr goes by way of who wants it changed, its last piece too.
func TestStderrIsChangedBeforeItIsKept(t *testing.T) {
	t.Parallel()
	spec := sh("echo secret >&2; echo more >&2")
	var held []byte
	spec.Stderr = func(p []byte) []byte {
		if p == nil {
			return append([]byte("[end]"), held...)
		}
		held = append(held, bytes.ToUpper(p)...)
		return nil
	}
	if s := start(t, spec).wait(t); string(s.Stderr) != "[end]SECRET\nMORE\n" {
		t.Errorf("kept %q", s.Stderr)
	}
}

func TestStderrTailBeginsAtACharacter(t *testing.T) {
	t.Parallel()
	for size := 1; size < 40; size++ {
		tail := newTail(size)
		for range 50 {
			tail.write([]byte("€ü𝄞x")) // 3 + 2 + 4 + 1 bytes
		}
		got := tail.bytes()
		if !utf8.Valid(got) || len(got) > size || len(got) < size-3 {
			t.Fatalf("size %d: %q", size, got)
		}
	}
}

func TestStatusSaysWhatItCost(t *testing.T) {
	t.Parallel()
	before := time.Now()
	r := start(t, sh("i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo x; exit 4"))
	s := r.wait(t)
	if s.Code != 4 || s.CPU <= 0 || s.MaxRSS < 100<<10 || s.GaveUp {
		t.Errorf("%+v", s)
	}
	if s.Started.Before(before) || s.FirstByte.Before(s.Started) || s.Ended.Before(s.Started) {
		t.Errorf("times: %+v", s)
	}
	if s := start(t, sh("exit 0")).wait(t); !s.FirstByte.IsZero() {
		t.Errorf("first byte of nothing: %+v", s)
	}
}

func TestOutputByteByByte(t *testing.T) {
	t.Parallel()
	r := start(t, helper(t, "bytes"))
	r.wait(t)
	if r.text() != byteText {
		t.Errorf("got %q", r.text())
	}
}

func TestLineEnds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`a\r\nb\r\r\n\r\nc`:             `a,b` + "\r" + `,,c`,
		`a\n`:                           `a`,
		`a\r`:                           `a`,
		`\n\n`:                          `,`,
		`x\342\200\250y\302\205z\f\v\n`: "x\u2028y\u0085z\f\v",
		``:                              ``,
		`one\000two\n`:                  "one\x00two",
	} {
		r := start(t, sh("printf '"+in+"'"))
		r.wait(t)
		if got := strings.ReplaceAll(r.text(), "\n", ","); got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func TestLongLineIsDroppedAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	const long = 12 << 20
	spec := sh(fmt.Sprintf(`echo a; head -c %d /dev/zero | tr '\0' x; echo; echo b; head -c %d /dev/zero | tr '\0' y`, long, long))
	spec.MaxLine = 4 << 20
	r := start(t, spec)
	r.wait(t)
	if r.text() != "a\n<dropped>\nb\n<dropped>" || r.dropped[0] != long || r.dropped[1] != long {
		t.Errorf("%q %v", r.text(), r.dropped)
	}
}

//cases:20
func TestLongLineBelowTheCapArrives(t *testing.T) {
	t.Parallel()
	r := start(t, sh(`head -c 8388608 /dev/zero | tr '\0' x; echo; echo b`))
	r.wait(t)
	if len(r.lines) != 2 || len(r.lines[0]) != 8<<20 || r.lines[1] != "b" {
		t.Errorf("%d lines", len(r.lines))
	}
}

func TestMuchOutput(t *testing.T) {
	t.Parallel()
	r := start(t, sh(`yes 0123456789012345678901234567890123456789 | head -n 2000000`))
	r.wait(t)
	if r.bytes != 2000000*41 || r.calls > 2000000/10 {
		t.Errorf("%d bytes in %d calls", r.bytes, r.calls)
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	spec := sh(`yes 012345678 | head -n 1000000; echo end >&2`)
	spec.MaxOutput = 10_005
	r := start(t, spec)
	s := r.wait(t)
	if r.bytes != 10_000 || r.limits != 1 || s.Code != 0 || string(s.Stderr) != "end\n" {
		t.Errorf("%d bytes, %d limits, %+v", r.bytes, r.limits, s)
	}
	spec = sh(`echo 1234`)
	spec.MaxOutput = 5
	if r := start(t, spec); r.wait(t).Code != 0 || r.limits != 0 || r.text() != "1234" {
		t.Errorf("exactly the limit: %q, %d limits", r.text(), r.limits)
	}
}

// A reader that is blocked lets the process block; what the process left in the
// pipe is delivered although the grace was over long ago.
func TestNothingIsLostBehindASlowReader(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "go")
	spec := sh(`echo first; exec "$0"`)
	h := helper(t, "lastlines", "GO_FILE="+file)
	spec.Args, spec.Env, spec.DrainGrace = append(spec.Args, os.Args[0]), h.Env, time.Nanosecond
	var p *Process
	var total, calls int
	ready := make(chan struct{})
	done := make(chan Status, 1)
	spec.OnLines = func(lines [][]byte) {
		for _, l := range lines {
			total += len(l) + 1
		}
		if calls++; calls == 1 {
			<-ready
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Error(err)
			}
			<-p.Exited()
		}
	}
	spec.OnExit = func(s Status) { done <- s }
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	close(ready)
	defer p.Sweep(context.Background())
	select {
	case s := <-done:
		if total != len("first\n")+64<<10 || s.GaveUp || s.Code != 0 {
			t.Errorf("%d bytes, %+v", total, s)
		}
	case <-time.After(patience):
		t.Fatal("OnExit never came")
	}
}

func TestFloodBlocksOnItsOwnPipe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "done")
	spec := sh(`echo first; until [ -e ` + file + `.go ]; do sleep 0.01; done; yes | head -c 1000000; : > ` + file)
	seen, release := make(chan struct{}, 1000), make(chan struct{})
	spec.OnLines = func([][]byte) { seen <- struct{}{}; <-release }
	r := start(t, spec)
	<-seen
	if err := os.WriteFile(file+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// The pipe fills up and stays full.
	eventually(t, "pipe full", func() bool {
		n := 0
		conn, err := r.stdout.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Control(func(fd uintptr) { n = pending(int(fd)) })
		return n >= 60<<10
	})
	if _, err := os.Stat(file); err == nil {
		t.Error("the process went on")
	}
	close(release)
	r.wait(t)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "x", 0o600)
	for name, c := range map[string]struct {
		spec Spec
		want error
	}{
		"missing":        {Spec{Path: dir + "/missing"}, ErrNotFound},
		"missing name":   {Spec{Path: "surely-not-there-9"}, ErrNotFound},
		"below a file":   {Spec{Path: plain + "/x"}, ErrNotFound},
		"empty":          {Spec{}, ErrNotFound},
		"directory":      {Spec{Path: dir}, ErrNotExecutable},
		"no x bit":       {Spec{Path: plain}, ErrNotExecutable},
		"wrapped":        {Spec{Path: "/not/there", Wrap: []string{"/usr/bin/env"}}, ErrNotFound},
		"wrapped plain":  {Spec{Path: plain, Wrap: []string{"/usr/bin/env"}}, ErrNotExecutable},
		"no interpreter": {Spec{Path: write("script", "#!/not/there\n", 0o700)}, ErrNotExecutable},
		"no format":      {Spec{Path: write("data", "hello", 0o700)}, ErrNotExecutable},
		"no workdir":     {Spec{Path: "/bin/true", Dir: dir + "/missing"}, ErrWorkdir},
		"workdir a file": {Spec{Path: "/bin/true", Dir: plain}, ErrWorkdir},
		"long argument":  {Spec{Path: "/bin/true", Args: []string{strings.Repeat("x", 140<<10)}}, ErrArgTooLong},
		"long env":       {Spec{Path: "/bin/true", Env: []string{"A=" + strings.Repeat("x", 140<<10)}}, ErrArgTooLong},
		"NUL":            {Spec{Path: "/bin/true", Args: []string{"a\x00b"}}, ErrBadArgument},
	} {
		c.spec.Stdin = []byte("x")
		c.spec.OnExit = func(Status) { t.Errorf("%s: OnExit", name) }
		p, err := Start(c.spec)
		if !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// So the main thread's children are orphans and nothing else.
func TestMainThreadStartsNothing(t *testing.T) {
	t.Parallel()
	r := start(t, helper(t, "mainthread"))
	if s := r.wait(t); s.Code != 0 || r.text() != "none" {
		t.Errorf("%d %s %q\n%s", s.Code, s.Signal, r.text(), s.Stderr)
	}
}

func TestOutOfDescriptors(t *testing.T) {
	t.Parallel()
	r := start(t, helper(t, "emfile"))
	if s := r.wait(t); s.Code != 0 || r.text() != "refused" {
		t.Errorf("%d %s %q\n%s", s.Code, s.Signal, r.text(), s.Stderr)
	}
}

func TestEnvironmentIsWhatTheSpecSays(t *testing.T) {
	t.Parallel()
	spec := Spec{Path: "env", Env: []string{"A=1", MarkerVar + "=other"}, Marker: "s/b/t-env"}
	r := start(t, spec)
	r.wait(t)
	if got := r.text(); got != "A=1\n"+MarkerVar+"=s/b/t-env" {
		t.Errorf("got %q", got)
	}
}

func TestWorkdirAndSession(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec := sh("pwd -P; cut -d' ' -f5,6 /proc/$$/stat")
	spec.Dir = dir
	r := start(t, spec)
	r.wait(t)
	if want := fmt.Sprintf("%s\n%d %d", dir, r.Pid(), r.Pid()); r.text() != want {
		t.Errorf("got %q, want %q", r.text(), want)
	}
}

// sleepers do not count: the 200 are started by a program of their own.
func TestManyProcessesNeedNoThreads(t *testing.T) {
	t.Parallel()
	r := start(t, helper(t, "threads"))
	if s := r.wait(t); s.Code != 0 {
		t.Fatalf("%+v %s", s, r.text())
	}
	grown := 0
	if _, err := fmt.Sscanf(r.text(), "grown %d", &grown); err != nil || grown > 8 {
		t.Errorf("%s", r.text())
	}
}

// Not parallel: it counts what this program has open.
func TestDescriptorsAreGivenBack(t *testing.T) {
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	cycle := func() {
		for _, spec := range []Spec{sh("echo x"), sh("exit 1"), sh("exec sleep 100"), sh("sleep 100 &"), sh("setsid sleep 100 & exit 0")} {
			spec.Stdin = bytes.Repeat([]byte("x"), 100<<10)
			spec.DrainGrace = time.Millisecond
			done := make(chan struct{})
			spec.OnExit = func(Status) { close(done) }
			p, err := Start(spec)
			if err != nil {
				t.Fatal(err)
			}
			p.Sweep(context.Background())
			<-done
			if _, err := Start(Spec{Path: "/not/there", Stdin: spec.Stdin}); err == nil {
				t.Fatal("started nothing")
			}
		}
	}
	cycle()
	before := count()
	for range 10 {
		cycle()
	}
	eventually(t, "descriptors back", func() bool { return count() <= before })
	table.mu.Lock()
	defer table.mu.Unlock()
	if len(table.leaders) != 0 || len(table.unswept) != 0 {
		t.Errorf("table: %d leaders, %d unswept", len(table.leaders), len(table.unswept))
	}
}

// What wraps a program gets the whole command line, the program by its full path.
func TestWrappedProgram(t *testing.T) {
	t.Parallel()
	var out []string
	done := make(chan Status, 1)
	p, err := Start(Spec{
		Path: "echo", Args: []string{"one", "two words"}, Wrap: []string{"/usr/bin/env", "-u", "NOTHING"}, NoCore: true,
		OnLines: func(lines [][]byte) {
			for _, l := range lines {
				out = append(out, string(l))
			}
		},
		OnExit: func(st Status) { done <- st },
	})
	if err != nil {
		t.Fatal(err)
	}
	if st := <-done; st.Code != 0 || len(out) != 1 || out[0] != "one two words" {
		t.Errorf("%+v said %q", st, out)
	}
	p.Sweep(t.Context())
}
