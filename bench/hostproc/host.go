package hostproc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// TB is what a Host needs of a test; testing.TB has it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(func())
	TempDir() string
	Failed() bool
}

// Options say how a server is started. The zero value is a server with its
// defaults, a private home and no adapter installed.
type Options struct {
	// Config is the configuration file: text, or a value that is written as JSON
	// (which is YAML). Listen and state_dir are given as flags and win.
	Config any
	// Adapters are laid over the key agents of a Config of type map[string]any or
	// nil: settings by adapter name, and "default".
	Adapters map[string]any
	// Env is added to the server's environment, KEY=VALUE; the rest is PATH and a
	// home of its own.
	Env []string
	// Args are further flags of serve.
	Args []string
	// StateDir is an existing state directory; "" makes one.
	StateDir string
	// OutsideTemp makes the state directory below the module's build folder: real
	// CLIs treat homes below the temp directory differently.
	OutsideTemp bool
	// Wrap is a program with arguments that runs the server: a shell that sets a
	// limit, or one that makes a namespace.
	Wrap []string
	// NotReady skips the wait for /readyz.
	NotReady bool
	// Bin are programs to use instead of building them.
	Bin *Binaries
	// StartTimeout bounds the wait for the server; 30 s.
	StartTimeout time.Duration
}

// Host is a server process. Its methods are for one goroutine; Log, and everything
// that only asks /proc or HTTP, may be called from any.
type Host struct {
	URL      string
	Pid      int
	StateDir string
	Home     string // HOME of the server
	Config   string // path of its configuration file
	Bin      Binaries

	tb   TB
	opts Options
	log  *log
	cmd  *exec.Cmd
	done chan struct{} // closed when the process was waited for
	err  error         // of Wait; valid after done
}

// Start runs a server and waits until it is ready.
func Start(tb TB, o Options) *Host {
	tb.Helper()
	h, err := prepare(tb, o)
	if err != nil {
		tb.Fatalf("server: %v", err)
	}
	if err := h.start(); err != nil {
		tb.Fatalf("server: %v\n%s", err, h.Log())
	}
	return h
}

// Refused runs a server that is expected to end by itself, and returns its exit
// code and what it said.
func Refused(tb TB, o Options) (code int, said string) {
	tb.Helper()
	h, err := prepare(tb, o)
	if err != nil {
		tb.Fatalf("server: %v", err)
	}
	err = h.start()
	var ended *endedError
	if !errors.As(err, &ended) {
		tb.Fatalf("the server was not refused: %v\n%s", err, h.Log())
	}
	return ended.code, h.Log()
}

