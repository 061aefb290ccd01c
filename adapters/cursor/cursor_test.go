package cursor_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/cursor"
)

// silent is the list of the parser's documentation.
func silent(line []byte) bool {
	var l struct {
		Type, Subtype string
		Message       struct{ Content []any }
		ToolCall      map[string]any `json:"tool_call"`
	}
	if json.Unmarshal(line, &l) != nil {
		return false
	}
	switch l.Type {
	case "user":
		return true
	case "thinking":
		return l.Subtype == "completed"
	case "tool_call": // a list that has not changed
		return l.Subtype == "completed" && l.ToolCall["updateTodosToolCall"] != nil
	case "assistant":
		return l.Message.Content != nil
	}
	return false
}

// The transcripts are written after the vendor's documentation: the CLI itself was
// not there to be recorded.
func TestConformance(t *testing.T) {
	t.Parallel()
	adaptertest.Run(t, &cursor.Adapter{}, adaptertest.Cases{Dir: "testdata/documented", Silent: silent, Facts: "cursor"})
}

func TestTroubleCases(t *testing.T) {
	t.Parallel()
	adaptertest.RunExpected(t, &cursor.Adapter{}, "testdata/cases")
}

func FuzzFeed(f *testing.F) {
	adaptertest.FuzzFeed(f, &cursor.Adapter{}, "testdata/documented", "testdata/cases")
}

func invoke(t *testing.T, r *agent.Request) *agent.Invocation {
	t.Helper()
	a := &cursor.Adapter{}
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
	r := adaptertest.Request(&cursor.Adapter{})
	r.Model, r.Native, r.ExtraArgs = "auto", "5a000000-0000-4000-8000-000000000001", []string{"--approve-mcps"}
	r.LLM.APIKey = "key-secret"
	inv := invoke(t, r)
	want := []string{"-p", "--output-format", "stream-json", "--stream-partial-output", "--trust", "--model", "auto", "--resume", r.Native, "--sandbox", "enabled", "--approve-mcps"}
	if !slices.Equal(inv.Args, want) {
		t.Errorf("arguments\n%q\nwant\n%q", inv.Args, want)
	}
	if !slices.Equal(inv.Env, []string{"CURSOR_CONFIG_DIR=/home/agent/state", "CURSOR_API_KEY=key-secret"}) {
		t.Errorf("environment %q", inv.Env)
	}
	if string(inv.Stdin) != r.Prompt {
		t.Errorf("stdin %q", inv.Stdin)
	}
}

func TestPermissionFlags(t *testing.T) {
	t.Parallel()
	for p, want := range map[spec.Permissions]string{
		spec.ReadOnly: "--mode ask", spec.WorkspaceWrite: "--sandbox enabled", spec.FullAccess: "--force --sandbox disabled",
	} {
		r := adaptertest.Request(&cursor.Adapter{})
		r.Permissions = p
		if got := strings.Join(invoke(t, r).Args, " "); !strings.HasSuffix(got, " --trust "+want) {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*agent.Request)
		code   event.Code
		param  string
	}{
		"provider": {func(r *agent.Request) { r.LLM.BaseURL = "https://llm.example.com" }, event.InvalidRequest, "llm.base_url"},
		"servers":  {func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"a": {Command: "x"}} }, event.Unsupported, "mcp_servers"},
		"images":   {func(r *agent.Request) { r.Images = []string{"/run/turn/a.png"} }, event.Unsupported, "input"},
		"schema":   {func(r *agent.Request) { r.Text.Type = "json_schema" }, event.Unsupported, "text.format"},
		"native":   {func(r *agent.Request) { r.Native = "--force" }, event.ResumeLost, ""},
	} {
		r := adaptertest.Request(&cursor.Adapter{})
		c.change(r)
		f, ok := event.AsFailure((&cursor.Adapter{}).Validate(r))
		if !ok || f.Code != c.code || f.Param != c.param {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Instructions are told once, and again when they have changed.
func TestInstructionsGoBeforeThePrompt(t *testing.T) {
	t.Parallel()
	a := &cursor.Adapter{}
	r := adaptertest.Request(a)
	r.Instructions = "be brief"
	if in := string(invoke(t, r).Stdin); in != "be brief\n\nsay hello" {
		t.Errorf("first turn: %q", in)
	}
	tr, err := adaptertest.Load("testdata/documented/first_turn.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r.Native, r.Carry = "5a000000-0000-4000-8000-000000000001", adaptertest.Read(a.NewParser(r), tr).Verdict.Carry
	if in := string(invoke(t, r).Stdin); in != "say hello" {
		t.Errorf("same instructions: %q", in)
	}
	r.Instructions = "be wordy"
	if in := string(invoke(t, r).Stdin); !strings.Contains(in, "have changed") || !strings.Contains(in, "be wordy") {
		t.Errorf("other instructions: %q", in)
	}
	r.Instructions = ""
	if in := string(invoke(t, r).Stdin); !strings.Contains(in, "no longer apply") {
		t.Errorf("no instructions: %q", in)
	}
}

// What the documented lines hold reaches the caller. The program that prints them was
// not there, so none of it is called verified.
func TestDocumentedWork(t *testing.T) {
	t.Parallel()
	a := &cursor.Adapter{}
	read := func(name string) *adaptertest.Reading {
		tr, err := adaptertest.Load("testdata/documented/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		return adaptertest.Read(a.NewParser(adaptertest.Request(a)), tr)
	}
	tools, thought := read("tools"), read("thinking")
	for feature, there := range map[string]bool{
		"text":         slices.Equal(tools.Texts(), []string{"Done."}),
		"deltas":       slices.Equal(read("first_turn").Texts(), []string{"Hello there."}),
		"reasoning":    len(thought.Find(event.Reasoning)) == 1 && thought.Verdict.Usage.Total() == 155,
		"commands":     len(tools.Find(event.Command)) == 2,
		"file_changes": len(tools.Find(event.FileChange)) == 3,
		"cancel":       len(read("cut").Texts()) == 1, // the engine's signals need nothing of the adapter
	} {
		if !there {
			t.Errorf("%s: items %v", feature, tools.Items)
		}
		adaptertest.Record(t, cursor.Name, feature, agent.PassedThrough, "")
	}
}
