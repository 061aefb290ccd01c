package codex_test

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
	"github.com/agenthost/agenthost/adapters/codex"
)

func readLines(lines ...string) *adaptertest.Reading {
	a := &codex.Adapter{}
	return adaptertest.Read(a.NewParser(adaptertest.Request(a)), &adaptertest.Transcript{Lines: adaptertest.Lines([]byte(strings.Join(lines, "\n")))})
}

func told(items []*event.Item) []string {
	var list []string
	for _, it := range items {
		list = append(list, strings.TrimPrefix(adaptertest.Format(agent.Fact{Kind: agent.FactDone, Item: it}), "done "))
	}
	return list
}

// The real CLI's lines: a subagent that was waited for, and one too many.
func TestRecordedSubagents(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "recorded", "subagent_joined.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := readLines(string(raw))
	calls := got.Find(event.Subagent)
	if len(calls) != 1 || calls[0].Status != event.Done || calls[0].Output != "child is done" || !strings.HasPrefix(calls[0].Prompt, "Look.") {
		t.Fatalf("items %q", told(got.Items))
	}
	if want := []string{`message completed text="child is done"`}; !slices.Equal(told(got.Theirs["item_2"].Items), want) {
		t.Errorf("the subagent's items %q", told(got.Theirs["item_2"].Items))
	}
	if wait := got.Find(event.ToolCall); len(wait) != 1 || wait[0].Tool != "wait" || wait[0].Status != event.Done {
		t.Errorf("items %q", told(got.Items))
	}
	if raw, err = os.ReadFile(filepath.Join("testdata", "recorded", "subagent_refused.jsonl")); err != nil {
		t.Fatal(err)
	}
	// Nothing tells what became of the first.
	if calls := readLines(string(raw)).Find(event.Subagent); len(calls) != 2 || calls[0].Status != event.Incomplete || calls[1].Status != event.ItemFailed {
		t.Errorf("items %q", told(calls))
	}
}

func TestSubagentThatBrokeFailsItsCall(t *testing.T) {
	t.Parallel()
	spawn := `{"type":"item.completed","item":{"id":"i1","type":"collab_tool_call","tool":"spawn_agent","receiver_thread_ids":["x"],"prompt":"dig","agents_states":{"x":{"status":"running"}},"status":"completed"}}`
	closed := `{"type":"item.completed","item":{"id":"i2","type":"collab_tool_call","tool":"close_agent","receiver_thread_ids":["x"],"agents_states":{"x":{"status":"errored","message":"out of room"},"y":{"status":"completed"},"z":7},"status":"completed"}}`
	got := readLines(spawn, closed, closed, `{"type":"turn.completed"}`)
	if calls := got.Find(event.Subagent); len(calls) != 1 || calls[0].Status != event.ItemFailed || calls[0].Error != "errored out of room" {
		t.Errorf("items %q", told(got.Items))
	}
	if len(got.Unknown) != 0 || !slices.Equal(got.Theirs["i1"].Texts(), []string{"out of room"}) {
		t.Errorf("unknown %q, theirs %v", got.Unknown, got.Theirs)
	}
}

func TestMultiAgentIsPassedOn(t *testing.T) {
	t.Parallel()
	two := 2
	r := adaptertest.Request(&codex.Adapter{})
	r.MultiAgent = spec.MultiAgent{Enabled: true, Max: &two}
	if inv := invoke(t, r); !slices.Contains(inv.Args, "agents.max_threads=2") || slices.Contains(inv.Args, "multi_agent") {
		t.Errorf("enabled: %q", inv.Args)
	}
	r.MultiAgent = spec.MultiAgent{Disabled: true}
	if inv := invoke(t, r); !slices.Contains(inv.Args, "multi_agent") {
		t.Errorf("disabled: %q", inv.Args)
	}
}
