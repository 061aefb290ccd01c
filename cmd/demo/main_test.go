package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asDemo makes this test binary the demo itself.
const asDemo = "DEMO_TEST_AS_DEMO"

func TestMain(m *testing.M) {
	if os.Getenv(asDemo) != "" {
		main()
	}
	os.Exit(m.Run())
}

// endless answers every request with a stream that ends when its reader leaves.
func endless(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			_, _ = fmt.Fprint(w, "data: {\"type\":\"response.in_progress\"}\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// started is the demo as a process whose server only says that it listens.
func started(t *testing.T, dir string) (*exec.Cmd, *os.File, *strings.Builder) {
	t.Helper()
	return startedTill(t, dir, "response.in_progress")
}

// startedTill waits until the demo has printed a line with the text.
func startedTill(t *testing.T, dir, text string, more ...string) (*exec.Cmd, *os.File, *strings.Builder) {
	t.Helper()
	server := filepath.Join(dir, "server")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" > %[1]s/args\necho $$ > %[1]s/pid\necho '{\"msg\":\"listening\",\"url\":\"%[2]s\"}' >&2\ntrap 'kill $!; exit 0' TERM\nsleep 300 & wait\n", dir, endless(t))
	if err := os.WriteFile(server, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &strings.Builder{}
	cmd := exec.Command(os.Args[0], "-stand-in", "-server", server, "-fake", server, "-tools", filepath.Join(dir, "build", "tools"))
	cmd.Args = append(cmd.Args, more...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asDemo+"=1"), w, said
	if err := errors.Join(cmd.Start(), w.Close()); err != nil {
		t.Fatal(err)
	}
	force := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { force.Stop(); _ = r.Close() })
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if strings.Contains(lines.Text(), text) {
			return cmd, r, said
		}
	}
	t.Fatalf("not shown: %v %s", cmd.Wait(), said)
	return nil, nil, nil
}

// cleaned checks that the server and the demo's folder are gone.
func cleaned(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the server still runs: %v", err)
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "build", "demo-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// Left up, the demo says where the server is and what the model understands, and ends
// well on a signal.
func TestServeStaysUpUntilASignal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, out, said := startedTill(t, dir, "Ctrl-C ends it", "-serve", "-listen", "127.0.0.1:0", "--", "--log.level", "debug")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); { // read on until it has ended
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v: %s", err, said)
	}
	cleaned(t, dir)
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil || !strings.HasSuffix(string(args), " --log.level debug\n") || !strings.Contains(string(args), "--tools-dir "+filepath.Join(dir, "build", "tools", "bin")) {
		t.Errorf("the server got %q, %v", args, err)
	}
}

func TestAnOutputThatNobodyReadsEndsTheDemoInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd, out, said := started(t, dir)
	if err := out.Close(); err != nil { // as `| head -5` does
		t.Fatal(err)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 1 || !strings.Contains(said.String(), "cannot be written") {
		t.Errorf("ended with %v: %s", err, said)
	}
	cleaned(t, dir)
}

func TestASignalEndsTheDemoInOrder(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		cmd, out, said := started(t, dir)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); { // read on until it has ended
		}
		var ended *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 1 {
			t.Errorf("%s: ended with %v: %s", sig, err, said)
		}
		cleaned(t, dir)
	}
}
