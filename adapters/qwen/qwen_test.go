package qwen_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/qwen"
)

// silent is the list of the parser's documentation.
func silent(line []byte) bool {
	var l struct {
		Type, Subtype string
		Parent        string `json:"parent_tool_use_id"`
		Message       struct{ Content []struct{ Type, Name string } }
	}
	if json.Unmarshal(line, &l) != nil {
		return false
	}
	switch l.Type {
	case "stream_event":
		return true
	case "system":
		return l.Subtype == "init"
	case "assistant": // repeats what was streamed; a file change is told at its end
		return l.Parent != "" || len(l.Message.Content) == 1
	}
	return l.Parent != ""
}

func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, &qwen.Adapter{}, adaptertest.Cases{Dir: "testdata/recorded", Silent: silent, Facts: "qwen-code"})
}

func FuzzFeed(f *testing.F) { adaptertest.FuzzFeed(f, &qwen.Adapter{}, "testdata/recorded") }

func invoke(t *testing.T, r *agent.Request) *agent.Invocation {
	t.Helper()
	a := &qwen.Adapter{}
	if err := a.Validate(r); err != nil {
		t.Fatal(err)
	}
	inv, err := a.Invocation(r)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&qwen.Adapter{})
	r.Model, r.Instructions, r.Native = "qwen3-coder-plus", "- be brief", "25733786-961e-4338-ac87-520376114333"
	r.LLM = agent.LLM{BaseURL: "http://127.0.0.1:18080", APIKey: "sk-secret", WireAPI: "chat"}
	r.Limits.MaxTurns = 40
	r.Reasoning.Effort = "minimal"
	r.Text = spec.TextFormat{Type: "json_schema", Schema: json.RawMessage(`{"type":"object"}`)}
	r.MCP = map[string]spec.MCPServer{
		"docs": {URL: "https://mcp.example.com/$path", Headers: map[string]string{"Authorization": "Bearer tok-1"}},
		"echo": {Command: "echo-server", Args: []string{"-v"}, Env: map[string]string{"TOKEN": "tok-2"}, Allowed: []string{"say"}},
	}
	r.Host = &agent.HostServer{Name: "agenthost", URL: "http://127.0.0.1:1/mcp", TokenEnv: "AGENT_HOST_TOKEN", Token: "tok-3", Timeout: time.Minute}
	r.ExtraArgs = []string{"--bare"}
	inv := invoke(t, r)
	want := []string{
		"--output-format", "stream-json", "--include-partial-messages", "--auth-type", "openai", "--model", "qwen3-coder-plus", "--resume", r.Native,
		"--append-system-prompt=- be brief", "--max-session-turns", "40", "--json-schema", "@/run/turn/output-schema.json",
		"--allowed-tools", "run_shell_command", "--approval-mode", "auto-edit", "--bare",
	}
	if !slices.Equal(inv.Args, want) {
		t.Errorf("arguments\n%q\nwant\n%q", inv.Args, want)
	}
	for _, e := range []string{
		"OPENAI_BASE_URL=http://127.0.0.1:18080/v1", "OPENAI_API_KEY=sk-secret", "QWEN_HOME=/home/agent/state", "QWEN_CODE_NO_RELAUNCH=true",
		"QWEN_CODE_SYSTEM_SETTINGS_PATH=/run/turn/settings.json", "AGENT_HOST_TOKEN=tok-3", "AGENT_MCP_SECRET_1=Bearer tok-1", "AGENT_MCP_SECRET_2=tok-2",
	} {
		if !slices.Contains(inv.Env, e) {
			t.Errorf("%q is not in the environment %q", e, inv.Env)
		}
	}
	var f struct {
		Memory  struct{ EnableManagedAutoMemory *bool }
		UI      struct{ EnableFollowupSuggestions *bool }
		Model   struct{ ReasoningEffort string }
		Servers map[string]map[string]any `json:"mcpServers"`
	}
	if len(inv.Files) != 2 || json.Unmarshal(inv.Files[1].Data, &f) != nil {
		t.Fatalf("files %q", inv.Files)
	}
	if f.Memory.EnableManagedAutoMemory == nil || *f.Memory.EnableManagedAutoMemory || f.Model.ReasoningEffort != "low" {
		t.Errorf("settings %s", inv.Files[1].Data)
	}
	if s := f.UI.EnableFollowupSuggestions; s == nil || *s {
		t.Errorf("it asks what the user might say next: %s", inv.Files[1].Data)
	}
	docs, echo, host := f.Servers["docs"], f.Servers["echo"], f.Servers["agenthost"]
	url, _ := docs["httpUrl"].(string)
	if !slices.Contains(inv.Env, strings.Trim(url, "${}")+"=https://mcp.example.com/$path") {
		t.Errorf("a $ of the address would be filled in: %q", url)
	}
	for got, want := range map[string]string{
		fmt.Sprint(docs["headers"]): "map[Authorization:${AGENT_MCP_SECRET_1}]",
		fmt.Sprint(echo):            "map[alwaysLoadTools:true args:[-v] command:echo-server env:map[TOKEN:${AGENT_MCP_SECRET_2}] includeTools:[say] trust:true]",
		fmt.Sprint(host):            "map[alwaysLoadTools:true headers:map[Authorization:Bearer ${AGENT_HOST_TOKEN}] httpUrl:http://127.0.0.1:1/mcp timeout:60000 trust:true]",
	} {
		if got != want {
			t.Errorf("server %s, want %s", got, want)
		}
	}
	if string(inv.Stdin) != r.Prompt {
		t.Errorf("stdin %q", inv.Stdin)
	}
}

