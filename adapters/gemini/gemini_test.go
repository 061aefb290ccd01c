package gemini_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/gemini"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.RunPersistent(t, gemini.New(), "gemini", func() *agent.Request { return adaptertest.Request(gemini.New()) })
}

func TestProcess(t *testing.T) {
	t.Parallel()
	a := gemini.New()
	r := adaptertest.Request(a)
	r.Model, r.LLM = "gemini-2.5-pro", agent.LLM{BaseURL: "http://127.0.0.1:18080", APIKey: "sk-secret"}
	run, err := a.Runner(r)
	if err != nil || !slices.Equal(run.Args, []string{"--acp"}) {
		t.Fatal(run, err)
	}
	for _, want := range []string{"GEMINI_API_KEY=sk-secret", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:18080", "GEMINI_MODEL=gemini-2.5-pro", "GEMINI_CLI_HOME=/home/agent/state"} {
		if !slices.Contains(run.Env, want) {
			t.Errorf("%s is not in %v", want, run.Env)
		}
	}
}

// What the protocol has for each kind of work is told; no turn of the real CLI was.
func TestDocumentedWork(t *testing.T) {
	t.Parallel()
	s := adaptertest.NewStage(gemini.New(), func() *agent.Request {
		r := adaptertest.Request(gemini.New())
		r.MCP = map[string]spec.MCPServer{"docs": {Command: "docs-server"}}
		return r
	})
	said := func(update string) string {
		return `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + update + "}}\n"
	}
	s.Play("hello\n" +
		`< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"gemini-cli","title":"Gemini CLI","version":"0.61.0"},"agentCapabilities":{"loadSession":true,"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":true}}}}` + "\n" +
		"ask 1\n" +
		`< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1","modes":{"availableModes":[{"id":"default"},{"id":"autoEdit"},{"id":"yolo"},{"id":"plan"}],"currentModeId":"default"},"models":{"availableModels":[{"modelId":"auto"},{"modelId":"gemini-2.5-pro"}],"currentModelId":"gemini-2.5-pro"}}}` + "\n" +
		said(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"let me see"}}`) +
		said(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I will run it."}}`) +
		`< {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"proceed_always","kind":"allow_always"},{"optionId":"proceed_once","kind":"allow_once"},{"optionId":"cancel","kind":"reject_once"}],"toolCall":{"toolCallId":"c1","status":"pending","title":"ls","kind":"execute","rawInput":{"command":"ls"}}}}` + "\n" +
		said(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"a.txt"}}]}`) +
		said(`{"sessionUpdate":"tool_call","toolCallId":"c2","kind":"edit","status":"completed","title":"a.txt","content":[{"type":"diff","path":"/workspace/a.txt","oldText":null,"newText":"x"}]}`) +
		"interrupt 1\n" + `< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}` + "\n")
	for _, want := range []string{"proceed_once", `reasoning text="let me see"`, `message text="I will run it."`, `done c1 command completed command="ls"`, `add="/workspace/a.txt"`, "session/cancel", "final cancelled", "over"} {
		if !strings.Contains(s.Text(), want) {
			t.Errorf("%s is not in\n%s", want, s.Text())
		}
	}
	for _, feature := range []string{"text", "deltas", "reasoning", "commands", "file_changes", "cancel", "hosted_mcp"} {
		adaptertest.Record(t, "gemini", feature, agent.PassedThrough, "")
	}
}

// A workspace is trusted for who may run what they like: with full access, and where
// tool servers are to run.
func TestTrustOfTheWorkspace(t *testing.T) {
	t.Parallel()
	servers := map[string]spec.MCPServer{"docs": {Command: "docs-server"}}
	for _, c := range []struct {
		permissions spec.Permissions
		servers     map[string]spec.MCPServer
		want        string
	}{
		{spec.ReadOnly, nil, "false"}, {spec.WorkspaceWrite, nil, "false"}, {spec.Ask, nil, "false"}, {spec.FullAccess, nil, "true"},
		{spec.WorkspaceWrite, servers, "true"}, {spec.FullAccess, servers, "true"}, {spec.ReadOnly, servers, ""}, {spec.Ask, servers, ""},
	} {
		r := adaptertest.Request(gemini.New())
		r.Permissions, r.MCP = c.permissions, c.servers
		run, err := gemini.New().Runner(r)
		if c.want == "" {
			if event.CodeOf(err) != event.Unsupported {
				t.Errorf("%s with tool servers: %v", c.permissions, err)
			}
			continue
		}
		if err != nil || !slices.Contains(run.Env, "GEMINI_CLI_TRUST_WORKSPACE="+c.want) {
			t.Errorf("%s: %v %v", c.permissions, run, err)
		}
	}
}

// What the real CLI tells of a tool server's call and of a command: titles.
func TestTitles(t *testing.T) {
	t.Parallel()
	s := adaptertest.NewStage(gemini.New(), func() *agent.Request {
		r := adaptertest.Request(gemini.New())
		r.Permissions, r.MCP = spec.WorkspaceWrite, map[string]spec.MCPServer{"docs": {Command: "docs-server"}}
		return r
	})
	said := func(update string) string {
		return `< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + update + "}}\n"
	}
	s.Play("hello\n" + `< {"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}` + "\nask 1\n" +
		`< {"id":2,"result":{"sessionId":"s1","modes":{"currentModeId":"default","availableModes":[{"id":"default"}]}}}` + "\n" +
		said(`{"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","status":"in_progress","title":"ls","content":[{"type":"content","content":{"type":"text","text":"[current working directory /home] (List)"}}]}`) +
		said(`{"sessionUpdate":"tool_call_update","toolCallId":"c1","kind":"execute","status":"completed","title":"ls","content":[]}`) +
		said(`{"sessionUpdate":"tool_call_update","toolCallId":"c2","kind":"other","status":"completed","title":"echo (docs MCP Server)","content":[{"type":"content","content":{"type":"text","text":"pong"}}]}`) +
		`< {"id":3,"result":{"stopReason":"end_turn"}}` + "\n")
	for _, want := range []string{`done c1 command completed command="ls"`, `server="docs" tool="echo"`, `output="pong"`, "over"} {
		if !strings.Contains(s.Text(), want) {
			t.Errorf("%s is not in\n%s", want, s.Text())
		}
	}
	if strings.Contains(s.Text(), "current working directory") {
		t.Errorf("the words of a call are its output:\n%s", s.Text())
	}
}
