package acceptance

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/adapters"
	"github.com/agenthost/agenthost/adapters/codex"
	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/fakes/registry"
)

// impostor is a registry whose Codex is somebody else's: everything of the manifest is
// there under its name, version and checksum, and nothing is what the manifest names.
func impostor(t *testing.T) (*registry.Registry, []string) {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not there")
	}
	r := registry.New(t)
	list, err := adapters.Manifests(codex.Name)
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for at, raw := range list[0].NPM.Lock {
		var entry struct{ Name, Version, Integrity string }
		if err := json.Unmarshal(raw, &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Name == "" {
			entry.Name = strings.TrimPrefix(at, "node_modules/")
		}
		r.Publish(t, entry.Name, entry.Version, "codex", "#!/bin/sh\necho codex-cli "+codex.Pinned+"\n")
		r.Claim(entry.Name, entry.Version, entry.Integrity)
	}
	return r, r.Env(t.TempDir())
}

// having are the processes that have a text in their environment.
func having(t *testing.T, text string) (pids []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range list {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(text)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

func TestKilledInstallationLeavesNothingThatIsFound(t *testing.T) {
	t.Parallel()
	bin, err := hostproc.Build()
	if err != nil {
		t.Fatal(err)
	}
	reg, environ := impostor(t)
	dir := t.TempDir()
	tools := filepath.Join(dir, "tools")
	var said bytes.Buffer
	install := func() *exec.Cmd {
		said.Reset()
		cmd := exec.Command(bin.Server, "install", "codex")
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "ABX_TOOLS_DIR=" + tools, "AGENTHOST_STATE_DIR=" + filepath.Join(dir, "state")}, environ...)
		cmd.Stdout, cmd.Stderr, cmd.Dir = &said, &said, dir
		return cmd
	}
	found := func() []string {
		links, _ := filepath.Glob(filepath.Join(tools, "bin", "*"))
		versions, _ := filepath.Glob(filepath.Join(tools, "packages", "codex", "[0-9]*"))
		return append(links, versions...)
	}

	reg.Hold()
	first := install()
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-reg.Asked(): // npm downloads
	case <-time.After(time.Minute):
		_ = first.Process.Kill()
		_ = first.Wait()
		t.Fatalf("npm asks for nothing: %s", said.String())
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	waitFor(t, time.Minute, "npm is ended by the warden", func() bool { return len(having(t, tools)) == 0 })
	if links, _ := filepath.Glob(filepath.Join(tools, "bin", "*")); len(links) > 0 {
		t.Errorf("a killed installation left %q", links)
	}

	reg.Open()
	second := install()
	err = second.Run()
	if second.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "is not what this host's manifest names") {
		t.Errorf("an impostor's package: %v, %s", err, said.String())
	}
	if left := found(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestFirstUseOfAMissingCLIShowsItsEnvironment(t *testing.T) {
	t.Parallel()
	_, environ := impostor(t)
	r := newRig(t, cli("codex", map[string]any{"binary": "codex", "auto_install": true}), key("tools_dir", filepath.Join(t.TempDir(), "tools")),
		env(append([]string{"PATH=" + withoutCodex(t), "ABX_AGENTS_ALLOW_INSTALL=1"}, environ[:len(environ)-1]...)...))
	session := r.http.session("codex")
	r.http.say(session, "hello")
	live := r.http.events(session, "?close_on_idle=true&after=evt_0000000000000001")
	frames := live.end(time.Minute)
	for _, kind := range []string{"agent.session.environment.pending", "agent.session.environment.failed", "agent.session.turn.failed"} {
		if count(frames, kind) != 1 {
			t.Fatalf("no %s in %s", kind, kinds(frames))
		}
	}
	for _, f := range frames {
		if f.kind() != "agent.session.environment.failed" {
			continue
		}
		e := at(f.data(), "environment")
		if code, _ := at(e, "error", "code").(string); code != "runtime_not_installed" {
			t.Errorf("%v", e)
		}
		if message, _ := at(e, "error", "message").(string); !strings.Contains(message, "is not what this host's manifest names") {
			t.Errorf("%v", e)
		}
	}
	one := r.http.ok("GET", "/v1/agents/runtimes", nil)
	for _, runtime := range one.list("data") {
		if word(runtime, "id") != "codex" {
			continue
		}
		if at(runtime, "install", "status") != "failed" || at(runtime, "install", "error", "code") != "integrity_mismatch" {
			t.Errorf("%v", at(runtime, "install"))
		}
	}
	r.Stop()
	r.Restart()
	replay := r.http.events(session, "?close_on_idle=true&after=evt_0000000000000001")
	replay.end(time.Minute)
	if !bytes.Equal(live.content(), replay.content()) {
		t.Errorf("live\n%s\nreplayed\n%s", live.content(), replay.content())
	}
}

// withoutCodex is PATH without the directories that have a codex.
func withoutCodex(t *testing.T) string {
	t.Helper()
	var dirs []string
	for _, d := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(d, "codex")); err != nil {
			dirs = append(dirs, d)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// A real CLI from the registry that this machine's npm is set up for: the first turn
// installs it, and the scripted model answers.
func TestRealCLIIsInstalledByItsFirstTurn(t *testing.T) {
	t.Parallel()
	if !certifies() {
		t.Skip("it downloads a CLI: make certify")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	tools := filepath.Join(t.TempDir(), "tools")
	r := newCLIRig(t, "qwen-code", "qwen", cli("qwen-code", map[string]any{"auto_install": true}), key("tools_dir", tools),
		env("ABX_AGENTS_ALLOW_INSTALL=1", "NPM_CONFIG_USERCONFIG="+filepath.Join(home, ".npmrc")))
	session := r.http.session("qwen-code")
	r.http.say(session, "[[say: here it is]]")
	live := r.http.events(session, "?close_on_idle=true&after=evt_0000000000000001")
	frames := live.end(cliTurnLimit + 5*time.Minute)
	for _, kind := range []string{"agent.session.environment.pending", "agent.session.environment.ready", "agent.session.turn.completed"} {
		if count(frames, kind) != 1 {
			t.Fatalf("no %s in %s: %s", kind, kinds(frames), r.LogTail())
		}
	}
	if _, err := os.Stat(filepath.Join(tools, "bin", "qwen")); err != nil {
		t.Error(err)
	}
}
