package acceptance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/fakes/provider"
)

// agentsCase is how one case of testdata/agentssdk is judged.
type agentsCase struct {
	runs  int
	judge func(t *testing.T, runs []agentsRun)
	not   []string // languages whose SDK does not have it
}

const (
	heronKept     = "I will remember the word heron."
	heronRecalled = "You asked me to remember the word heron."
	fortyTwo      = "forty-two"
	weatherTold   = "The tool returned: sunny in Oslo"
)

// What the new items of a run are called, short.
const (
	said, called, answered, thought = "message_output_item", "tool_call_item", "tool_call_output_item", "reasoning_item"
	handed, taken                   = "handoff_call_item", "handoff_output_item"
)

var agentsSDKCases = map[string]agentsCase{
	"plain": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, heronKept, said)
		runs[0].used(t, 1)
	}},
	"plain_streamed": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "one two three", thought, said)
		runs[0].came(t, "one two three", "reasoning_item_created", "message_output_created")
		runs[0].used(t, 1)
	}},
	"own_tools": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "The tool returned: from a shell", said, called, said)
		runs[0].used(t, 2)
	}},
	"own_tools_streamed": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "The tool returned: from a shell", said, called, said)
		runs[0].came(t, "I will run it.The tool returned: from a shell", "message_output_created", "tool_called", "message_output_created")
	}},
	"structured": {runs: 1, judge: func(t *testing.T, runs []agentsRun) { runs[0].isCity(t, said) }},
	"structured_streamed": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].isCity(t, said, called, said)
		runs[0].came(t, strings.Join(runs[0].Texts, ""), "message_output_created", "tool_called", "message_output_created")
	}},
	"previous_response": {runs: 3, judge: func(t *testing.T, runs []agentsRun) {
		recalled(t, runs[:2])
		recalled(t, []agentsRun{runs[0], runs[2]})
	}},
	"previous_response_auto": {runs: 2, judge: recalled, not: []string{"javascript"}},
	"conversation":           {runs: 2, judge: recalled},
	"transcript": {runs: 2, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "The tool returned: from a shell", thought, called, said)
		runs[1].is(t, heronRecalled, said)
	}},
	"local_memory": {runs: 2, judge: recalled},
	"settings": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "set", said)
		for _, name := range []string{
			"context_management", "include", "max_output_tokens", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
			"safety_identifier", "service_tier", "temperature", "top_logprobs", "top_p", "truncation",
		} {
			if !slices.Contains(runs[0].Ignored, name) {
				t.Errorf("%s is not among the ignored parameters: %v", name, runs[0].Ignored)
			}
		}
		for _, name := range []string{"input", "instructions", "metadata", "model", "reasoning", "store", "text", "tools"} {
			if slices.Contains(runs[0].Ignored, name) {
				t.Errorf("%s is among the ignored parameters: %v", name, runs[0].Ignored)
			}
		}
	}},
	"refused": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		if want := []string{"NotFoundError", "ModelBehaviorError", "ModelBehaviorError"}; !slices.Equal(runs[0].Raised, want) {
			t.Errorf("raised %v, want %v", runs[0].Raised, want)
		}
	}},

	"tool": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold, called, answered, said)
		runs[0].asked(t, 2)
	}},
	"tool_streamed": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold, said, called, answered, said)
		runs[0].came(t, "Let me look."+weatherTold, "message_output_created", "tool_called", "tool_output", "message_output_created")
		runs[0].asked(t, 2)
	}},
	"tools_parallel": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold+"\nnoon in Rome", called, called, answered, answered, said)
		runs[0].asked(t, 2) // both calls in one response
	}},
	"tools_in_turn": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold+"\nnoon in Rome", called, answered, called, answered, said)
		runs[0].asked(t, 3)
	}},
	"tool_fails": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		if len(runs[0].Outputs) != 1 {
			t.Fatalf("outputs %v", runs[0].Outputs)
		}
		// What the SDK made of the error is what the model was told.
		told, _ := runs[0].Outputs[0].(string)
		if !strings.HasPrefix(told, "An error occurred while running the tool.") {
			t.Errorf("the SDK answers %q", told)
		}
		runs[0].is(t, "The tool returned: "+told, called, answered, said)
	}},
	"tool_parts": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "The tool returned: sunny\nin Oslo", called, answered, said)
	}},
	"tool_dynamic": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold, called, answered, said)
		runs[0].asked(t, 2)
	}},
	"tool_beside_own": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "The tool returned: one\nsunny in Oslo\ntwo", called, called, answered, called, said)
		runs[0].asked(t, 2)
	}},
	"tool_structured": {runs: 1, judge: func(t *testing.T, runs []agentsRun) { runs[0].isCity(t, called, answered, said) }},
	"tool_previous_response": {runs: 2, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold, called, answered, said)
		runs[1].is(t, heronRecalled, said)
	}},
	"tool_transcript": {runs: 2, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold, called, answered, said)
		runs[1].is(t, heronRecalled, said)
	}},
	"tool_conversation": {runs: 2, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, heronKept, said)
		runs[1].is(t, weatherTold, called, answered, said)
	}},
	"tool_required": {runs: 2, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold, called, answered, said)
		runs[1].is(t, weatherTold, called, answered, said)
	}},
	"tool_none": {runs: 1, judge: func(t *testing.T, runs []agentsRun) { runs[0].is(t, "without", said) }},
	"agent_as_tool": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "The tool returned: "+fortyTwo, called, answered, said)
	}},

	"handoff": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, fortyTwo, handed, taken, said)
		runs[0].asked(t, 2)
		runs[0].endedWith(t, "expert")
	}},
	"handoff_streamed": {runs: 1, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, fortyTwo, handed, taken, said)
		runs[0].came(t, fortyTwo, "handoff_requested", "handoff_occurred", "message_output_created")
		runs[0].endedWith(t, "expert")
		if n := len(runs[0].Agents); n == 0 || runs[0].Agents[n-1] != "expert" {
			t.Errorf("agents that took over: %v", runs[0].Agents)
		}
	}},
	"handoff_transcript": {runs: 2, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, "yes", handed, taken, said)
		runs[1].is(t, heronRecalled, said)
	}},

	"server_memory": {runs: 3, judge: func(t *testing.T, runs []agentsRun) {
		recalled(t, runs[:2])
		kept := runs[2]
		if want := []string{"user", "assistant", "user", "assistant"}; !slices.Equal(kept.Roles, want) {
			t.Errorf("items of the memory: %v, want %v", kept.Roles, want)
		}
		if !slices.Equal(kept.Newest, []string{"assistant"}) || kept.Popped != "assistant" || kept.Left != 3 {
			t.Errorf("the newest item is %v, popped %q, %d left", kept.Newest, kept.Popped, kept.Left)
		}
	}},
	"server_memory_tool": {runs: 3, judge: func(t *testing.T, runs []agentsRun) {
		runs[0].is(t, weatherTold, called, answered, said)
		runs[1].is(t, heronRecalled, said)
		if n := len(runs[2].Roles); n != 6 {
			t.Errorf("items of the memory: %v", runs[2].Roles)
		}
	}},
}

