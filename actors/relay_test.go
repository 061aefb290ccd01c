package actors_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// pointed is the script adapter with a CLI that takes its provider from variables.
type pointed struct{ script }

func (p pointed) Capabilities() agent.Capabilities {
	c := p.script.Capabilities()
	c.BaseURL = true
	return c
}

func (p pointed) Invocation(r *agent.Request) (*agent.Invocation, error) {
	inv, err := p.script.Invocation(r)
	if err == nil {
		inv.Env = append(inv.Env, "BASE="+r.LLM.BaseURL, "MY_KEY="+r.LLM.APIKey)
	}
	return inv, err
}

// model is a provider that says what key it saw, and what an answer used.
func model(t *testing.T) (url string, keys func() []string) {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Get("Authorization"))
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":30,"output_tokens":12}}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return append([]string(nil), seen...) }
}

const asks = `curl -s -m 20 -o /dev/null -X POST -H "Authorization: Bearer $MY_KEY" -d '{}' "$BASE/responses"; `

func needCurl(t *testing.T) {
	t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "curl")); err == nil {
			return
		}
	}
	t.Skip("no curl")
}

// A turn reaches its provider with the key that it never had; what the answer used
// counts although its CLI says nothing of it and was cancelled; its token is worth
// nothing afterwards.
func TestRelayedTurnHasNoKey(t *testing.T) {
	t.Parallel()
	needCurl(t)
	const key = "sk-test-relayed-5a0b1c2d"
	url, keys := model(t)
	h := startedIn(t, t.TempDir(), quick(), memory.New(),
		actors.WithEnviron([]string{"PATH=" + os.Getenv("PATH"), "SAME=" + key, "WITHIN=Bearer " + key, "HTTP_PROXY=http://127.0.0.1:1"}),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: pointed{}, Relay: true, LLM: agent.LLM{BaseURL: url + "/v1", APIKey: key}, Passthrough: []string{"SAME", "WITHIN"}}))
	p := create(t, h, asks+`env > env.txt; echo asked; exec sleep 60`)
	ses, turn := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, func(e event.Event) bool { return e.Kind == event.TextDelta })
	_, err := h.CancelTurn(ctx(t), "alice", turn)
	must(t, err)
	end := outcome(t, follow(t, h, ses, 0, ended(turn)))
	if end.Outcome != event.Cancelled || end.Usage == nil || end.Usage.Total() != 42 {
		t.Errorf("%v, used %+v", end.Outcome, end.Usage)
	}
	if got := keys(); len(got) != 1 || got[0] != "Bearer "+key {
		t.Errorf("the provider saw %q", got)
	}
	raw, err := os.ReadFile(filepath.Join(p.Session.Settings.Environment.Workspace, "env.txt"))
	must(t, err)
	env := variables(string(raw))
	if strings.Contains(string(raw), key) || env["MY_KEY"] == "" || !strings.HasPrefix(env["BASE"], "http://127.0.0.1:") || env["NO_PROXY"] != "127.0.0.1" {
		t.Errorf("the CLI saw %s", raw)
	}
	// The token ends when the process's tree is gone, which may be after the turn's end.
	again := create(t, h, `for i in $(seq 200); do code=$(curl -s -m 20 -o /dev/null -w '%{http_code}' -H "Authorization: Bearer `+env["MY_KEY"]+`" "$BASE/models"); [ "$code" = 401 ] && break; sleep 0.05; done; echo "$code"`)
	follow(t, h, again.Session.ID, 0, ended(again.Turns[0].ID))
	back, err := h.Turn(ctx(t), "alice", again.Turns[0].ID)
	must(t, err)
	if got := strings.TrimSpace(back.Items[0].Text); got != "401" {
		t.Errorf("an old token is answered %q", got)
	}
}

func variables(text string) map[string]string {
	env := map[string]string{}
	for line := range strings.Lines(text) {
		k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		env[k] = v
	}
	return env
}

// A budget holds for what only the provider's answers tell.
func TestBudgetCountsWhatTheRelaySaw(t *testing.T) {
	t.Parallel()
	needCurl(t)
	url, _ := model(t)
	h := startedIn(t, t.TempDir(), quick(), memory.New(),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: pointed{}, Relay: true, LLM: agent.LLM{BaseURL: url + "/v1", APIKey: "sk-test-budgeted"}}))
	p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script", Limits: spec.Limits{MaxTokens: 100}}, Input: input(strings.Repeat(asks, 3) + "exec sleep 60")})
	must(t, err)
	end := outcome(t, follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID)))
	if end.Failure == nil || end.Failure.Code != event.BudgetReached {
		t.Errorf("%+v", end)
	}
}

