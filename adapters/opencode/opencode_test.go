package opencode_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/opencode"
)

func asking() *agent.Request {
	r := adaptertest.Request(opencode.New())
	r.Permissions = spec.Ask
	r.MCP = map[string]spec.MCPServer{"docs": {Command: "docs-server", Env: map[string]string{"T": "tok-1"}, Allowed: []string{"echo"}}}
	r.Model, r.LLM = "m1", agent.LLM{BaseURL: "http://127.0.0.1:18080", APIKey: "sk-secret", WireAPI: "chat"}
	return r
}

func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.RunPersistent(t, opencode.New(), "opencode", func() *agent.Request {
		r := adaptertest.Request(opencode.New())
		r.LLM.BaseURL = "http://127.0.0.1:18080" // else a model is named with its provider
		return r
	})
}

// The lines of the real opencode acp, each session played to its end.
func TestRecordedServers(t *testing.T) {
	t.Parallel()
	adaptertest.RunStages(t, "testdata/acp", opencode.New(), asking)
	for _, feature := range []string{"text", "deltas", "reasoning", "commands", "file_changes", "cancel", "hosted_mcp"} {
		adaptertest.Record(t, "opencode", feature, agent.PassedThrough, "") // they are in the lines
	}
}

func configuration(t *testing.T, r *agent.Request) (run *agent.Runner, c struct {
	Model      string
	Provider   map[string]struct{ Options map[string]string }
	Permission map[string]string
}) {
	t.Helper()
	a := opencode.New()
	if err := a.ValidatePersistent(r); err != nil {
		t.Fatal(err)
	}
	run, err := a.Runner(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range run.Env {
		if text, ok := strings.CutPrefix(e, "OPENCODE_CONFIG_CONTENT="); ok {
			if err := json.Unmarshal([]byte(text), &c); err != nil || strings.Contains(text, "sk-secret") || strings.Contains(text, "tok-1") {
				t.Errorf("%v: %s", err, text)
			}
		}
	}
	return run, c
}

// The process is told its provider and what each tool may do, and no secret.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	run, c := configuration(t, asking())
	if c.Model != "host/m1" || c.Provider["host"].Options["baseURL"] != "http://127.0.0.1:18080/v1" || c.Provider["host"].Options["apiKey"] != "{env:AGENT_PROVIDER_KEY}" {
		t.Errorf("%+v", c)
	}
	if !slices.Contains(run.Env, "AGENT_PROVIDER_KEY=sk-secret") || !slices.Contains(run.Env, "XDG_DATA_HOME=/home/agent/state") || strings.Join(run.Args, " ") != "acp" {
		t.Errorf("%+v", run)
	}
	for perm, want := range map[spec.Permissions]map[string]string{
		spec.ReadOnly:       {"*": "deny", "read": "allow", "docs_*": "deny", "docs_echo": "allow", "external_directory": ""},
		spec.WorkspaceWrite: {"*": "allow", "external_directory": "deny", "docs_*": "deny", "docs_echo": "allow"},
		spec.FullAccess:     {"*": "allow", "external_directory": "", "docs_*": "deny"},
		spec.Ask:            {"*": "ask", "read": "allow", "docs_*": "deny", "docs_echo": "ask"},
	} {
		r := asking()
		r.Permissions = perm
		run, c := configuration(t, r)
		for tool, may := range want {
			if c.Permission[tool] != may {
				t.Errorf("%s: %s is %q, want %q", perm, tool, c.Permission[tool], may)
			}
		}
		if closed := slices.Contains(run.Env, "OPENCODE_DISABLE_PROJECT_CONFIG=1"); closed == (perm == spec.FullAccess) {
			t.Errorf("%s: the workspace's own configuration is left out: %v", perm, closed)
		}
	}
}

// Turns share a process only where nothing of one is seen by the other.
func TestWhoSharesAProcess(t *testing.T) {
	t.Parallel()
	a := opencode.New()
	key := func(change func(*agent.Request)) string {
		r := asking()
		change(r)
		run, err := a.Runner(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	same := key(func(*agent.Request) {})
	for what, change := range map[string]func(*agent.Request){
		"prompt":    func(r *agent.Request) { r.Prompt = "another" },
		"workspace": func(r *agent.Request) { r.Workspace = "/another" },
		"session":   func(r *agent.Request) { r.Session, r.Native = event.ID{9}, "ses_1" },
	} {
		if key(change) != same {
			t.Errorf("another %s has another process", what)
		}
	}
	for what, change := range map[string]func(*agent.Request){
		"key":   func(r *agent.Request) { r.LLM.APIKey = "sk-other" },
		"model": func(r *agent.Request) { r.Model = "m2" },
		"server": func(r *agent.Request) {
			r.MCP = maps.Clone(r.MCP)
			r.MCP["docs"] = spec.MCPServer{Command: "docs-server", Allowed: []string{"echo"}}
		},
		"tools": func(r *agent.Request) {
			r.MCP["docs"] = spec.MCPServer{Command: "docs-server", Env: map[string]string{"T": "tok-1"}}
		},
	} {
		if key(change) == same {
			t.Errorf("another %s has the same process", what)
		}
	}
	r := asking()
	r.Host = &agent.HostServer{Name: "host", URL: "http://127.0.0.1:1/x", TokenEnv: "T", Token: "t"}
	if run, err := a.Runner(r); err != nil || !run.Once {
		t.Errorf("a turn with functions of its own shares its process: %v", err)
	}
}

// The CLI fills variables and files into its configuration, wherever they are named in
// it: a caller's model must not name any, with a provider of the host or without.
func TestAModelNamesNoFile(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"{env:AGENT_PROVIDER_KEY}", "{file:/etc/passwd}", "openai/{file:~/.ssh/id_rsa}", "m}"} {
		for _, base := range []string{"", "http://127.0.0.1:18080"} {
			r := asking()
			r.Model, r.LLM.BaseURL = model, base
			if f, ok := event.AsFailure(opencode.New().ValidatePersistent(r)); !ok || f.Code != event.InvalidRequest || f.Param != "model" {
				t.Errorf("%s at %q: %v", model, base, f)
			}
		}
	}
}