func TestPermissionFlags(t *testing.T) {
	t.Parallel()
	for p, want := range map[spec.Permissions]string{
		spec.ReadOnly:       "--approval-mode default",
		spec.WorkspaceWrite: "--allowed-tools run_shell_command --approval-mode auto-edit",
		spec.FullAccess:     "--approval-mode yolo",
	} {
		r := adaptertest.Request(&qwen.Adapter{})
		r.Permissions = p
		if got := strings.Join(invoke(t, r).Args, " "); !strings.HasSuffix(got, " --include-partial-messages "+want) {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}

func TestSubagentsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&qwen.Adapter{})
	r.MultiAgent.Disabled = true
	if got := strings.Join(invoke(t, r).Args, " "); !strings.Contains(got, " --exclude-tools agent --") {
		t.Errorf("arguments %s", got)
	}
}

func TestTheCLIsOwnProviderIsLeftAlone(t *testing.T) {
	t.Parallel()
	inv := invoke(t, adaptertest.Request(&qwen.Adapter{}))
	if slices.Contains(inv.Args, "--auth-type") || slices.ContainsFunc(inv.Env, func(e string) bool { return strings.HasPrefix(e, "OPENAI_") }) {
		t.Errorf("arguments %q, environment %q", inv.Args, inv.Env)
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*agent.Request)
		code   event.Code
		param  string
	}{
		"images":       {func(r *agent.Request) { r.Images = []string{"/run/turn/a.png"} }, event.Unsupported, "input"},
		"wire":         {func(r *agent.Request) { r.LLM = agent.LLM{APIKey: "k", WireAPI: "gopher"} }, event.InvalidRequest, "llm.wire_api"},
		"no uuid":      {func(r *agent.Request) { r.Native = "latest" }, event.ResumeLost, ""},
		"server name":  {func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"a b": {Command: "x"}} }, event.InvalidRequest, ""},
		"empty server": {func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"a": {}} }, event.InvalidRequest, "mcp_servers.a"},
	} {
		r := adaptertest.Request(&qwen.Adapter{})
		c.change(r)
		f, ok := event.AsFailure((&qwen.Adapter{}).Validate(r))
		if !ok || f.Code != c.code || c.param != "" && f.Param != c.param {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func read(exit agent.Exit, lines ...string) *adaptertest.Reading {
	a := &qwen.Adapter{}
	r := adaptertest.Request(a)
	r.MCP = map[string]spec.MCPServer{"a__b": {Command: "x"}}
	return adaptertest.Read(a.NewParser(r), &adaptertest.Transcript{Lines: adaptertest.Lines([]byte(strings.Join(lines, "\n"))), Exit: exit})
}

func toolUse(id, name, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m_%s","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, id, id, name, input)
}

func toolResult(id, text string, failed bool) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%t}]}}`, id, text, failed)
}

const ended = `{"type":"result","subtype":"success","is_error":false,"result":"ok"}`

func TestToolsBecomeItems(t *testing.T) {
	t.Parallel()
	const report = "Command: x\nDirectory: (root)\nOutput: %s\nError: (none)\nExit Code: %s\nSignal: (none)\nProcess Group PGID: 7"
	got := read(agent.Exit{},
		toolUse("1", "run_shell_command", `{"command":"ls"}`), toolResult("1", "a.txt", false),
		toolUse("2", "run_shell_command", `{"command":"true"}`), toolResult("2", fmt.Sprintf(report, "(empty)", "0"), false),
		toolUse("3", "run_shell_command", `{"command":"false"}`), toolResult("3", fmt.Sprintf(report, "out\nExit Code: 9", "3"), true),
		toolUse("4", "run_shell_command", `{"command":"kill"}`), toolResult("4", fmt.Sprintf(report, "out", "(none)"), true),
		toolUse("5", "write_file", `{"file_path":"/w/new"}`), toolResult("5", "Successfully created and wrote to new file: /w/new.", false),
		toolUse("6", "edit", `{"file_path":"/w/old"}`), toolResult("6", "The file has been updated.", false),
		toolUse("7", "notebook_edit", `{"notebook_path":"/w/n.ipynb"}`), toolResult("7", "no such cell", true),
		toolUse("8", "mcp__a__b__find", `{"q":1}`), toolResult("8", "found", false),
		toolUse("9", "tool_call", `{"name":"mcp__docs__find","arguments":{"q":2}}`), toolResult("9", "gone", true),
		toolUse("10", "agent", `{"prompt":"dig"}`),
		`{"type":"assistant","parent_tool_use_id":"10","message":{"id":"s","content":[{"type":"text","text":"a subagent's words"}]}}`,
		toolResult("10", "dug", false),
		toolUse("11", "web_search", `{"query":"go"}`), toolResult("11", "hits", false),
		toolUse("12", "structured_output", `{"a":1}`), toolResult("12", "accepted", false),
		toolUse("13", "edit", `{"file_path":"/w/open"}`),
		ended)
	want := []string{
		`command completed command="ls" cwd="/workspace" output="a.txt" exit=0`,
		`command completed command="true" cwd="/workspace" exit=0`,
		`command failed command="false" cwd="/workspace" output="out\nExit Code: 9" exit=3`,
		`command failed command="kill" cwd="/workspace" output="out"`,
		`file_change completed add="/w/new"`,
		`file_change completed update="/w/old"`,
		`file_change failed error="no such cell" update="/w/n.ipynb"`,
		`tool_call completed server="a__b" tool="find" arguments="{\"q\":1}" output="found"`,
		`tool_call failed server="docs" tool="find" arguments="{\"q\":2}" error="gone"`,
		`tool_call completed server="qwen-code" tool="subagent" arguments="{\"prompt\":\"dig\"}" output="dug"`,
		`web_search completed query="go" output="hits"`,
		`file_change incomplete update="/w/open"`,
		`message completed text="ok"`,
	}
	var list []string
	for _, it := range got.Items {
		list = append(list, strings.TrimPrefix(adaptertest.Format(agent.Fact{Kind: agent.FactDone, Item: it}), "done "))
	}
	if !slices.Equal(list, want) {
		t.Errorf("items\n%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(want, "\n"))
	}
}

func TestStructuredAnswer(t *testing.T) {
	t.Parallel()
	got := read(agent.Exit{}, `{"type":"result","subtype":"success","is_error":false,"result":"{\"a\":1}","structured_result":{"a":1}}`)
	if !slices.Equal(got.Texts(), []string{`{"a":1}`}) {
		t.Errorf("texts %q", got.Texts())
	}
}

func delta(text string) string {
	return fmt.Sprintf(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}}`, text)
}

