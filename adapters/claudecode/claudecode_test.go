package claudecode_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/claudecode"
)

// silent is the list of Parser's documentation.
func silent(line []byte) bool {
	var l struct {
		Type, Subtype string
		Parent        string `json:"parent_tool_use_id"`
		Event         struct{ Type string }
		Message       struct {
			Content []struct{ Type string }
		}
	}
	if json.Unmarshal(line, &l) != nil {
		return false
	}
	switch l.Type {
	case "stream_event":
		return true
	case "system":
		return slices.Contains([]string{"status", "thinking_tokens", "background_tasks_changed", "task_progress", "task_updated", "task_started", "init"}, l.Subtype)
	case "assistant": // repeats what was streamed; a Write is told at its end
		return len(l.Message.Content) == 1
	case "user": // a result that system/permission_denied has told, what a subagent was asked
		return len(l.Message.Content) == 1 && (l.Message.Content[0].Type == "tool_result" || l.Parent != "")
	}
	return l.Type == "tool_progress"
}

//cases:16,103
func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, &claudecode.Adapter{}, adaptertest.Cases{Dir: "testdata/recorded", Silent: silent, Facts: claudecode.Name})
}

func TestTroubleCases(t *testing.T) {
	t.Parallel()
	adaptertest.RunExpected(t, &claudecode.Adapter{}, "testdata/cases")
}

func FuzzFeed(f *testing.F) {
	adaptertest.FuzzFeed(f, &claudecode.Adapter{}, "testdata/recorded", "testdata/cases")
}

func invoke(t *testing.T, r *agent.Request) *agent.Invocation {
	t.Helper()
	a := &claudecode.Adapter{}
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
	r := adaptertest.Request(&claudecode.Adapter{})
	r.Model, r.Instructions, r.Native = "claude-sonnet-4-5", "be brief", "252c12ba-c92a-48eb-91f5-a2251e3b478d"
	r.LLM = agent.LLM{BaseURL: "http://127.0.0.1:18080/v1/", APIKey: "sk-secret"}
	r.Limits = spec.Limits{MaxTurns: 40, MaxUSD: 0.5}
	r.Reasoning.Effort = "high"
	r.Text = spec.TextFormat{Type: "json_schema", Schema: json.RawMessage(`{"type":"object"}`)}
	r.MCP = map[string]spec.MCPServer{
		"docs": {URL: "https://mcp.example.com/mcp", Headers: map[string]string{"Authorization": "Bearer tok-1"}},
		"echo": {Command: "echo-server", Args: []string{"-v"}, Env: map[string]string{"TOKEN": "tok-2"}},
	}
	r.ExtraArgs = []string{"--bare"}
	inv := invoke(t, r)
	want := []string{
		"-p", "--resume", r.Native, "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--system-prompt-snapshot", "off",
		"--model", "claude-sonnet-4-5",
		"--append-system-prompt-file", "/run/turn/instructions.md",
		"--mcp-config", "/run/turn/mcp.json", "--strict-mcp-config",
		"--max-turns", "40", "--max-budget-usd", "0.5", "--json-schema", `{"type":"object"}`, "--effort", "high",
		"--allowedTools", "Bash,mcp__docs,mcp__echo", "--permission-mode", "acceptEdits", "--bare",
	}
	if !slices.Equal(inv.Args, want) {
		t.Errorf("arguments\n%q\nwant\n%q", inv.Args, want)
	}
	for _, e := range []string{
		"ANTHROPIC_BASE_URL=http://127.0.0.1:18080", "ANTHROPIC_API_KEY=sk-secret", "CLAUDE_CONFIG_DIR=/home/agent/state", "CLAUDE_CODE_MAX_RETRIES=2",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "AGENT_MCP_SECRET_1=Bearer tok-1", "AGENT_MCP_SECRET_2=tok-2",
	} {
		if !slices.Contains(inv.Env, e) {
			t.Errorf("%q is not in the environment %q", e, inv.Env)
		}
	}
	const file = `{"mcpServers":{"docs":{"type":"http","url":"https://mcp.example.com/mcp","headers":{"Authorization":"${AGENT_MCP_SECRET_1}"}},"echo":{"command":"echo-server","args":["-v"],"env":{"TOKEN":"${AGENT_MCP_SECRET_2}"}}}}`
	if len(inv.Files) != 2 || string(inv.Files[0].Data) != "be brief" || string(inv.Files[1].Data) != file {
		t.Errorf("files %q", inv.Files)
	}
	if string(inv.Stdin) != r.Prompt {
		t.Errorf("stdin %q", inv.Stdin)
	}
	r.KeyFD = 3
	if inv, err := (&claudecode.Adapter{}).Invocation(r); err != nil || strings.Contains(fmt.Sprint(inv.Env, inv.Args, inv.Files), "sk-secret") || !slices.Contains(inv.Env, "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR=3") {
		t.Errorf("with a key by a pipe: %q, %v", inv.Env, err)
	}
}