func prepare(tb TB, o Options) (*Host, error) {
	bin, err := o.binaries()
	if err != nil {
		return nil, err
	}
	h := &Host{tb: tb, opts: o, Bin: bin, StateDir: o.StateDir, log: &log{}}
	dir := tb.TempDir()
	if o.OutsideTemp {
		root := filepath.Join(bin.Root, "build", "hostproc", "hosts")
		if err := os.MkdirAll(root, 0o755); err != nil {
			return nil, err
		}
		if dir, err = os.MkdirTemp(root, ""); err != nil {
			return nil, err
		}
		tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	if h.StateDir == "" {
		h.StateDir = filepath.Join(dir, "state")
	}
	h.Home = filepath.Join(dir, "home")
	if err := os.MkdirAll(h.Home, 0o700); err != nil {
		return nil, err
	}
	h.Config = filepath.Join(dir, "agenthost.yaml")
	text, err := configText(o)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(h.Config, text, 0o600); err != nil {
		return nil, err
	}
	tb.Cleanup(h.cleanup)
	return h, nil
}

func (o *Options) binaries() (Binaries, error) {
	if o.Bin != nil {
		return *o.Bin, nil
	}
	return Build()
}

func configText(o Options) ([]byte, error) {
	switch c := o.Config.(type) {
	case string:
		if len(o.Adapters) > 0 {
			return nil, errors.New("hostproc: Adapters need a Config that is a map")
		}
		return []byte(c), nil
	case nil:
		return json.Marshal(withAdapters(map[string]any{}, o.Adapters))
	case map[string]any:
		return json.Marshal(withAdapters(c, o.Adapters))
	default:
		return json.Marshal(c)
	}
}

func withAdapters(c, adapters map[string]any) map[string]any {
	c = maps.Clone(c)
	if len(adapters) > 0 {
		agents := map[string]any{}
		if have, ok := c["agents"].(map[string]any); ok {
			maps.Copy(agents, have)
		}
		maps.Copy(agents, adapters)
		c["agents"] = agents
	}
	return c
}

// endedError says that the server ended before it served.
type endedError struct{ code int }

func (e *endedError) Error() string { return fmt.Sprintf("ended with exit code %d", e.code) }

var listening = regexp.MustCompile(`msg"?[=:]"?listening"? .*?url=(http://\S+)|"msg":"listening","url":"([^"]+)"`)

func (h *Host) start() error {
	args := []string{"serve", "--config", h.Config, "--listen", "127.0.0.1:0", "--state-dir", h.StateDir}
	args = append(append(append(args[:0:0], h.opts.Wrap...), h.Bin.Server), append(args, h.opts.Args...)...)
	h.cmd = exec.Command(args[0], args[1:]...)
	h.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Home, "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8"}, h.opts.Env...)
	if os.Geteuid() != 0 { // else it could not be looked into
		h.cmd.Env = append(h.cmd.Env, "AGENTHOST_DUMPABLE=1")
	}
	h.cmd.Dir = h.Home
	h.cmd.Stdout, h.cmd.Stderr = h.log, h.log
	h.cmd.WaitDelay = 5 * time.Second
	since := h.log.len()
	if err := h.cmd.Start(); err != nil {
		return err
	}
	cmd, done := h.cmd, make(chan struct{})
	h.Pid, h.done, h.err = cmd.Process.Pid, done, nil // wrapped corrects Pid
	go func() {
		h.err = cmd.Wait()
		close(done)
	}()
	timeout := h.opts.StartTimeout
	if timeout == 0 {
		timeout = 30 * time.Second
	}
	deadline := time.After(timeout)
	for {
		changed := h.log.changed()
		if m := listening.FindStringSubmatch(h.log.from(since)); m != nil {
			h.URL = m[1] + m[2]
			h.Pid = h.wrapped()
			break
		}
		select {
		case <-changed:
		case <-done:
			return &endedError{code: h.cmd.ProcessState.ExitCode()}
		case <-deadline:
			return fmt.Errorf("not listening after %s", timeout)
		}
	}
	if h.opts.NotReady {
		return nil
	}
	return h.poll(timeout, func() error {
		status, body, err := get(h.URL + "/readyz")
		if err == nil && status != 200 {
			err = fmt.Errorf("/readyz answers %d %s", status, body)
		}
		return err
	})
}

// wrapped is the server's own process id, which is another than that of the program
// that we started when it runs the server as its child.
func (h *Host) wrapped() int {
	if len(h.opts.Wrap) == 0 {
		// A child that the server has just forked still has its command line.
		return h.Pid
	}
	for _, p := range h.Descendants() {
		if strings.HasPrefix(p.Command, h.Bin.Server+" serve ") {
			return p.Pid
		}
	}
	return h.Pid
}

// poll asks until ask has no error, the server ends or the time is over.
func (h *Host) poll(timeout time.Duration, ask func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(timeout)
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-h.done:
			return fmt.Errorf("the server ended: %w", err)
		case <-deadline:
			return fmt.Errorf("after %s: %w", timeout, err)
		}
	}
}

