package acceptance

import (
	"strings"
	"testing"
)

// asked is the newest request with a mark that the model got, as the provider logged
// it.
func (r *cliRig) asked(mark string) string {
	r.t.Helper()
	requests := r.provider.Requests()
	for i := len(requests) - 1; i >= 0; i-- {
		if body := string(requests[i].Body); strings.Contains(body, mark) {
			return body
		}
	}
	r.t.Fatalf("no request with %q among %d", mark, len(requests))
	return ""
}

func askedWith(t *testing.T, what, body string, has, hasNot []string) {
	t.Helper()
	for _, s := range has {
		if !strings.Contains(body, s) {
			t.Errorf("%s: the model's request lacks %s: %.200s", what, s, body)
		}
	}
	for _, s := range hasNot {
		if strings.Contains(body, s) {
			t.Errorf("%s: the model's request still has %s", what, s)
		}
	}
}

// What is changed of a session between two turns reaches the model with the next one,
// in the CLI's own resumed conversation, on either wire and over a restart.
func TestRealCLIUpdateTakesEffect(t *testing.T) {
	t.Parallel()
	models := map[string][2]string{"codex": {"gpt-5.1", "gpt-5.2"}, "claude-code": {"claude-sonnet-4-5", "claude-opus-4-5"}, "qwen-code": {"gpt-5.1", "gpt-5.2"}, "opencode": {"gpt-5.1", "gpt-5.2"}}
	efforts := map[string][2]string{
		"codex": {`"effort":"low"`, `"effort":"high"`}, "claude-code": {"", ""}, // on the command line only
		"qwen-code": {`"reasoning_effort":"low"`, `"reasoning_effort":"high"`},
	}
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		model, effort := models[adapter], efforts[adapter]
		id := r.http.ok("POST", "/v1/agents/sessions", map[string]any{
			"adapter": adapter, "environment": map[string]any{"type": "self_hosted"}, "metadata": map[string]any{"a": "1"},
			"agent": map[string]any{"model": model[0], "instructions": "Speak like a heron.", "reasoning": map[string]any{"effort": "low"}},
			"input": "Please remember the word reed. tag:one",
		}).str("id")
		hex := strings.TrimPrefix(id, "agsess_")
		first := toldBySession(t, r, hex)
		completed(t, first, "reed")
		body := r.asked("tag:one")
		askedWith(t, "the first turn", body, []string{`"model":"` + model[0] + `"`, "Speak like a heron.", effort[0]}, nil)

		updated := r.http.ok("POST", "/v1/agents/sessions/"+id, map[string]any{
			"agent":    map[string]any{"model": model[1], "instructions": "Speak like an otter.", "reasoning": map[string]any{"effort": "high"}, "tools": []any{}},
			"metadata": map[string]any{"b": "2"},
		})
		if updated.str("agent", "model") != model[1] || updated.str("agent", "instructions") != "Speak like an otter." ||
			updated.str("agent", "reasoning", "effort") != "high" || updated.str("metadata", "b") != "2" || updated.at("metadata", "a") != nil {
			t.Errorf("the updated session: %s", clip(updated.body))
		}
		r.Restart()
		second := askAgents(t, r, adapter, first, "What did I ask you to remember? tag:two")
		completed(t, second, "You asked me to remember the word reed.")
		askedWith(t, "after the update", r.asked("tag:two"), []string{`"model":"` + model[1] + `"`, "Speak like an otter.", effort[1]}, []string{`"model":"` + model[0] + `"`})
		newest(t, r.asked("tag:two"), "Speak like an otter.", "Speak like a heron.")

		// The other wire changes a turn for itself alone.
		third := toldByResponse(t, r.http.respond(map[string]any{
			"model": model[0], "instructions": "Speak like a carp.", "previous_response_id": "resp_" + second.turn,
			"input": "What did I ask you to remember? tag:three",
		}).object)
		completed(t, third, "You asked me to remember the word reed.")
		askedWith(t, "a response's own", r.asked("tag:three"), []string{`"model":"` + model[0] + `"`, "Speak like a carp."}, nil)
		newest(t, r.asked("tag:three"), "Speak like a carp.", "Speak like an otter.")
		fourth := askAgents(t, r, adapter, third, "[[say: back]] tag:four")
		completed(t, fourth, "back")
		askedWith(t, "the session's again", r.asked("tag:four"), []string{`"model":"` + model[1] + `"`, "Speak like an otter."}, nil)
		newest(t, r.asked("tag:four"), "Speak like an otter.", "Speak like a carp.")
		if own := r.conversations(hex); len(own) != 4 || own[0] != own[3] {
			t.Errorf("the CLI's own conversations, a turn each: %v; want one, resumed", own)
		}
	})
}

// newest says that of two instructions the right one comes last: Codex keeps what
// earlier turns were told in the conversation that it sends.
func newest(t *testing.T, body, last, before string) {
	t.Helper()
	if strings.LastIndex(body, last) < strings.LastIndex(body, before) {
		t.Errorf("%q is told behind %q", before, last)
	}
}