func TestPermissionFlags(t *testing.T) {
	t.Parallel()
	for p, want := range map[spec.Permissions]string{
		spec.ReadOnly:       "--tools Read,Grep,Glob --permission-mode dontAsk",
		spec.WorkspaceWrite: "--allowedTools Bash --permission-mode acceptEdits",
		spec.FullAccess:     "--permission-mode bypassPermissions",
	} {
		r := adaptertest.Request(&claudecode.Adapter{})
		r.Permissions = p
		if got := strings.Join(invoke(t, r).Args, " "); !strings.HasSuffix(got, " off "+want) {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}

func TestFullAccessAsRootNeedsASandbox(t *testing.T) {
	t.Parallel()
	a := &claudecode.Adapter{}
	r := adaptertest.Request(a)
	r.Permissions, r.Root = spec.FullAccess, true
	f, ok := event.AsFailure(a.Validate(r))
	if !ok || f.Code != event.PermissionUnsupported || !strings.Contains(f.Message, "sandboxed: true") {
		t.Errorf("failure %v", f)
	}
	r.Sandboxed = true
	if inv := invoke(t, r); !slices.Contains(inv.Env, "IS_SANDBOX=1") {
		t.Errorf("environment %q", inv.Env)
	}
	r.Root = false
	if inv := invoke(t, r); slices.Contains(inv.Env, "IS_SANDBOX=1") {
		t.Errorf("not as root: environment %q", inv.Env)
	}
}

func read(r *agent.Request, exit agent.Exit, lines ...string) *adaptertest.Reading {
	a := &claudecode.Adapter{}
	if r == nil {
		r = adaptertest.Request(a)
	}
	return adaptertest.Read(a.NewParser(r), &adaptertest.Transcript{Lines: adaptertest.Lines([]byte(strings.Join(lines, "\n"))), Exit: exit})
}

func toolUse(id, name, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m_%s","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, id, id, name, input)
}

func toolResult(id, text string, failed bool) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%t}]}}`, id, text, failed)
}

func TestToolsBecomeItems(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&claudecode.Adapter{})
	r.MCP = map[string]spec.MCPServer{"a__b": {Command: "x"}}
	got := read(r, agent.Exit{},
		toolUse("1", "Bash", `{"command":"ls"}`), toolResult("1", "(Bash completed with no output)", false),
		toolUse("2", "Bash", `{"command":"false"}`), toolResult("2", "Exit code 7\nout", true),
		toolUse("3", "Write", `{"file_path":"/w/new"}`), `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"3","content":"ok"}]},"tool_use_result":{"type":"create"}}`,
		toolUse("4", "Write", `{"file_path":"/w/old"}`), `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"4","content":"ok"}]},"tool_use_result":{"type":"update"}}`,
		toolUse("5", "NotebookEdit", `{"notebook_path":"/w/n.ipynb"}`), toolResult("5", "ok", false),
		toolUse("6", "mcp__a__b__find", `{"q":1}`), toolResult("6", "found", false),
		toolUse("7", "mcp__docs__find", `{}`), toolResult("7", "gone", true),
		toolUse("8", "Task", `{"prompt":"dig"}`), toolResult("8", "dug", false),
		toolUse("9", "WebSearch", `{"query":"go"}`), toolResult("9", "hits", false),
		toolUse("10", "Grep", `{"pattern":"x"}`), toolResult("10", "<tool_use_error>no</tool_use_error>", true),
		toolUse("11", "TodoWrite", `{"todos":[{"content":"look","status":"completed"},{"content":"fix","status":"pending"}]}`), toolResult("11", "ok", false),
		toolUse("12", "TodoWrite", `{"todos":[{"content":"look","status":"completed"},{"content":"fix","status":"completed"}]}`), toolResult("12", "ok", false),
		toolUse("13", "Edit", `{"file_path":"/w/open"}`),
		`{"type":"result","subtype":"success","is_error":false,"result":"ok"}`)
	want := []string{
		`command completed command="ls" cwd="/workspace" exit=0`,
		`command failed command="false" cwd="/workspace" output="out" exit=7`,
		`file_change completed add="/w/new"`,
		`file_change completed update="/w/old"`,
		`file_change completed update="/w/n.ipynb"`,
		`tool_call completed server="a__b" tool="find" arguments="{\"q\":1}" output="found"`,
		`tool_call failed server="docs" tool="find" arguments="{}" error="gone"`,
		`subagent completed server="claude-code" arguments="{\"prompt\":\"dig\"}" output="dug" prompt="dig"`,
		`web_search completed query="go" output="hits"`,
		`tool_call failed server="claude-code" tool="Grep" arguments="{\"pattern\":\"x\"}" error="no"`,
		`reasoning completed text="[x] look\n[ ] fix\n[x] fix"`,
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

func TestDeniedCallFailsOnce(t *testing.T) {
	t.Parallel()
	got := read(nil, agent.Exit{}, toolUse("1", "Bash", `{"command":"rm x"}`),
		`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"1","message":"not allowed"}`, toolResult("1", "not allowed", true))
	if len(got.Items) != 1 || got.Items[0].Status != event.ItemFailed || got.Items[0].Error != "not allowed" || got.Items[0].ExitCode != nil {
		t.Errorf("items %+v", got.Items)
	}
}

func TestLateConsolidationAndMissingDeltasTellTextOnce(t *testing.T) {
	t.Parallel()
	stream := func(e string) string { return `{"type":"stream_event","event":` + e + `}` }
	delta := func(s string) string {
		return stream(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"` + s + `"}}`)
	}
	start := []string{stream(`{"type":"message_start","message":{"id":"m"}}`), stream(`{"type":"content_block_start","content_block":{"type":"text"}}`)}
	whole := func(s string) string {
		return `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"` + s + `"}]}}`
	}
	stop := stream(`{"type":"message_stop"}`)
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"after the message's end":  {append(slices.Clone(start), delta("one "), delta("two"), stop, whole("one two")), []string{"one two"}},
		"a lost delta":             {append(slices.Clone(start), delta("one "), whole("one two"), stop), []string{"one two"}},
		"no deltas":                {append(slices.Clone(start), whole("one two"), stop), []string{"one two"}},
		"contradiction":            {append(slices.Clone(start), delta("one"), whole("two"), stop), []string{"one"}},
		"two blocks, one passage":  {append(slices.Clone(start), delta("a"), whole("a"), start[1], delta("b"), whole("b"), stop), []string{"ab"}},
		"same text, two messages":  {[]string{whole("a"), strings.Replace(whole("a"), `"m"`, `"n"`, 1)}, []string{"a", "a"}},
		"a tool between":           {[]string{whole("a"), toolUse("1", "Bash", `{"command":"x"}`), whole("b")}, []string{"a", "b"}},
		"a delta without a start":  {[]string{delta("a"), delta("b")}, []string{"ab"}},
		"content is a bare string": {[]string{`{"type":"assistant","message":{"id":"m","content":"plain"}}`}, []string{"plain"}},
	} {
		if got := read(nil, agent.Exit{}, c.lines...).Texts(); !slices.Equal(got, c.want) {
			t.Errorf("%s: texts %q, want %q", name, got, c.want)
		}
	}
}

