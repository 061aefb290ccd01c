package actors_test

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

// A CLI prints the provider's key, plain and encoded, in its answer, in a tool and
// on stderr, and fails: the key is nowhere.
func TestKeyOfTheProviderIsNowhere(t *testing.T) {
	t.Parallel()
	const key = "sk-test-7f3a91c2d4"
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	var log syncBuffer
	dir := t.TempDir()
	st, err := sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	h := startedIn(t, dir, quick(), st,
		actors.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		actors.WithRuntime(actors.RuntimeConfig{
			LLM: agent.LLM{APIKey: key},
			Adapter: script{invocation: func(r *agent.Request, inv *agent.Invocation) {
				inv.Env = append(inv.Env, "PROVIDER="+r.LLM.APIKey, "ENCODED="+base64.StdEncoding.EncodeToString([]byte(r.LLM.APIKey)))
			}},
		}))
	p := create(t, h, `echo "the key is $PROVIDER, or $ENCODED"; echo "#tool echo $PROVIDER"; echo "bad key $PROVIDER" >&2; exit 7`)
	ses, turn := p.Session.ID, p.Turns[0].ID
	end := outcome(t, follow(t, h, ses, 0, ended(turn)))
	if end.Failure == nil || !strings.Contains(end.Failure.Message, "bad key [redacted]") {
		t.Errorf("failure %v, want stderr in it", end.Failure)
	}
	back, err := h.Turn(ctx(t), "alice", turn)
	if err != nil || !strings.Contains(back.Items[0].Text, "the key is [redacted], or [redacted]") {
		t.Errorf("turn %+v, %v", back.Items, err)
	}
	streamed, err := bytesAfter(t, h, ses, 0, headOf(t, h, ses))
	must(t, err)
	nothingLeft(t, h, dir)
	stop(t, h)
	shown := map[string][]byte{"stream": streamed, "log": []byte(log.String())}
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			shown[path], err = os.ReadFile(path)
		}
		return err
	}))
	if len(shown["log"]) == 0 || len(shown[filepath.Join(dir, "store.db")]) == 0 {
		t.Fatal("nothing to search in")
	}
	for where, b := range shown {
		if bytes.Contains(b, []byte(key)) || bytes.Contains(b, []byte(encoded)) {
			t.Errorf("the key is in the %s", where)
		}
	}
}

// What a CLI sees of the host's environment is a list, with what was configured.
func TestChildEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New(),
		actors.WithEnviron([]string{
			"PATH=" + os.Getenv("PATH"), "HOME=/home/x", "LC_ALL=C", "HTTPS_PROXY=http://proxy", "XDG_DATA_HOME=/d", "npm_config_registry=http://r",
			"CLAUDECODE=1", "CLAUDE_CODE_CHILD_SESSION=1", "AWS_SECRET_ACCESS_KEY=x", "ABX_SERVER_TOKEN=t", "AGENTHOST_TOKEN=t",
			"LD_PRELOAD=/evil.so", "LD_LIBRARY_PATH=/evil", "DYLD_INSERT_LIBRARIES=x", "PASSED=through", "NOT_PASSED=x", "VAULT=s3cr3t-value",
		}),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: script{}, Passthrough: []string{"PASSED", "LD_PRELOAD", "ABX_SERVER_TOKEN"}}),
		actors.WithAgents(spec.Agent{Name: "fixed", Adapter: "script", Env: map[string]string{"OWN": "1", "LD_AUDIT": "x"}, SecretEnv: map[string]string{"TOKEN": "VAULT"}}))
	run := func(a spec.Agent) map[string]string {
		t.Helper()
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: a, Input: input("env > env.txt")})
		must(t, err)
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
		raw, err := os.ReadFile(filepath.Join(p.Session.Settings.Environment.Workspace, "env.txt"))
		must(t, err)
		env := map[string]string{}
		for line := range strings.Lines(string(raw)) {
			k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			env[k] = v
		}
		return env
	}
	fixed, err := h.AgentsNamed(ctx(t), "alice", "fixed")
	must(t, err)
	env := run(*fixed[0])
	for k, want := range map[string]string{
		"HOME": "/home/x", "LC_ALL": "C", "HTTPS_PROXY": "http://proxy", "XDG_DATA_HOME": "/d", "npm_config_registry": "http://r",
		"PASSED": "through", "OWN": "1", "TOKEN": "s3cr3t-value",
	} {
		if env[k] != want {
			t.Errorf("%s=%q, want %q", k, env[k], want)
		}
	}
	id, err := os.ReadFile(filepath.Join(dir, "id"))
	must(t, err)
	if !strings.HasPrefix(env["AGENTHOST_OWNER"], string(id)+"/") {
		t.Errorf("marker %q", env["AGENTHOST_OWNER"])
	}
	for _, k := range []string{
		"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "AWS_SECRET_ACCESS_KEY", "ABX_SERVER_TOKEN", "AGENTHOST_TOKEN",
		"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "NOT_PASSED", "VAULT",
	} {
		if v, there := env[k]; there {
			t.Errorf("the CLI sees %s=%q", k, v)
		}
	}
	// A caller's agent may not name the host's variables.
	env = run(spec.Agent{Adapter: "script", Env: map[string]string{"OWN": "2"}, SecretEnv: map[string]string{"TOKEN": "VAULT"}})
	if env["OWN"] != "2" || env["TOKEN"] != "" {
		t.Errorf("a caller's agent sees OWN=%q TOKEN=%q", env["OWN"], env["TOKEN"])
	}
}

// A secret that the host is told of later is hidden as one that it knew at its start.
func TestSecretsAreLearned(t *testing.T) {
	t.Parallel()
	const late = "token-of-a-later-reload"
	h := started(t, quick(), memory.New())
	h.Hide(late, "")
	h.Hide(late)
	p := create(t, h, "echo "+late[:9]+late[9:])
	for _, e := range follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID)) {
		it, ok := e.Body.(*event.Item)
		if ok && e.Kind == event.ItemDone && !it.User && (strings.Contains(it.Text, late) || !strings.Contains(it.Text, "[redacted]")) {
			t.Errorf("said: %s", it.Text)
		}
	}
}
