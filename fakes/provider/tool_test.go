package provider

import (
	"testing"

	"github.com/agenthost/agenthost/fakes/mind"
)

func schemaOf(t *testing.T, names ...string) (s schema) {
	t.Helper()
	props := map[string]any{}
	for _, n := range names {
		props[n] = map[string]any{"type": "string"}
	}
	if err := json.Unmarshal([]byte(encode(map[string]any{"properties": props})), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Each CLI has its own name for the tool, and its own arguments.
func TestSubagentIsTheToolThatIsOffered(t *testing.T) {
	t.Parallel()
	q := &question{Tools: []tool{
		{Name: "spawn_agent", Namespace: "mcp__other", Schema: schemaOf(t, "message")},
		{Name: "spawn_agent", Namespace: "multi_agent_v1", Schema: schemaOf(t, "message")},
		{Name: "wait_agent", Namespace: "multi_agent_v1"},
	}}
	got := find(&mind.Call{Kind: mind.Subagent, Args: "dig"}, q)
	if got.Namespace != "multi_agent_v1" || got.Args != `{"message":"dig"}` {
		t.Errorf("in a namespace: %+v", got)
	}
	q.Talk = []mind.Message{
		{From: mind.User, Text: `"agent_id":"no"`}, {From: mind.Tool, Text: `{"agent_id":"a","nickname":"x"}`}, {From: mind.Tool, Text: `{"agent_id": "b"}`},
	}
	if got = find(&mind.Call{Kind: mind.Join}, q); got.Name != "wait_agent" || got.Args != `{"targets":["a","b"],"timeout_ms":60000}` {
		t.Errorf("join: %+v", got)
	}
	q = &question{Tools: []tool{{Name: "Agent", Schema: schemaOf(t, "prompt", "description")}}}
	if got = find(&mind.Call{Kind: mind.Subagent, Args: "dig"}, q); got.Args != `{"description":"Run the task of the prompt","prompt":"dig"}` {
		t.Errorf("Claude Code's: %+v", got)
	}
	if got = find(&mind.Call{Kind: mind.Subagent, Args: "dig"}, &question{}); got.Name != "Agent" {
		t.Errorf("nobody's: %+v", got)
	}
}
