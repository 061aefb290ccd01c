package acceptance

import (
	"strings"
	"testing"
)

// A CLI that asks is answered: what was approved is done, what was denied is not, and
// the agent is told why.
func TestRealCLIApproval(t *testing.T) {
	t.Parallel()
	r := definedRig(t, "claude-code", map[string]any{"name": "careful", "permissions": "ask"})
	for name, c := range map[string]struct {
		approve, streamed bool
	}{"approve": {approve: true}, "approve streamed": {true, true}, "deny": {}, "deny streamed": {streamed: true}} {
		t.Run(name, func(t *testing.T) {
			file := strings.ReplaceAll(name, " ", "-") + ".txt"
			first := r.respondTo(t, c.streamed, map[string]any{"model": "careful", "input": "[[write: " + file + " some text]] [[shell: echo ran >ran-" + file + "]]"})
			ask := func(o map[string]any, tool string) map[string]any {
				t.Helper()
				item, _ := at(o, "output", -1).(map[string]any)
				if item["type"] != "mcp_approval_request" || item["name"] != tool || item["server_label"] != "claude-code" || r.fileOf(file) != "" && tool == "Write" {
					t.Fatalf("%s was not asked for, or done before: %v", tool, o)
				}
				return map[string]any{"model": "careful", "previous_response_id": o["id"], "input": []any{
					map[string]any{"type": "mcp_approval_response", "approval_request_id": item["id"], "approve": c.approve, "reason": "the moon is full"},
				}}
			}
			second := r.respondTo(t, c.streamed, ask(first, "Write"))
			third := r.respondTo(t, c.streamed, ask(second, "Bash"))
			if third["status"] != "completed" {
				t.Errorf("the last leg: %v", third)
			}
			if (r.fileOf(file) != "") != c.approve || (r.fileOf("ran-"+file) != "") != c.approve {
				t.Errorf("approve %v: the files have %q and %q", c.approve, r.fileOf(file), r.fileOf("ran-"+file))
			}
			if told := toldByResponse(t, third); !c.approve && !strings.Contains(told.text, "the moon is full") {
				t.Errorf("the agent was not told why: %q", told.text)
			}
			if asked := items(first, "mcp_call"); len(asked) != 0 {
				t.Errorf("the call is told before it was permitted: %v", asked)
			}
		})
	}
	r.verified(t, "claude-code", "approvals", "permission_ask")
	r.Clean(cliTurnLimit)
}

// The same on the Agents wire: a required action, its answer, and a decision that
// ends the turn.
func TestRealCLIApprovalOnAgents(t *testing.T) {
	t.Parallel()
	r := definedRig(t, "claude-code", map[string]any{"name": "careful", "permissions": "ask"})
	for name, decision := range map[string]string{"approve": "approve", "deny": "deny", "cancel": "cancel"} {
		t.Run(name, func(t *testing.T) {
			file := name + ".txt"
			session := r.http.session("careful")
			s := r.http.events(session, "?after=0")
			r.http.say(session, "[[write: "+file+" some text]]")
			s.waitKind(cliTurnLimit, sessionEvent+"requires_action", 1)
			now := r.http.ok("GET", "/v1/agents/sessions/"+session, nil)
			action := now.at("required_actions", 0)
			if now.str("status") != "requires_action" || word(action, "type") != "mcp_approval_request" || word(action, "request", "name") != "Write" || word(action, "request", "message") == "" {
				t.Fatalf("what is required: %s", clip(now.body))
			}
			if turn := r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns/"+word(action, "turn_id"), nil); turn.str("status") != "waiting" {
				t.Errorf("the turn is %s", turn.str("status"))
			}
			answer := events(map[string]any{
				"type": "agent.session.input.mcp_approval_request_result", "request_id": word(action, "request_id"),
				"response": map[string]any{"type": "mcp_tool_call", "decision": decision},
			})
			r.http.ok("POST", "/v1/agents/sessions/"+session+"/events", answer)
			if again := r.http.do("POST", "/v1/agents/sessions/"+session+"/events", answer); again.status != 409 || again.code() != "tool_call_already_answered" {
				t.Errorf("a second answer: %d %s", again.status, clip(again.body))
			}
			told := toldBySession(t, r, strings.TrimPrefix(session, "agsess_"))
			want := map[string]string{"approve": "completed", "deny": "completed", "cancel": "cancelled"}[decision]
			if told.status != want || (r.fileOf(file) != "") != (decision == "approve") {
				t.Errorf("%s: the turn is %s %s, the file has %q", decision, told.status, told.message, r.fileOf(file))
			}
			checkSession(t, s.all())
		})
	}
	r.Clean(cliTurnLimit)
}

// items are those of a type in a response's output.
func items(o map[string]any, kind string) []any {
	var out []any
	list, _ := o["output"].([]any)
	for _, it := range list {
		if word(it, "type") == kind {
			out = append(out, it)
		}
	}
	return out
}
