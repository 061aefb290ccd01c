package standin_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agenthost/agenthost/fakes/standin"
)

// asCLI makes the test program a stand-in, by the name it is called with.
const asCLI = "STANDIN_TEST"

// quickExit is for GORACE: a program with the race detector sleeps a second at its
// end otherwise.
const quickExit = "atexit_sleep_ms=0"

func run() {
	os.Exit(standin.Main(os.Args, standin.World{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}

func TestMain(m *testing.M) {
	if os.Getenv(asCLI) != "" {
		run()
	}
	testscript.Main(m, map[string]func(){"fake": run, "codex": run, "claude": run})
}

func TestStories(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata", Setup: func(e *testscript.Env) error {
		for _, name := range []string{"CODEX_HOME", "CLAUDE_CONFIG_DIR"} {
			dir := filepath.Join(e.WorkDir, "home")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			e.Setenv(name, dir)
		}
		e.Setenv("IS_SANDBOX", "1")
		e.Setenv("GORACE", quickExit)
		return nil
	}})
}

// process is a running stand-in.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Reader
	all bytes.Buffer
	log string
}

// launch starts a stand-in with a prompt.
func launch(t *testing.T, prompt string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	dir := t.TempDir()
	p := &process{t: t, log: filepath.Join(dir, "run.log"), cmd: exec.CommandContext(ctx, self)}
	p.cmd.Args = append([]string{args[0], "--log", p.log}, args[1:]...)
	p.cmd.Env = append(os.Environ(), asCLI+"=1", "HOME="+dir /* no profile of this machine */, "CODEX_HOME="+dir, "CLAUDE_CONFIG_DIR="+dir, "IS_SANDBOX=1", "GORACE="+quickExit)
	p.cmd.Dir, p.cmd.Stdin = dir, strings.NewReader(prompt)
	p.cmd.WaitDelay = time.Second
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(pipe)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // what it has left behind on purpose
		for _, f := range p.logged("left") {
			if pid, err := strconv.Atoi(f[3]); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return p
}

// until reads lines up to one that has text in it.
func (p *process) until(text string) {
	p.t.Helper()
	for {
		line, err := p.out.ReadString('\n')
		p.all.WriteString(line)
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			p.t.Fatalf("no %q before %v in\n%s", text, err, p.all.String())
		}
	}
}

// wait reads the rest and waits for the exit.
func (p *process) wait() *os.ProcessState {
	p.t.Helper()
	if _, err := p.out.WriteTo(&p.all); err != nil {
		p.t.Errorf("read: %v", err)
	}
	_ = p.cmd.Wait() // the state is what is looked at
	return p.cmd.ProcessState
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// logged are the fields of the log's lines of one kind.
func (p *process) logged(kind string) (lines [][]string) {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == kind {
			lines = append(lines, f)
		}
	}
	return lines
}

