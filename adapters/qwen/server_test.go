package qwen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/qwen"
)

func asking() *agent.Request {
	r := adaptertest.Request(&qwen.Adapter{})
	r.Permissions = spec.Ask
	r.MCP = map[string]spec.MCPServer{"docs": {Command: "docs-server", Env: map[string]string{"T": "tok-1"}, Allowed: []string{"echo"}}}
	return r
}

// The lines of the real qwen --acp, each session played to its end.
func TestRecordedServers(t *testing.T) {
	t.Parallel()
	adaptertest.RunStages(t, "testdata/acp", &qwen.Adapter{}, asking)
}

// What a process is started with: no secret is in its arguments or files, and what it
// may not do it cannot.
func TestServerProcess(t *testing.T) {
	t.Parallel()
	a := &qwen.Adapter{}
	r := asking()
	r.Model, r.LLM = "qwen3-coder-plus", agent.LLM{BaseURL: "http://127.0.0.1:18080", APIKey: "sk-secret", WireAPI: "chat"}
	run, err := a.Runner(r)
	if err != nil {
		t.Fatal(err)
	}
	settings := string(run.Files[0].Data)
	if args := strings.Join(run.Args, " "); args != "--acp --auth-type openai --model qwen3-coder-plus" || strings.Contains(settings, "tok-1") {
		t.Errorf("arguments %q, settings %s", args, settings)
	}
	for _, want := range []string{`"trust":false`, `"includeTools":["echo"]`} {
		if !strings.Contains(settings, want) {
			t.Errorf("%s is not in %s", want, settings)
		}
	}
	if !slices.Contains(run.Env, "OPENAI_API_KEY=sk-secret") || run.Once || run.Threads < 2 {
		t.Errorf("%+v", run)
	}
	r.Permissions = spec.ReadOnly
	if run, err = a.Runner(r); err != nil || !slices.Contains(run.Args, "run_shell_command,write_file,edit,notebook_edit") {
		t.Errorf("read_only: %v %v", run, err)
	}
	for param, change := range map[string]func(*agent.Request){
		"text.format": func(r *agent.Request) { r.Text.Type = "json_schema" },
		"input":       func(r *agent.Request) { r.Images = []string{"a.png"} },
		"permissions": func(r *agent.Request) { r.Permissions = "root" },
		"model":       func(r *agent.Request) { r.Model = "--yolo" },
	} {
		r := asking()
		change(r)
		if f, ok := event.AsFailure(a.ValidatePersistent(r)); !ok || f.Param != param {
			t.Errorf("%s: %v", param, f)
		}
	}
}