func TestRelayNeedsWhatItRelays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adapter agent.Adapter
		llm     agent.LLM
	}{
		"no key": {pointed{}, agent.LLM{BaseURL: "https://x"}}, "no address": {pointed{}, agent.LLM{APIKey: "sk-test-0000"}},
		"own provider": {script{}, agent.LLM{BaseURL: "https://x", APIKey: "sk-test-0000"}},
	} {
		h := startedIn(t, t.TempDir(), quick(), memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: c.adapter, Relay: true, LLM: c.llm}))
		p := create(t, h, "echo hello")
		if end := outcome(t, follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))); end.Failure == nil || !strings.Contains(end.Failure.Message, "llm.relay") {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

// What an agent of the configuration says of its provider goes before its adapter's,
// field by field; what a caller's says is nothing.
func TestProviderOfAnAgent(t *testing.T) {
	t.Parallel()
	h := startedIn(t, t.TempDir(), quick(), memory.New(),
		actors.WithEnviron([]string{"PATH=" + os.Getenv("PATH"), "OTHER_KEY=other-key-value", "OTHER_URL=https://other.example"}),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: pointed{}, LLM: agent.LLM{BaseURL: "https://host.example", APIKey: "host-key-value"}}),
		actors.WithAgents(
			spec.Agent{Name: "both", Adapter: "script", LLM: &spec.LLM{BaseURLEnv: "OTHER_URL", APIKeyEnv: "OTHER_KEY"}},
			spec.Agent{Name: "keyed", Adapter: "script", LLM: &spec.LLM{APIKeyEnv: "OTHER_KEY"}},
			spec.Agent{Name: "unset", Adapter: "script", LLM: &spec.LLM{APIKeyEnv: "NOT_SET", BaseURLEnv: "NOT_SET"}}))
	for name, want := range map[string][2]string{
		"both": {"https://other.example", "other-key-value"}, "keyed": {"https://host.example", "other-key-value"}, "unset": {"https://host.example", "host-key-value"},
		"": {"https://host.example", "host-key-value"},
	} {
		a := spec.Agent{Adapter: "script", LLM: &spec.LLM{BaseURL: "https://attacker.example", APIKeyEnv: "OTHER_KEY"}}
		if name != "" {
			found, err := h.AgentsNamed(ctx(t), "alice", name)
			must(t, err)
			a = *found[0]
		}
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: a, Input: input("env > env.txt")})
		must(t, err)
		follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
		raw, err := os.ReadFile(filepath.Join(p.Session.Settings.Environment.Workspace, "env.txt"))
		must(t, err)
		if env := variables(string(raw)); env["BASE"] != want[0] || env["MY_KEY"] != want[1] {
			t.Errorf("%q: %s with %s", name, env["BASE"], env["MY_KEY"])
		}
	}
}

// A caller's agent may not set the variables that decide what runs or who is asked.
func TestCallerSmugglesNoVariables(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	for _, name := range []string{
		"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "node_options", "PATH", "HOME", "BASH_ENV", "BASH_FUNC_ls%%", "PYTHONSTARTUP", "GIT_SSH_COMMAND",
		"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "CODEX_HOME", "https_proxy", "HTTP_PROXY", "AGENTHOST_OWNER", "ABX_SERVER_TOKEN", "CLAUDE_CONFIG_DIR", "SOME_API_KEY", "A=B", "",
	} {
		_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script", Env: map[string]string{name: "/tmp/evil"}}, Input: input("true")})
		if f, ok := event.AsFailure(err); !ok || f.Code != event.InvalidRequest || f.Param != "env."+name {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script", Env: map[string]string{"LOG_LEVEL": "debug"}}, Input: input("true")})
	must(t, err)
}

// What a CLI prints of a secret in pieces, one after the other or folded over lines, is
// redacted in the stream, the item and the tail of its stderr.
func TestSecretPrintedInPieces(t *testing.T) {
	t.Parallel()
	const key = "sk-test-in-pieces-0a1b2c3d"
	h := started(t, quick(), memory.New(), actors.WithRuntime(actors.RuntimeConfig{LLM: agent.LLM{APIKey: key}, Adapter: script{name: "keyed",
		invocation: func(r *agent.Request, inv *agent.Invocation) { inv.Env = append(inv.Env, "K="+r.LLM.APIKey) },
		parser:     func(*agent.Request) agent.Parser { return &piecemeal{} },
	}}))
	p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "keyed"}, Input: input(
		`echo "it is "; echo "$K" | cut -c1-9; sleep 0.05; echo "$K" | cut -c10-17; echo "$K" | cut -c18-; echo " and"; printf %s "$(echo "$K" | cut -c1-12)" >&2; sleep 0.05; printf %s "$(echo "$K" | cut -c13-)" >&2; exit 3`)})
	must(t, err)
	ses, turn := p.Session.ID, p.Turns[0].ID
	events := follow(t, h, ses, 0, ended(turn))
	var said strings.Builder
	for _, e := range events {
		if e.Kind == event.TextDelta {
			said.WriteString(e.Text)
		}
	}
	if got := said.String(); got != "it is [redacted] and" {
		t.Errorf("it said %q", got)
	}
	if end := outcome(t, events); end.Failure == nil || strings.Contains(end.Failure.Message, "2c3d") || !strings.Contains(end.Failure.Message, "[redacted]") {
		t.Errorf("a piece is left in stderr: %+v", end.Failure)
	}
}

// piecemeal says each line as a piece of one message.
type piecemeal struct{ scriptParser }

func (p *piecemeal) Feed(line []byte, out *agent.Batch) {
	out.Add(agent.Fact{Kind: agent.FactText, Key: "m", Text: string(line)})
}