func TestCostIsTheDifferenceToTheSessionsBefore(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&claudecode.Adapter{})
	r.Native, r.Carry = "252c12ba-c92a-48eb-91f5-a2251e3b478d", []byte(`{"micro_usd":756}`)
	v := read(r, agent.Exit{}, `{"total_cost_usd":0.002268,"usage":{"input_tokens":200,"cache_creation_input_tokens":5,"cache_read_input_tokens":40,"output_tokens":60,"output_tokens_details":{"thinking_tokens":7}},"is_error":false,"subtype":"success","type":"result"}`).Verdict
	if want := (event.Usage{Input: 245, Cached: 40, CacheWrite: 5, Output: 60, Reasoning: 7, MicroUSD: 1512}); v.Usage == nil || *v.Usage != want {
		t.Errorf("usage %+v, want %+v", v.Usage, want)
	}
	if string(v.Carry) != `{"micro_usd":2268}` {
		t.Errorf("carry %s", v.Carry)
	}
}

func TestStructuredOutputIsTheAnswer(t *testing.T) {
	t.Parallel()
	got := read(nil, agent.Exit{}, toolUse("1", "StructuredOutput", `{"a":"b"}`), toolResult("1", "ok", false),
		`{"type":"result","subtype":"success","is_error":false,"result":"done","structured_output":{"a":"b"}}`)
	if !slices.Equal(got.Texts(), []string{`{"a":"b"}`}) || len(got.Items) != 1 {
		t.Errorf("items %+v", got.Items)
	}
}

