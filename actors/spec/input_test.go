package spec

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

func TestPromptJoinsByBlankLines(t *testing.T) {
	t.Parallel()
	text := func(s string) *event.Item { return &event.Item{Text: s} }
	for _, c := range []struct {
		in   NewInput
		want string
	}{
		{NewInput{}, ""},
		{NewInput{Items: []*event.Item{text("a")}}, "a"},
		{NewInput{Items: []*event.Item{text("a"), text("b\n")}}, "a\n\nb\n"},
		{NewInput{Before: []string{"user: x", "", "y"}, Items: []*event.Item{text("a")}}, "Earlier in this conversation:\n\nuser: x\n\ny\n\nThe user's message now:\n\na"},
		{NewInput{Before: []string{""}, Items: []*event.Item{text("a")}}, "a"},
		{NewInput{Items: []*event.Item{text(""), text("a"), text("")}}, "a"},
		{NewInput{Items: []*event.Item{
			{Parts: []event.Part{{Text: "a"}, {ImageURL: "data:x"}, {Text: "b"}}}, text("c"),
		}}, "a\n\nb\n\nc"},
		{NewInput{Items: []*event.Item{{Parts: []event.Part{{ImageURL: "data:x"}}}}}, ""},
	} {
		if got := c.in.Prompt(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.in, got, c.want)
		}
	}
}

// The model reaches the CLI unless it only chose the adapter.
func TestCLIModel(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{"": "", "codex": "", "gpt-5.5": "gpt-5.5"} {
		a := Agent{Adapter: "codex", Model: model}
		if got := a.CLIModel(); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
}

func TestUpdateChangesWhatItNames(t *testing.T) {
	t.Parallel()
	str := func(s string) *string { return &s }
	raw := func(s string) *json.RawMessage { r := json.RawMessage(s); return &r }
	old := fullSession()
	for name, c := range map[string]struct {
		u    Update
		want func(*Session)
	}{
		"nothing":      {Update{}, func(*Session) {}},
		"metadata":     {Update{Metadata: &map[string]string{"a": "b"}}, func(s *Session) { s.Metadata = map[string]string{"a": "b"} }},
		"no metadata":  {Update{Metadata: new(map[string]string)}, func(s *Session) { s.Metadata = nil }},
		"model":        {Update{Model: str("m")}, func(s *Session) { s.Agent.Model = "m" }},
		"instructions": {Update{Instructions: str("")}, func(s *Session) { s.Agent.Instructions = "" }},
		"reasoning":    {Update{Reasoning: &Reasoning{Effort: "low"}}, func(s *Session) { s.Agent.Reasoning = Reasoning{Effort: "low"} }},
		"tier":         {Update{ServiceTier: str("flex")}, func(s *Session) { s.Agent.ServiceTier = "flex" }},
		"tools":        {Update{Tools: raw(`[1]`)}, func(s *Session) { s.Agent.Tools = json.RawMessage(`[1]`) }},
		"no tools":     {Update{Tools: new(json.RawMessage)}, func(s *Session) { s.Agent.Tools = nil }},
		"functions":    {Update{Functions: &[]Function{{Name: "f"}}}, func(s *Session) { s.Agent.Functions = []Function{{Name: "f"}} }},
		"mcp": {Update{MCP: &map[string]MCPServer{"x": {URL: "u"}}, Secrets: event.ID{9}},
			func(s *Session) {
				s.Agent.MCP, s.Agent.Secrets = map[string]MCPServer{"x": {URL: "u"}}, event.ID{9}
			}},
		"extra":    {Update{Extra: raw(`{"b":1}`)}, func(s *Session) { s.Extra = json.RawMessage(`{"b":1}`) }},
		"spend":    {Update{SpendControl: &SpendControl{Asked: true, Limit: 5}}, func(s *Session) { s.SpendControl = SpendControl{Asked: true, Limit: 5} }},
		"no spend": {Update{SpendControl: &SpendControl{}}, func(s *Session) { s.SpendControl = SpendControl{} }},
	} {
		want := fullSession()
		c.want(want)
		if got := c.u.Apply(old); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if !reflect.DeepEqual(old, fullSession()) {
			t.Fatalf("%s changed what it was applied to", name)
		}
	}
	if n := reflect.TypeFor[Update]().NumField(); n != 11 {
		t.Errorf("Update has %d fields; a new one needs a case above", n)
	}
}

// Settings are shared by readers, so a caller that goes on using its update may
// not reach them.
func TestUpdateIsCopied(t *testing.T) {
	t.Parallel()
	meta := map[string]string{"a": "b"}
	tools, extra := json.RawMessage(`[1]`), json.RawMessage(`{"b":1}`)
	mcp := map[string]MCPServer{"x": {
		Headers: map[string]string{"h": "1"}, Args: []string{"a"}, Env: map[string]string{"e": "1"},
	}}
	u := Update{Metadata: &meta, Tools: &tools, Extra: &extra, MCP: &mcp}
	got := u.Apply(&Session{})
	before, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	mcp["x"].Headers["h"], mcp["x"].Args[0], mcp["x"].Env["e"] = "2", "2", "2"
	mcp["y"], meta["a"], tools[1], extra[1] = MCPServer{}, "2", '2', ' '
	if after, err := json.Marshal(got); err != nil || string(after) != string(before) {
		t.Errorf("%s became %s, %v", before, after, err)
	}
}
