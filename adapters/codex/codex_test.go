package codex_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/codex"
)

// silent are a turn's start, and a subagent that was set to work and works on.
func silent(line []byte) bool {
	s := string(line)
	return strings.Contains(s, `"turn.started"`) || strings.Contains(s, `"spawn_agent"`) && strings.Contains(s, `"pending_init"`)
}

//cases:16,103
func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, &codex.Adapter{}, adaptertest.Cases{Dir: "testdata/recorded", Silent: silent, Facts: codex.Name})
}

func TestTroubleCases(t *testing.T) {
	t.Parallel()
	adaptertest.RunExpected(t, &codex.Adapter{}, "testdata/cases")
}

func FuzzFeed(f *testing.F) {
	adaptertest.FuzzFeed(f, &codex.Adapter{}, "testdata/recorded", "testdata/cases")
}

func invoke(t *testing.T, r *agent.Request) *agent.Invocation {
	t.Helper()
	a := &codex.Adapter{}
	if err := a.Validate(r); err != nil {
		t.Fatal(err)
	}
	inv, err := a.Invocation(r)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestFirstTurnCommandLine(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	r.Model, r.Instructions = "gpt-5.5", "be \"brief\"\nand kind"
	r.LLM = agent.LLM{BaseURL: "http://127.0.0.1:18080/", APIKey: "sk-secret", WireAPI: "responses"}
	inv := invoke(t, r)
	want := []string{
		"exec", "--json", "--skip-git-repo-check", "-m", "gpt-5.5",
		"-c", `model_provider="host"`,
		"-c", `model_providers.host={name="host",base_url="http://127.0.0.1:18080/v1",env_key="AGENT_PROVIDER_KEY",wire_api="responses",request_max_retries=1,stream_max_retries=2}`,
		"-c", `developer_instructions="be \"brief\"\nand kind"`,
		"-c", "shell_environment_policy.ignore_default_excludes=false",
		"-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false",
		"--disable", "plugins", "--disable", "apps", "--disable", "unbounded_connection_retries",
		"-c", `sandbox_mode="workspace-write"`, "-c", `approval_policy="never"`, "-",
	}
	if !slices.Equal(inv.Args, want) {
		t.Errorf("arguments\n%q\nwant\n%q", inv.Args, want)
	}
	if string(inv.Stdin) != r.Prompt {
		t.Errorf("stdin %q", inv.Stdin)
	}
	if !slices.Equal(inv.Env, []string{"AGENT_PROVIDER_KEY=sk-secret", "CODEX_HOME=/home/agent/state"}) {
		t.Errorf("environment %q", inv.Env)
	}
}

func TestResumedTurnNamesItsThreadBeforeThePrompt(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	r.Native, r.Permissions, r.ExtraArgs = "01a00000-0000-7000-8000-000000000001", spec.FullAccess, []string{"--ignore-rules"}
	args := invoke(t, r).Args
	if !slices.Equal(args[:2], []string{"exec", "resume"}) {
		t.Errorf("starts with %q", args[:2])
	}
	tail := []string{"--dangerously-bypass-approvals-and-sandbox", "--ignore-rules", r.Native, "-"}
	if !slices.Equal(args[len(args)-4:], tail) {
		t.Errorf("ends with %q, want %q", args[len(args)-4:], tail)
	}
}

// Where the host confines it, Codex's own sandbox could not start.
func TestConfinedByTheHost(t *testing.T) {
	t.Parallel()
	for _, p := range []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite} {
		r := adaptertest.Request(&codex.Adapter{})
		r.Permissions, r.Confined = p, true
		if args := invoke(t, r).Args; !slices.Contains(args, "--dangerously-bypass-approvals-and-sandbox") {
			t.Errorf("%s: %q", p, args)
		}
	}
}

func TestKeyWithoutAddressGoesToTheOwnProvider(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	r.LLM.APIKey = "sk-secret"
	inv := invoke(t, r)
	if !slices.Contains(inv.Env, "CODEX_API_KEY=sk-secret") || strings.Contains(strings.Join(inv.Args, " "), "model_provider") {
		t.Errorf("environment %q, arguments %q", inv.Env, inv.Args)
	}
}