// client has no connection of another test's in its pool.
var client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func get(url string) (int, string, error) {
	resp, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// StopTimeout bounds Stop: the drain, the kill ladder and the last events.
const StopTimeout = 60 * time.Second

// Stop sends SIGTERM and checks what a clean stop promises: exit code 0, and
// nothing alive that the server had started.
func (h *Host) Stop() {
	h.tb.Helper()
	if !h.Running() {
		h.tb.Errorf("the server had ended by itself: %v\n%s", h.err, h.LogTail())
		return
	}
	h.Signal(syscall.SIGTERM)
	h.Ended(StopTimeout)
	if left := h.Marked(); len(left) > 0 {
		h.tb.Errorf("alive after the server's end: %v", left)
	}
}

// Ended waits for the server to end and checks that its exit code is 0.
func (h *Host) Ended(timeout time.Duration) {
	h.tb.Helper()
	select {
	case <-h.done:
	case <-time.After(timeout):
		h.Signal(syscall.SIGQUIT) // for what its goroutines do
		select {
		case <-h.done:
		case <-time.After(timeout):
		}
		h.tb.Fatalf("the server still runs %s after it was asked to stop\n%s", timeout, h.Log())
	}
	if code := h.cmd.ProcessState.ExitCode(); code != 0 {
		h.tb.Errorf("the server's exit code is %d\n%s", code, h.LogTail())
	}
}

// Signal sends sig to the server.
func (h *Host) Signal(sig syscall.Signal) {
	h.tb.Helper()
	err := os.ErrProcessDone
	if h.Running() {
		err = syscall.Kill(h.Pid, sig)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		h.tb.Errorf("signal %s: %v", sig, err)
	}
}

// Running says whether the server process lives.
func (h *Host) Running() bool {
	if h.done == nil {
		return false
	}
	select {
	case <-h.done:
		return false
	default:
		return true
	}
}

// ExitCode is that of a server that has ended; -1 when a signal ended it.
func (h *Host) ExitCode() int {
	<-h.done
	return h.cmd.ProcessState.ExitCode()
}

// Done is closed when the server process ended.
func (h *Host) Done() <-chan struct{} { return h.done }

// Kill ends the server with SIGKILL and waits for it.
func (h *Host) Kill() {
	h.tb.Helper()
	h.Signal(syscall.SIGKILL)
	select {
	case <-h.done:
	case <-time.After(10 * time.Second):
		h.tb.Fatalf("the server outlived SIGKILL")
	}
}

// Restart starts a server on the same state directory, with the same settings. A
// server that still runs is stopped first. URL and Pid change.
func (h *Host) Restart() {
	h.tb.Helper()
	if h.Running() {
		h.Stop()
	}
	if err := h.start(); err != nil {
		h.tb.Fatalf("restart: %v\n%s", err, h.LogTail())
	}
}

// cleanup ends what the test left.
func (h *Host) cleanup() {
	if h.tb.Failed() {
		h.tb.Logf("server log:\n%s", h.LogTail())
	}
	if h.Running() {
		_ = syscall.Kill(h.Pid, syscall.SIGKILL)
		<-h.done
	}
	for _, p := range h.Marked() {
		p.Signal(syscall.SIGKILL)
	}
	// A CLI that dies may be writing its last file below the state directory, which
	// is removed next.
	_ = until(5*time.Second, func() bool { return len(h.Marked()) == 0 })
}

// Log is everything the server wrote, over all its starts.
func (h *Host) Log() string { return h.log.from(0) }

// LogTail is the end of the log, short enough for a test's output.
func (h *Host) LogTail() string {
	text := h.Log()
	if n := len(text) - 8<<10; n > 0 {
		text = "..." + text[n:]
	}
	return text
}

// log keeps what is written and tells of more.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.text.Write(p)
}

func (l *log) changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more == nil {
		l.more = make(chan struct{})
	}
	return l.more
}

func (l *log) from(at int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(l.text.Bytes()[at:]), "?")
}

func (l *log) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Len()
}