// gone waits for a process to have ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for alive(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// alive says whether a process runs; one that is only not yet reaped does not.
func alive(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// pidIn reads a pid that a command has written to a file of the workspace.
func (p *process) pidIn(file string) int {
	p.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		b, err := os.ReadFile(filepath.Join(p.cmd.Dir, file))
		if pid, _ := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && pid > 0 {
			return pid
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("no pid in %s", file)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

var claudeArgs = []string{"claude", "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--permission-mode", "bypassPermissions"}

const longCommand = "[[shell: echo $$ > leader; sleep 600 & echo $! > child; wait]]"

func TestAnInterruptedCodexKillsItsShellAndTellsNoEnd(t *testing.T) {
	t.Parallel()
	p := launch(t, "tag:c "+longCommand, "codex", "exec", "--json", "-")
	p.until("command_execution")
	leader, child := p.pidIn("leader"), p.pidIn("child")
	p.signal(syscall.SIGINT)
	if s := p.wait(); s.ExitCode() != 1 || strings.Contains(p.all.String(), "turn.completed") || strings.Contains(p.all.String(), "turn.failed") {
		t.Errorf("%v %s", s, p.all.String())
	}
	gone(t, leader)
	gone(t, child)
	if l := p.logged("end"); len(l) != 1 || l[0][0] != "c" {
		t.Errorf("log %v", l)
	}
}

func TestATerminatedCodexLeavesWhatItsShellStarted(t *testing.T) {
	t.Parallel()
	p := launch(t, longCommand, "codex", "exec", "--json", "-")
	p.until("command_execution")
	leader, child := p.pidIn("leader"), p.pidIn("child")
	p.signal(syscall.SIGTERM)
	if s := p.wait(); s.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("%v", s)
	}
	gone(t, leader)
	if !alive(child) {
		t.Error("the child of the shell is gone")
	}
	_ = syscall.Kill(child, syscall.SIGKILL)
}

func TestAnInterruptedClaudeTellsItsEndAndExitsZero(t *testing.T) {
	t.Parallel()
	p := launch(t, longCommand, claudeArgs...)
	p.until(`"tool_use"`)
	leader, child := p.pidIn("leader"), p.pidIn("child")
	p.signal(syscall.SIGINT)
	if s := p.wait(); s.ExitCode() != 0 || !strings.Contains(p.all.String(), `"aborted_tools"`) {
		t.Errorf("%v %s", s, p.all.String())
	}
	gone(t, leader)
	gone(t, child)
}

func TestATerminatedClaudeExitsWith143(t *testing.T) {
	t.Parallel()
	p := launch(t, "[[slow: 50]] [[count: 1000]]", claudeArgs...)
	p.until("text_delta")
	p.signal(syscall.SIGTERM)
	if s := p.wait(); s.ExitCode() != 143 || strings.Contains(p.all.String(), `"type":"result"`) {
		t.Errorf("%v %s", s, p.all.String())
	}
}

func TestIgnoredSignalsDoNothing(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"codex", "--mode", "ignore-signals", "exec", "--json", "-"}, append([]string{"claude", "--mode", "ignore-signals"}, claudeArgs[1:]...)} {
		p := launch(t, "[[wait: 300]] [[say: still here]]", args...)
		p.until("{")
		p.signal(syscall.SIGINT)
		p.signal(syscall.SIGTERM)
		if s := p.wait(); s.ExitCode() != 0 || !strings.Contains(p.all.String(), "still here") {
			t.Errorf("%s: %v %s", args[0], s, p.all.String())
		}
	}
}

func TestWhatIsLeftBehindOutlivesTheTurn(t *testing.T) {
	t.Parallel()
	p := launch(t, "[[mode: escape]] hello", "codex", "exec", "--json", "-")
	p.wait()
	left := p.logged("left")
	if len(left) != 1 {
		t.Fatalf("log %v", left)
	}
	if pid, err := strconv.Atoi(left[0][3]); err != nil || !alive(pid) {
		t.Errorf("process %v does not run", left)
	} else if sid, _, err := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0); err != 0 || int(sid) != pid {
		t.Errorf("its session is %d", sid)
	}
}

func TestAChildThatHoldsStdoutKeepsThePipeOpen(t *testing.T) {
	t.Parallel()
	p := launch(t, "[[mode: hold-stdout]] hello", "codex", "exec", "--json", "-")
	p.until("turn.completed")
	state, err := p.cmd.Process.Wait()
	if err != nil || state.ExitCode() != 0 {
		t.Fatalf("%v %v", state, err)
	}
	end := make(chan error, 1)
	go func() { _, err := p.out.ReadByte(); end <- err }()
	select {
	case err := <-end:
		t.Fatalf("stdout ended with its CLI: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	for _, f := range p.logged("left") {
		pid, err := strconv.Atoi(f[3])
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err := <-end; err == nil {
		t.Error("stdout has more")
	}
}

func TestSilentCLIsPrintNothingMore(t *testing.T) {
	t.Parallel()
	p := launch(t, "hello", "codex", "--mode", "silent", "exec", "--json", "-")
	p.until("turn.started")
	p.signal(syscall.SIGINT)
	if s := p.wait(); s.ExitCode() != 1 || strings.Count(p.all.String(), "\n") != 2 {
		t.Errorf("%v %s", s, p.all.String())
	}
}

func TestACrashKillsTheProcess(t *testing.T) {
	t.Parallel()
	p := launch(t, "[[mode: crash]] hello", "codex", "exec", "--json", "-")
	if s := p.wait(); s.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL || !strings.Contains(p.all.String(), "turn.started") {
		t.Errorf("%v %s", s, p.all.String())
	}
}

func BenchmarkTurn(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	home := b.TempDir()
	for b.Loop() {
		c := exec.Command(self)
		c.Args = []string{"codex", "exec", "--json", "-"}
		c.Env = []string{asCLI + "=1", "CODEX_HOME=" + home}
		c.Stdin = strings.NewReader("hello")
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