func TestServersAndSchema(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	r.MCP = map[string]spec.MCPServer{
		"docs": {URL: "https://mcp.example.com/mcp", Headers: map[string]string{"authorization": "Bearer tok-1", "X-Team": "red"}},
		"echo": {Command: "echo-server", Args: []string{"-v", `a"b`}, Env: map[string]string{"ECHO_TOKEN": "tok-2"}},
	}
	r.Text = spec.TextFormat{Type: "json_schema", Schema: json.RawMessage(`{"type":"object"}`)}
	r.Images = []string{"/run/turn/a.png"}
	inv := invoke(t, r)
	for _, want := range []string{
		`mcp_servers.docs={url="https://mcp.example.com/mcp",bearer_token_env_var="AGENT_MCP_SECRET_2",env_http_headers={"X-Team"="AGENT_MCP_SECRET_1"},default_tools_approval_mode="approve"}`,
		`mcp_servers.echo={command="echo-server",args=["-v","a\"b"],env_vars=["ECHO_TOKEN"],default_tools_approval_mode="approve"}`,
		"/run/turn/output-schema.json", "--image=/run/turn/a.png",
	} {
		if !slices.Contains(inv.Args, want) {
			t.Errorf("%q is not among %q", want, inv.Args)
		}
	}
	for _, want := range []string{"AGENT_MCP_SECRET_1=red", "AGENT_MCP_SECRET_2=tok-1", "ECHO_TOKEN=tok-2"} {
		if !slices.Contains(inv.Env, want) {
			t.Errorf("%q is not in the environment %q", want, inv.Env)
		}
	}
	if len(inv.Files) != 1 || string(inv.Files[0].Data) != `{"type":"object"}` {
		t.Errorf("files %+v", inv.Files)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*agent.Request)
		code   event.Code
		param  string
	}{
		"ask":               {func(r *agent.Request) { r.Permissions = spec.Ask }, event.PermissionUnsupported, "permissions"},
		"thread is no uuid": {func(r *agent.Request) { r.Native = "last" }, event.ResumeLost, ""},
		"wire chat":         {func(r *agent.Request) { r.LLM.WireAPI = "chat" }, event.InvalidRequest, "llm.wire_api"},
		"long instructions": {func(r *agent.Request) { r.Instructions = strings.Repeat("\n", 70<<10) }, event.InvalidRequest, "instructions"},
		"server name":       {func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"a.b": {Command: "x"}} }, event.InvalidRequest, "mcp_servers"},
		"server path": {func(r *agent.Request) {
			r.MCP = map[string]spec.MCPServer{"a": {Command: "x", Env: map[string]string{"PATH": "/x"}}}
		}, event.InvalidRequest, "mcp_servers.a.env"},
		"servers disagree": {func(r *agent.Request) {
			r.MCP = map[string]spec.MCPServer{"a": {Command: "x", Env: map[string]string{"TOKEN": "1"}}, "b": {Command: "x", Env: map[string]string{"TOKEN": "2"}}}
		}, event.InvalidRequest, "mcp_servers.b.env"},
	} {
		r := adaptertest.Request(&codex.Adapter{})
		c.change(r)
		f, ok := event.AsFailure((&codex.Adapter{}).Validate(r))
		if !ok || f.Code != c.code || f.Param != c.param {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func read(t *testing.T, r *agent.Request, exit agent.Exit, lines ...string) *adaptertest.Reading {
	t.Helper()
	return adaptertest.Read((&codex.Adapter{}).NewParser(r), &adaptertest.Transcript{Lines: adaptertest.Lines([]byte(strings.Join(lines, "\n"))), Exit: exit})
}

func TestUsageIsTheDifferenceToTheTotalBefore(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	r.Native = "01a00000-0000-7000-8000-000000000001"
	totals := []string{
		`{"type":"turn.completed","usage":{"input_tokens":120,"cached_input_tokens":20,"output_tokens":30,"reasoning_output_tokens":10}}`,
		`{"type":"turn.failed","error":{"message":"Quota exceeded."}}`,
		`{"type":"turn.completed","usage":{"input_tokens":360,"cached_input_tokens":60,"output_tokens":90,"reasoning_output_tokens":30}}`,
		`{"type":"turn.completed","usage":{"input_tokens":10,"output_tokens":3}}`,
	}
	want := []*event.Usage{
		{Input: 120, Cached: 20, Output: 30, Reasoning: 10}, nil, {Input: 240, Cached: 40, Output: 60, Reasoning: 20}, {Input: 10, Output: 3},
	}
	for i, line := range totals {
		v := read(t, r, agent.Exit{}, line).Verdict
		if (v.Usage == nil) != (want[i] == nil) || v.Usage != nil && *v.Usage != *want[i] {
			t.Errorf("turn %d: usage %+v, want %+v", i, v.Usage, want[i])
		}
		if v.Carry != nil { // nil keeps what was carried
			r.Carry = v.Carry
		}
	}
}

func TestChangedInstructionsAreToldToTheThread(t *testing.T) {
	t.Parallel()
	a := &codex.Adapter{}
	r := adaptertest.Request(a)
	r.Instructions = "be brief"
	if got := string(invoke(t, r).Stdin); got != r.Prompt {
		t.Errorf("first turn: %q", got)
	}
	r.Carry = read(t, r, agent.Exit{}, `{"type":"turn.completed"}`).Verdict.Carry
	r.Native = "01a00000-0000-7000-8000-000000000001"
	if got := string(invoke(t, r).Stdin); got != r.Prompt {
		t.Errorf("the same instructions: %q", got)
	}
	r.Instructions = "be long"
	if got := string(invoke(t, r).Stdin); !strings.Contains(got, "be long") || !strings.HasSuffix(got, r.Prompt) {
		t.Errorf("changed instructions: %q", got)
	}
	r.Carry = read(t, r, agent.Exit{}, `{"type":"turn.failed","error":{"message":"x"}}`).Verdict.Carry
	if got := string(invoke(t, r).Stdin); got != r.Prompt {
		t.Errorf("told before: %q", got)
	}
	r.Instructions = ""
	if got := string(invoke(t, r).Stdin); !strings.Contains(got, "no longer apply") {
		t.Errorf("instructions taken back: %q", got)
	}
}

func TestAnotherThreadThanAskedForIsALostConversation(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	r.Native = "01a00000-0000-7000-8000-000000000001"
	got := read(t, r, agent.Exit{}, `{"type":"thread.started","thread_id":"01a00000-0000-7000-8000-000000000002"}`,
		`{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"who are you?"}}`, `{"type":"turn.completed"}`)
	if got.Verdict == nil || !got.Verdict.Final || got.Verdict.Failure == nil || got.Verdict.Failure.Code != event.ResumeLost {
		t.Errorf("verdict %+v", got.Verdict)
	}
	if len(got.Texts()) != 0 {
		t.Errorf("an answer without history was told: %q", got.Texts())
	}
	if got.Native != "01a00000-0000-7000-8000-000000000002" {
		t.Errorf("the session goes on with %q", got.Native)
	}
	same := read(t, r, agent.Exit{}, `{"type":"thread.started","thread_id":"01A00000-0000-7000-8000-000000000001"}`, `{"type":"turn.completed"}`)
	if !same.Completed(agent.Exit{}, false) {
		t.Errorf("the same thread failed: %+v", same.Verdict)
	}
}

func TestErrorLineExplainsABadExit(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	got := read(t, r, agent.Exit{Code: 1}, `{"type":"error","message":"Reconnecting... 5/5 (x)"}`, `{"type":"error","message":"stream disconnected before completion: usage limit"}`)
	if f := got.Verdict.Failure; f == nil || f.Message != "stream disconnected before completion: usage limit" || f.Code != event.UsageLimited {
		t.Errorf("failure %+v", f)
	}
	killed := read(t, r, agent.Exit{Code: -1, Signal: "killed"}, `{"type":"error","message":"Reconnecting... waiting for network (x)"}`)
	if killed.Verdict != nil {
		t.Errorf("a killed run got the verdict %+v", killed.Verdict)
	}
}

func TestPlanIsOneGrowingReasoningItem(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	got := read(t, r, agent.Exit{},
		`{"type":"item.started","item":{"id":"item_0","type":"todo_list","items":[{"text":"look","completed":false},{"text":"fix","completed":false}]}}`,
		`{"type":"item.updated","item":{"id":"item_0","type":"todo_list","items":[{"text":"look","completed":true},{"text":"fix","completed":false}]}}`,
		`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"done"}}`,
		`{"type":"item.completed","item":{"id":"item_0","type":"todo_list","items":[{"text":"look","completed":true},{"text":"fix","completed":true}]}}`,
		`{"type":"turn.completed"}`)
	plans := got.Find(event.Reasoning)
	if len(plans) != 1 || plans[0].Text != "[ ] look\n[ ] fix\n[x] look\n[x] fix" || plans[0].Status != event.Done {
		t.Errorf("plans %+v", plans)
	}
}

func TestCommandOutputGrows(t *testing.T) {
	t.Parallel()
	var out agent.Batch
	p := (&codex.Adapter{}).NewParser(adaptertest.Request(&codex.Adapter{}))
	for _, output := range []string{"", "a", "ab", "ab"} {
		p.Feed([]byte(`{"type":"item.updated","item":{"id":"item_0","type":"command_execution","command":"x","aggregated_output":"`+output+`","status":"in_progress"}}`), &out)
	}
	var got []string
	for _, f := range out.Facts {
		got = append(got, adaptertest.Format(f))
	}
	want := []string{`start item_0 command in_progress command="x" cwd="/workspace"`, `output item_0 "a"`, `output item_0 "b"`}
	if !slices.Equal(got, want) {
		t.Errorf("facts %q, want %q", got, want)
	}
}

func TestArgumentsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	got := read(t, adaptertest.Request(&codex.Adapter{}), agent.Exit{},
		`{"type":"item.completed","item":{"id":"i","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"n":9007199254740993,"x":"\ud83d.","y":"\ud83d\ude00"},"error":{"message":"no"},"status":"failed"}}`)
	it := got.Items[0]
	if it.Arguments != `{"n":9007199254740993,"x":"\ufffd.","y":"\ud83d\ude00"}` || it.Error != "no" || it.Status != event.ItemFailed {
		t.Errorf("item %+v", it)
	}
}

func TestLocateFindsTheNativeBinary(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the layout of linux-x64")
	}
	dir := t.TempDir()
	native := filepath.Join(dir, "node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex")
	wrapper := filepath.Join(dir, "node_modules/@openai/codex/bin/codex.js")
	link := filepath.Join(dir, "node_modules/.bin/codex")
	for _, p := range []string{native, wrapper, link} {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{native, wrapper} {
		if err := os.WriteFile(p, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../@openai/codex/bin/codex.js", link); err != nil {
		t.Fatal(err)
	}
	a := &codex.Adapter{}
	want, err := filepath.EvalSymlinks(native)
	if err != nil {
		t.Fatal(err)
	}
	got, err := filepath.EvalSymlinks(a.Locate(link))
	if err != nil || got != want {
		t.Errorf("found %q (%v), want %q", got, err, want)
	}
	if got := a.Locate(native); got != native {
		t.Errorf("a native binary became %q", got)
	}
	if err := os.Remove(native); err != nil {
		t.Fatal(err)
	}
	if got := a.Locate(link); got != link {
		t.Errorf("without a native binary: %q", got)
	}
}

const messageLine = `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"from \"the\"\nmodel"}}`

func TestQuickLinesAreReadAsOthers(t *testing.T) {
	t.Parallel()
	adaptertest.SpacedParser(t, &codex.Adapter{}, messageLine,
		`{"type":"item.updated","item":{"id":"item_1","type":"agent_message","text":"one, é"}}`,
		`{"type":"item.updated","item":{"id":"item_1","type":"agent_message","text":"one, é, two"}}`,
		`{"type":"item.completed","item":{"type":"reasoning","text":"so","id":"item_2"},"n":1}`)
}

// Not parallel: it counts allocations.
func TestMessageLineIsCheap(t *testing.T) {
	p := (&codex.Adapter{}).NewParser(adaptertest.Request(&codex.Adapter{}))
	var out agent.Batch
	line := []byte(messageLine)
	if n := testing.AllocsPerRun(100, func() {
		out.Reset()
		p.Feed(line, &out)
	}); n > 4 { // the item, its name and its text
		t.Errorf("%.1f allocations a message", n)
	}
}

func BenchmarkFeedMessage(b *testing.B) {
	line := []byte(messageLine)
	p := (&codex.Adapter{}).NewParser(adaptertest.Request(&codex.Adapter{}))
	var out agent.Batch
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		p.Feed(line, &out)
	}
}

func BenchmarkFeedCommand(b *testing.B) {
	line := []byte(`{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"/bin/bash -lc 'echo hi-from-shell && pwd'","aggregated_output":"hi-from-shell\n/workspace\n","exit_code":0,"status":"completed"}}`)
	p := (&codex.Adapter{}).NewParser(adaptertest.Request(&codex.Adapter{}))
	var out agent.Batch
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		p.Feed(line, &out)
	}
}

func TestServersAreHeldToTheirAllowedTools(t *testing.T) {
	t.Parallel()
	r := adaptertest.Request(&codex.Adapter{})
	r.MCP = map[string]spec.MCPServer{
		"all": {URL: "https://a.example/"}, "none": {URL: "https://b.example/", Allowed: []string{}}, "some": {Command: "x", Allowed: []string{"a.b", "c"}},
	}
	inv, err := (&codex.Adapter{}).Invocation(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`mcp_servers.all={url="https://a.example/",default_tools_approval_mode="approve"}`,
		`mcp_servers.none={url="https://b.example/",default_tools_approval_mode="approve",enabled_tools=[]}`,
		`mcp_servers.some={command="x",args=[],env_vars=[],default_tools_approval_mode="approve",enabled_tools=["a.b","c"]}`,
	} {
		if !slices.Contains(inv.Args, want) {
			t.Errorf("no argument %s in %q", want, inv.Args)
		}
	}
}