const (
	started = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`
	stopped = `{"type":"stream_event","event":{"type":"message_stop"}}`
)

// The words "[API Error: ...]" are the CLI's if the result says so, else the model's.
func TestAPIErrorIsNoAnswer(t *testing.T) {
	t.Parallel()
	const failed = `{"type":"result","subtype":"error_during_execution","is_error":true,"usage":{"input_tokens":0,"output_tokens":0},"error":{"message":"[API Error: 429 Rate limit. Please try again in 7s.]\nWait a while."}}`
	got := read(agent.Exit{Code: 1}, started, delta("half "), delta("[API Error: 429 Rate limit. Please try again in 7s.]\nWait a while."), stopped, failed)
	if v := got.Verdict; v == nil || v.Failure == nil || v.Failure.Code != event.RateLimited || v.Failure.RetryAfter != 7 || v.Failure.Message != "429 Rate limit. Please try again in 7s." || v.Usage != nil {
		t.Errorf("verdict %+v", got.Verdict)
	}
	if !slices.Equal(got.Texts(), []string{"half "}) || len(got.Notices) != 1 {
		t.Errorf("texts %q, notices %q", got.Texts(), got.Notices)
	}
	got = read(agent.Exit{}, started, delta("[API Error: 401] is what it printed."), stopped, ended)
	if !slices.Equal(got.Texts(), []string{"[API Error: 401] is what it printed."}) {
		t.Errorf("texts of a model that quotes one: %q", got.Texts())
	}
}

func TestExitTellsWhatNoLineSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exit agent.Exit
		code event.Code
	}{
		"turns":   {agent.Exit{Code: 53, Stderr: "Reached max session turns for this session."}, event.TurnLimit},
		"wall":    {agent.Exit{Code: 55, Stderr: "Ripgrep not available: x\nRun aborted: wall-clock budget of 3s exceeded (--max-wall-time).\n"}, event.TurnLimit},
		"resume":  {agent.Exit{Code: 1, Stderr: "No saved session found with ID x. Run `qwen --resume`"}, event.ResumeLost},
		"flag":    {agent.Exit{Code: 1, Stderr: "Unknown arguments: such-flag\nUsage: qwen [options] the manual"}, event.InvalidRequest},
		"unknown": {agent.Exit{Code: 1, Stderr: "something odd"}, ""},
		"ok":      {agent.Exit{}, ""},
		"signal":  {agent.Exit{Code: -1, Signal: "killed"}, ""},
	} {
		got := read(c.exit)
		switch {
		case c.code == "" && got.Verdict != nil:
			t.Errorf("%s: verdict %+v", name, got.Verdict)
		case c.code != "" && (got.Verdict == nil || got.Verdict.Failure == nil || got.Verdict.Failure.Code != c.code):
			t.Errorf("%s: verdict %+v", name, got.Verdict)
		case c.code != "" && (strings.Contains(got.Verdict.Failure.Message, "Ripgrep") || strings.Contains(got.Verdict.Failure.Message, "manual")):
			t.Errorf("%s: message %q", name, got.Verdict.Failure.Message)
		}
	}
}

func TestQuickLinesAreReadAsOthers(t *testing.T) {
	t.Parallel()
	adaptertest.SpacedParser(t, &qwen.Adapter{},
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"from \"the\"\nmodel"}},"session_id":"1","parent_tool_use_id":null,"uuid":"2"}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}},"session_id":"1","parent_tool_use_id":null}`)
}

func BenchmarkFeedDelta(b *testing.B) {
	const begun = `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`
	for name, text := range map[string]string{"plain": "from the fake model", "escaped": "from \"the\"\nfake model"} {
		b.Run(name, func(b *testing.B) { adaptertest.BenchFeed(b, &qwen.Adapter{}, delta(text), begun) })
	}
}
