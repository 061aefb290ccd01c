package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/faultplan"
)

// A secret that the server has by a variable, and one of no known shape.
const (
	markedKey   = "marked-key-of-the-provider-0123"
	markedToken = "marked-token-of-a-caller-4567"
)

// nobody is a user without any rights.
const nobody = 65534

// serving is a server of its own process, as another user when the test may do that.
type serving struct {
	t    *testing.T
	cmd  *exec.Cmd
	dir  string
	done chan struct{}

	mu   sync.Mutex
	said bytes.Buffer
}

func (s *serving) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(p)
}

func (s *serving) stderr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// as makes cmd one of the user nobody.
func as(cmd *exec.Cmd) *exec.Cmd {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// openDir is an empty directory that nobody owns.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agenthost-open-") //nolint:usetesting // t.TempDir lies below what only its owner enters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func serveAs(t *testing.T, env, args []string) *serving {
	t.Helper()
	s := &serving{t: t, dir: openDir(t), done: make(chan struct{})}
	config := "auth: {tokens: [{id: app, roles: [admin], token_env: MARKED_TOKEN}]}\nagents: {codex: {llm: {api_key_env: MARKED_KEY}}}\n"
	file := filepath.Join(s.dir, "agenthost.yaml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	// The test binary itself, by a way that no directory of another user bars.
	s.cmd = as(exec.Command("/proc/self/exe"))
	s.cmd.Args = append([]string{"agenthost", "serve", "--config", file, "--listen", "127.0.0.1:0", "--state-dir", filepath.Join(s.dir, "state")}, args...)
	s.cmd.Dir = s.dir
	s.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "MARKED_KEY=" + markedKey, "MARKED_TOKEN=" + markedToken}, env...)
	s.cmd.Stdout, s.cmd.Stderr = s, s
	s.cmd.WaitDelay = 10 * time.Second
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
	})
	return s
}

var listeningAt = regexp.MustCompile(`listening"? .*?url=(http://\S+)`)

// url waits until it listens.
func (s *serving) url() string {
	s.t.Helper()
	for over := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // between two looks
		if m := listeningAt.FindStringSubmatch(s.stderr()); m != nil {
			return m[1]
		}
		select {
		case <-s.done:
			s.t.Fatalf("the server ended: %s", s.stderr())
		default:
		}
		if time.Now().After(over) {
			s.t.Fatalf("the server does not listen: %s", s.stderr())
		}
	}
}

// Another process of the server's user, as an agent is without walls, reads neither its
// environment nor its memory, and the server still counts its own descriptors.
func TestAgentsDoNotReadTheServer(t *testing.T) {
	t.Parallel()
	reads := func(s *serving) string {
		pid := strconv.Itoa(s.cmd.Process.Pid)
		script := "tr '\\0' '\\n' </proc/" + pid + "/environ; cat /proc/" + pid + "/maps; head -c1 /proc/" + pid + "/mem; ls /proc/" + pid + "/fd /proc/" + pid + "/cwd; true"
		out, err := as(exec.Command("/bin/sh", "-c", script)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	s := serveAs(t, nil, nil)
	url := s.url()
	if out := reads(s); strings.Contains(out, markedKey) || strings.Contains(out, markedToken) || strings.Contains(out, "r-xp") || strings.Count(strings.ToLower(out), "permission denied") < 4 {
		t.Errorf("another process of the user read: %s", out)
	}
	metrics := page(t, url+"/metrics")
	if n := regexp.MustCompile(`(?m)^process_open_fds (\d+)`).FindStringSubmatch(metrics); n == nil || len(n[1]) < 1 || n[1] == "0" {
		t.Errorf("the server does not count its descriptors: %v", n)
	}
	if !regexp.MustCompile(`(?m)^process_resident_memory_bytes [1-9]`).MatchString(metrics) {
		t.Error("the server does not know its memory")
	}
	// A warden that has just begun is not closed yet, and has nothing to tell.
	for over := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) { // between two looks
		list, open := wardens(t, s.cmd.Process.Pid), 0
		for _, pid := range list {
			if as(exec.Command("/bin/cat", fmt.Sprintf("/proc/%d/environ", pid))).Run() == nil {
				open++
			}
		}
		if len(list) > 0 && open == 0 {
			break
		}
		if time.Now().After(over) {
			t.Fatalf("of %d wardens another process of the user reads %d", len(list), open)
		}
	}
	// Whoever has to look into it can; and this is what an agent would see.
	open := serveAs(t, []string{"AGENTHOST_DUMPABLE=1"}, nil)
	open.url()
	if out := reads(open); !strings.Contains(out, markedKey) || !strings.Contains(out, "r-xp") {
		t.Errorf("nothing was read without the protection, so this test shows nothing: %s", out)
	}
}

// wardens are the children of a server that are one: it runs CLIs for their version, too.
func wardens(t *testing.T, pid int) (list []int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tasks {
		text, _ := os.ReadFile(file) // a thread may have ended
		for word := range strings.FieldsSeq(string(text)) {
			n, err := strconv.Atoi(word)
			if line, _ := os.ReadFile("/proc/" + word + "/cmdline"); err == nil && strings.Contains(string(line), "\x00warden\x00") {
				list = append(list, n)
			}
		}
	}
	return list
}

func page(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+markedToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", url, resp.StatusCode, err)
	}
	return string(body)
}

// A panic that nothing recovers ends the server as it ends any program, with its value
// and its stack, and without the secrets in it: in its main goroutine and in another.
func TestACrashTellsNoSecrets(t *testing.T) {
	t.Parallel()
	words := "dies of key " + markedKey + ", " + base64.StdEncoding.EncodeToString([]byte(markedKey)) + " and " + markedToken
	for name, late := range map[string]bool{"main": false, "another": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := filepath.Join(openDir(t), "plan")
			write := func(says string) {
				t.Helper()
				if err := (faultplan.Plan{Boot: "x", Panic: says}).Write(plan); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(plan, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			first := words
			if late {
				first = ""
			}
			write(first)
			s := serveAs(t, nil, []string{"--fault-plan", plan})
			if late {
				s.url()
				write(words)
			}
			select {
			case <-s.done:
			case <-time.After(time.Minute):
				t.Fatalf("the server lives: %s", s.stderr())
			}
			said := s.stderr()
			if code := s.cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(said, "panic: dies of key [redacted], [redacted] and [redacted]\n") || !strings.Contains(said, "faultplan.go:") {
				t.Errorf("exit %d: %s", code, said)
			}
			if strings.Contains(said, markedKey) || strings.Contains(said, markedToken) {
				t.Errorf("a secret: %s", said)
			}
		})
	}
}
