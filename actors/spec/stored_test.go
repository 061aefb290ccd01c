package spec

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

var update = flag.Bool("update", false, "rewrite testdata")

// fullSession sets every field that is stored.
func fullSession() *Session {
	two := 2
	words := func(k, v string) map[string]string { return map[string]string{k: v} }
	return &Session{
		ID: event.ID{1}, Owner: "alice", Metadata: words("team", "a"), Created: 1_796_000_000_000, Extra: json.RawMessage(`{"review":true}`),
		Environment: Environment{Type: EnvSelfHosted, ID: event.ID{2}, Workspace: "/srv/code", Capability: []string{"/srv/skills"}},
		Agent: Agent{
			ID: event.ID{3}, Owner: "alice", Name: "coder", Adapter: "codex", Model: "gpt-5.5", Instructions: "be brief",
			Metadata: words("x", "y"), Reasoning: Reasoning{Effort: "high", Summary: "auto"}, ServiceTier: "flex",
			Text:       TextFormat{Type: "json_schema", Schema: json.RawMessage(`{"type":"object"}`), Name: "answer", Verbosity: "low"},
			MultiAgent: MultiAgent{Enabled: true, Max: &two, Disabled: true}, Tools: json.RawMessage(`[{"type":"web_search"}]`),
			Functions: []Function{{Name: "weather", Description: "of a city", Parameters: json.RawMessage(`{"type":"object"}`), Strict: true}},
			MCP: map[string]MCPServer{"docs": {
				URL: "https://docs.example/mcp", Headers: words("X-Key", "${DOCS_KEY}"), Command: "docs", Args: []string{"--stdio"}, Env: words("A", "b"),
				Caller: true, Allowed: []string{"search"}, Approval: Approval{Always: []string{"a"}, Never: []string{"b"}, Rest: true},
			}},
			Permissions: WorkspaceWrite, Limits: Limits{TurnTimeout: 60e9, IdleTimeout: 30e9, MaxTurns: 4, MaxUSD: 1.5, MaxTokens: 9, SessionTokens: 90, SessionUSD: 15,
				CPU: 90e9, MemoryBytes: 1 << 30, Processes: 100, FileBytes: 1 << 20, OpenFiles: 256, OutputBytes: 1 << 21, Concurrency: 2, TurnsPerMinute: 30},
			Env: words("A", "b"), SecretEnv: words("B", "HOST_B"), Workspace: "/srv", Saved: true, Locked: true, LLM: &LLM{BaseURL: "baseurl", BaseURLEnv: "baseurlenv", APIKeyEnv: "apikeyenv", WireAPI: "wireapi"}, Created: 1_796_000_000, Updated: 1_796_000_001, Secrets: event.ID{4},
		},
		SpendControl: SpendControl{Asked: true, Limit: 250},
	}
}

func fullOverrides() *Overrides {
	model, instructions := "gpt-5.5", ""
	return &Overrides{Model: &model, Instructions: &instructions, Reasoning: &Reasoning{Effort: "low"}, Text: &TextFormat{Type: "text"}, Functions: &[]Function{{Name: "weather"}},
		MCP: &map[string]MCPServer{"docs": {URL: "https://docs.example/mcp", Headers: map[string]string{"X-Key": SecretRef}, Caller: true, Allowed: []string{}}}, Secrets: event.ID{4}}
}

// Journals and records hold these documents: a field may be added here, a
// renamed one is lost from every stored session.
func TestStoredFormIsKept(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"session.json": fullSession(), "overrides.json": fullOverrides(),
		"bare_session.json": &Session{ID: event.ID{1}, Agent: Agent{Adapter: "codex"}},
	} {
		got, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		path := "testdata/" + name
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is now\n%s", path, got)
		}
		back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		if err := json.Unmarshal(want, back); err != nil {
			t.Fatal(err)
		}
		again, err := json.MarshalIndent(back, "", "  ")
		if err != nil || !bytes.Equal(append(again, '\n'), want) {
			t.Errorf("%s is read as\n%s, %v", path, again, err)
		}
	}
}

// The golden is worth what it shows.
func TestFullSessionSetsEveryField(t *testing.T) {
	t.Parallel()
	allSet(t, "Session", reflect.ValueOf(*fullSession()))
}

func allSet(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch {
	case v.Type() == reflect.TypeFor[map[string]Secret](): // never stored
	case v.IsZero():
		t.Errorf("%s is not set", path)
	case v.Kind() == reflect.Pointer:
		allSet(t, path, v.Elem())
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			allSet(t, path+"."+k.String(), v.MapIndex(k))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			allSet(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}