func TestAPIErrorWithoutAResultExplainsTheExit(t *testing.T) {
	t.Parallel()
	got := read(nil, agent.Exit{Code: 1}, `{"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529 Overloaded"}]},"error":"server_error","api_error_status":529}`)
	if got.Verdict == nil || got.Verdict.Failure == nil || got.Verdict.Failure.Code != event.ProviderOverloaded || len(got.Items) != 0 {
		t.Errorf("verdict %+v, items %+v", got.Verdict, got.Items)
	}
}

func TestRateLimitTellsItsEnd(t *testing.T) {
	t.Parallel()
	got := read(nil, agent.Exit{Code: 1}, `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000000}}`,
		`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)"}`)
	if f := got.Verdict.Failure; f == nil || f.Code != event.RateLimited || f.ResetsAt != 1800000000 {
		t.Errorf("failure %+v", f)
	}
}

// lines of a recorded stream
const (
	plainDelta   = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"from the fake model"}},"session_id":"252c12ba-c92a-48eb-91f5-a2251e3b478d","parent_tool_use_id":null,"uuid":"8eed8b9e-a93b-4f64-b3fd-e6e5d1e2551e","api_message_id":"msg_fake_147"}`
	escapedDelta = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"from \"the\"\nfake model"}},"session_id":"252c12ba-c92a-48eb-91f5-a2251e3b478d","parent_tool_use_id":null,"uuid":"8eed8b9e-a93b-4f64-b3fd-e6e5d1e2551e","api_message_id":"msg_fake_147"}`
)

const thinkingDelta = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"let me see"}},"session_id":"252c12ba","parent_tool_use_id":null}`

func feedDelta(line string, n int) func() {
	p := (&claudecode.Adapter{}).NewParser(adaptertest.Request(&claudecode.Adapter{}))
	var out agent.Batch
	raw := []byte(line)
	p.Feed([]byte(`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"text"}}}`), &out)
	return func() {
		for range n {
			p.Feed(raw, &out)
		}
		out.Reset()
	}
}

// Not parallel: it counts allocations. The arena and what was said grow now and then.
func TestDeltaLineIsCheap(t *testing.T) {
	for _, line := range []string{plainDelta, escapedDelta, thinkingDelta} {
		feed := feedDelta(line, 64)
		if allocs := testing.AllocsPerRun(200, feed) / 64; allocs > 0.1 {
			t.Errorf("%.2f allocations a line of %.80s, less than 0.1 are meant", allocs, line)
		}
	}
}

func TestQuickLinesAreReadAsOthers(t *testing.T) {
	t.Parallel()
	adaptertest.SpacedParser(t, &claudecode.Adapter{}, plainDelta, escapedDelta, thinkingDelta,
		`{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"x"}},"parent_tool_use_id":"toolu_1"}`,
		`{"event":{"delta":{"text":"é \\ \/","type":"text_delta"},"type":"content_block_delta"},"n":-12,"ok":true,"type":"stream_event"}`)
}

func BenchmarkFeedDelta(b *testing.B) {
	for name, line := range map[string]string{"plain": plainDelta, "escaped": escapedDelta} {
		b.Run(name, func(b *testing.B) {
			feed := feedDelta(line, 1)
			b.ReportAllocs()
			for b.Loop() {
				feed()
			}
		})
	}
}

func TestServersAreHeldToTheirAllowedTools(t *testing.T) {
	t.Parallel()
	a := &claudecode.Adapter{}
	r := adaptertest.Request(a)
	r.Permissions = spec.WorkspaceWrite
	r.MCP = map[string]spec.MCPServer{
		"all": {URL: "https://a.example/", Caller: true}, "none": {URL: "https://b.example/", Caller: true, Allowed: []string{}},
		"some": {URL: "https://c.example/", Caller: true, Allowed: []string{"a.b", "c"}},
	}
	inv, err := a.Invocation(r)
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.Index(inv.Args, "--allowedTools"); i < 0 || inv.Args[i+1] != "Bash,mcp__all,mcp__some__a_b,mcp__some__c" {
		t.Errorf("arguments %q", inv.Args)
	}
	r.Permissions = spec.FullAccess
	if f, ok := event.AsFailure(a.Validate(r)); !ok || f.Code != event.Unsupported || f.Param != "mcp_servers.none.allowed_tools" {
		t.Errorf("with full_access: %v", f)
	}
	for _, name := range []string{"a__b", "a_"} {
		r.Permissions, r.MCP = spec.WorkspaceWrite, map[string]spec.MCPServer{name: {URL: "https://a.example/", Caller: true}}
		if f, ok := event.AsFailure(a.Validate(r)); !ok || f.Param != "mcp_servers."+name {
			t.Errorf("%s: %v", name, f)
		}
	}
}
