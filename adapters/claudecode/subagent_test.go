package claudecode_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/claudecode"
)

func told(items []*event.Item) []string {
	var list []string
	for _, it := range items {
		list = append(list, strings.TrimPrefix(adaptertest.Format(agent.Fact{Kind: agent.FactDone, Item: it}), "done "))
	}
	return list
}

func recorded(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "recorded", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// What a subagent did is told as its call's, in order, and is no item of the turn.
func TestSubagentsWorkIsToldAsItsCalls(t *testing.T) {
	t.Parallel()
	got := read(nil, agent.Exit{}, toolUse("1", "Task", `{"prompt":"dig","subagent_type":"miner"}`),
		`{"type":"system","subtype":"task_started","tool_use_id":"1","task_type":"local_agent"}`,
		`{"type":"stream_event","parent_tool_use_id":"1","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"inner"}}}`,
		`{"type":"user","parent_tool_use_id":"1","message":{"content":[{"type":"text","text":"dig"}]}}`,
		`{"type":"assistant","parent_tool_use_id":"1","message":{"id":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"inner"},{"type":"tool_use","id":"2","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"3","name":"Write","input":{"file_path":"/w/x"}},{"type":"tool_use","id":"4","name":"TodoWrite","input":{"todos":[{"content":"a","status":"pending"}]}}]}}`,
		`{"type":"user","parent_tool_use_id":"1","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"x"}]}}`,
		`{"type":"assistant","parent_tool_use_id":"1","message":{"id":"n","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}]},"error":"server_error","api_error_status":529}`,
		`{"type":"assistant","parent_tool_use_id":"1","message":{"id":"o","content":[{"type":"text","text":"found it"}]}}`,
		`{"type":"system","subtype":"task_progress","tool_use_id":"1"}`,
		toolUse("9", "TodoWrite", `{"todos":[{"content":"own","status":"pending"}]}`),
		`{"type":"system","subtype":"task_notification","tool_use_id":"1","status":"completed","summary":"found it"}`,
		`{"type":"result","subtype":"success","is_error":false,"result":"dug up"}`)
	if want := []string{
		`subagent completed server="claude-code" tool="miner" arguments="{\"prompt\":\"dig\",\"subagent_type\":\"miner\"}" output="found it" prompt="dig"`,
		`reasoning completed text="[ ] own"`, `message completed text="dug up"`,
	}; !slices.Equal(told(got.Items), want) {
		t.Errorf("items\n%s\nwant\n%s", strings.Join(told(got.Items), "\n"), strings.Join(want, "\n"))
	}
	if want := []string{
		`reasoning completed text="hm"`, `message completed text="inner"`,
		`command completed command="ls" cwd="/workspace" output="x" exit=0`,
		`tool_call incomplete server="claude-code" tool="TodoWrite" arguments="{\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}"`,
		`message completed text="found it"`, `file_change incomplete add="/w/x"`,
	}; !slices.Equal(told(got.Theirs["1"].Items), want) {
		t.Errorf("the subagent's items\n%s\nwant\n%s", strings.Join(told(got.Theirs["1"].Items), "\n"), strings.Join(want, "\n"))
	}
	if want := []string{"API Error: 529"}; !slices.Equal(got.Theirs["1"].Notices, want) && !slices.Equal(got.Notices, want) {
		t.Errorf("notices %q and %q", got.Notices, got.Theirs["1"].Notices)
	}
	if len(got.Unknown) != 0 || got.Verdict.Outcome != event.Completed {
		t.Errorf("unknown %q, verdict %+v", got.Unknown, got.Verdict)
	}
}

func TestLinesOfASubagentThatNobodyCalledAreKept(t *testing.T) {
	t.Parallel()
	got := read(nil, agent.Exit{}, toolUse("b", "Bash", `{"command":"ls"}`),
		`{"type":"assistant","parent_tool_use_id":"gone","message":{"id":"m","content":[{"type":"text","text":"inner"}]}}`,
		`{"type":"user","parent_tool_use_id":"b","message":{"content":[{"type":"text","text":"x"}]}}`,
		`{"type":"result","subtype":"success","is_error":false,"result":"done"}`)
	if len(got.Unknown) != 2 || len(got.Theirs) != 0 || !slices.Equal(got.Texts(), []string{"done"}) {
		t.Errorf("unknown %q, theirs %v, texts %q", got.Unknown, got.Theirs, got.Texts())
	}
}

// The real CLI's lines, of a subagent that it waited for and of one inside another.
func TestRecordedSubagents(t *testing.T) {
	t.Parallel()
	got := read(nil, agent.Exit{}, recorded(t, "subagent_foreground")...)
	call := got.Find(event.Subagent)
	if len(call) != 1 || call[0].Output != "child is done" || !slices.Equal(got.Texts(), []string{"I delegate.", "parent is done"}) {
		t.Fatalf("items %q", told(got.Items))
	}
	if want := []string{
		`reasoning completed text="hm"`, `message completed text="I look."`,
		`command failed command="echo child; exit 3" cwd="/workspace" output="child" exit=3`, `message completed text="child is done"`,
	}; !slices.Equal(told(got.Theirs["toolcall_scripted_12"].Items), want) {
		t.Errorf("the subagent's items %q", told(got.Theirs["toolcall_scripted_12"].Items))
	}
	got = read(nil, agent.Exit{}, recorded(t, "subagent_nested")...)
	outer, inner := got.Theirs["toolcall_scripted_16"], got.Theirs["toolcall_scripted_18"]
	if outer == nil || inner == nil || !slices.Equal(outer.Texts(), []string{"I sub-delegate", "mid done"}) ||
		len(outer.Find(event.Subagent)) != 1 || !slices.Equal(inner.Texts(), []string{"deep done"}) || len(inner.Find(event.Command)) != 1 {
		t.Errorf("outer %+v, inner %+v", outer, inner)
	}
	resumed := read(nil, agent.Exit{}, recorded(t, "subagent_resumed")...)
	if theirs := resumed.Theirs["toolcall_scripted_1"]; !slices.Equal(theirs.Texts(), []string{"child one", "went on"}) || len(theirs.Find(event.Command)) != 1 {
		t.Errorf("the items of one that went on %q", told(theirs.Items))
	}
	if send := resumed.Find(event.ToolCall); len(send) != 1 || send[0].Tool != "SendMessage" || send[0].Output != "went on" {
		t.Errorf("its second call %q", told(resumed.Items))
	}
	// Three requests of the turn's own agent, told by two results, and four of its
	// subagents, of whose output the CLI tells only the beginning.
	if u := got.Verdict.Usage; u == nil || u.Input != 840 || u.Output != 94 {
		t.Errorf("usage %+v", u)
	}
}

func TestReportIsTakenOutOfItsFrame(t *testing.T) {
	t.Parallel()
	framed := "  <tools-used>\n[Subagent hand-back] words. The report follows:\n  line one\n\n  line two\nagentId: x\n<usage>y</usage>"
	for said, want := range map[string]string{framed: "line one", "plain": "plain", "The report follows:\n": ""} {
		got := read(nil, agent.Exit{}, toolUse("1", "Agent", `{"prompt":"dig"}`), toolResult("1", said, false),
			`{"type":"result","subtype":"success","is_error":false,"result":"x"}`)
		if got.Items[0].Output != want {
			t.Errorf("%q became %q", said, got.Items[0].Output)
		}
	}
}

// Each result of a run counts what came since the one before; one that is printed
// again counts once.
func TestUsageIsTheSumOfARunsResults(t *testing.T) {
	t.Parallel()
	result := func(index, tokens string) string {
		return `{"type":"result","subtype":"success","is_error":false,"result":"x","result_index":` + index + `,"usage":{"input_tokens":` + tokens + `,"output_tokens":1}}`
	}
	got := read(nil, agent.Exit{}, result("0", "10"), result("1", "5"), result("1", "5"))
	if u := got.Verdict.Usage; u == nil || u.Input != 15 || u.Output != 2 {
		t.Errorf("usage %+v", u)
	}
}

func TestMultiAgentIsPassedOn(t *testing.T) {
	t.Parallel()
	a, two := &claudecode.Adapter{}, 2
	r := adaptertest.Request(a)
	r.Permissions = spec.WorkspaceWrite
	r.MultiAgent = spec.MultiAgent{Enabled: true, Max: &two}
	inv, err := a.Invocation(r)
	if err != nil || !slices.Contains(inv.Env, "CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS=2") || slices.Contains(inv.Args, "--disallowedTools") {
		t.Errorf("enabled: %v %q %q", err, inv.Env, inv.Args)
	}
	r.MultiAgent = spec.MultiAgent{Disabled: true}
	inv, err = a.Invocation(r)
	if at := slices.Index(inv.Args, "--disallowedTools"); err != nil || at < 0 || inv.Args[at+1] != "Agent,Task" {
		t.Errorf("disabled: %v %q", err, inv.Args)
	}
	r.Permissions, r.MultiAgent = spec.ReadOnly, spec.MultiAgent{Enabled: true}
	if f, ok := event.AsFailure(a.Validate(r)); !ok || f.Param != "multi_agent.enabled" {
		t.Errorf("read_only: %v", f)
	}
}