// recalled is a run that was told a word and a later one that knows it.
func recalled(t *testing.T, runs []agentsRun) {
	t.Helper()
	runs[0].is(t, heronKept, said)
	runs[1].is(t, heronRecalled, said)
	if runs[0].ID == runs[1].ID {
		t.Errorf("both runs ended with %s", runs[0].ID)
	}
}

// is compares how a run ended and what it brought.
func (r *agentsRun) is(t *testing.T, final string, items ...string) {
	t.Helper()
	if r.Final != final {
		t.Errorf("final output %q, want %q", r.Final, final)
	}
	r.brought(t, items)
}

func (r *agentsRun) brought(t *testing.T, items []string) {
	t.Helper()
	if !slices.Equal(r.Items, items) {
		t.Errorf("new items %v, want %v", r.Items, items)
	}
	if _, ok := event.Parse(r.ID, event.PrefixResponse); !ok {
		t.Errorf("last response %q", r.ID)
	}
}

// isCity checks a value of the program's own type, filled in by the model.
func (r *agentsRun) isCity(t *testing.T, items ...string) {
	t.Helper()
	r.brought(t, items)
	got, err := json.Marshal(r.Final)
	if want := `{"name":"scripted","people":7,"sights":["scripted"]}`; err != nil || string(got) != want {
		t.Errorf("final output %s %v, want %s", got, err, want)
	}
}

// came checks what a streamed run said on its way.
func (r *agentsRun) came(t *testing.T, text string, named ...string) {
	t.Helper()
	if r.Text != text {
		t.Errorf("text of the deltas %q, want %q", r.Text, text)
	}
	got := slices.Clone(r.Named)
	for i, name := range got {
		if name == "handoff_occured" { // so in Python
			got[i] = "handoff_occurred"
		}
	}
	if !slices.Equal(got, named) {
		t.Errorf("events %v, want %v", got, named)
	}
	if n := len(r.Raw); n == 0 || r.Raw[0] != "response.created" || r.Raw[n-1] != "response.completed" {
		t.Errorf("events of the wire: %v", r.Raw)
	}
	if begun := strings.Count(strings.Join(r.Raw, " "), "response.created"); begun != r.Responses {
		t.Errorf("%d responses began, %d are known", begun, r.Responses)
	}
}

// asked compares how many responses the SDK asked for.
func (r *agentsRun) asked(t *testing.T, responses int) {
	t.Helper()
	if r.Responses != responses || r.Usage.Requests != responses {
		t.Errorf("%d responses, usage of %d, want %d", r.Responses, r.Usage.Requests, responses)
	}
	if r.Usage.Total == 0 || r.Usage.Total != r.Usage.Input+r.Usage.Output {
		t.Errorf("usage %+v", r.Usage)
	}
}

// used compares the usage of a run of one response that took the model that often.
func (r *agentsRun) used(t *testing.T, model int) {
	t.Helper()
	r.asked(t, 1)
	u := r.Usage
	if u.Input != model*provider.InputTokens || u.Output != model*provider.OutputTokens || u.Cached != model*provider.CachedTokens || u.Reasoning != model*provider.ReasoningTokens {
		t.Errorf("usage %+v of %d model responses", u, model)
	}
}

func (r *agentsRun) endedWith(t *testing.T, agent string) {
	t.Helper()
	if r.Agent != agent {
		t.Errorf("the last agent is %s, want %s", r.Agent, agent)
	}
}
