package acceptance

import (
	"os"
	"strings"
	"testing"
)

// geminiPlays are the tests of long-lived processes that the Gemini CLI plays. It cannot
// play the others: a process is ended with a cancelled turn when it ran a command
// (TestRealRunnerCancelsMidCommand wants it to stay), and what it is in the middle of is
// made again by the scripted model (TestRealRunnersAreKilledAtAnyMoment). They are for
// make certify: it starts for seconds.
var geminiPlays = []string{
	"TestRealRunnerConversation", "TestRealRunnerIsKilled", "TestRealRunnerAsks", "TestRealRunnerCallsFunctions",
	"TestRealRunnerOutlivesTheProviderRefusing", "TestRealRunnerProviderTrouble", "TestRealRunnerProviderStalls",
}

// The rest of the conversation suite with the real Gemini CLI: a tool server, what the
// provider refuses, a cancelled command, and the permissions.
func TestRealGemini(t *testing.T) {
	t.Parallel()
	if !certifies() {
		t.Skip("it starts for seconds; make certify plays it")
	}
	const adapter = "gemini"
	idle := limit("runner_idle", "1m") // see settled
	t.Run("tool server", func(t *testing.T) {
		t.Parallel()
		r := definedRig(t, adapter, map[string]any{
			"name": "with-tools", "mcp_servers": map[string]any{"docs": map[string]any{"command": os.Args[0], "args": []string{"-test.run=^$"}, "env": map[string]string{asMCP: "1"}}},
		}, idle)
		turn := askAgentsStreamed(t, r, "with-tools", nil, `[[mcp: docs echo {"text":"ping"}]] [[say: called]]`)
		completed(t, turn, "called")
		if len(turn.items) == 0 || word(turn.items[0], "server_label") != "docs" || word(turn.items[0], "name") != "echo" || !strings.Contains(word(turn.items[0], "output"), "echo: ping") {
			t.Errorf("no call of docs/echo in %v", turn.items)
		}
		r.verified(t, adapter, "mcp_tools")
	})
	t.Run("refused", func(t *testing.T) { // on 429 and 5xx it tries again for minutes
		t.Parallel()
		r := newCLIRig(t, adapter, need(t, adapter), idle)
		if turn := askAgents(t, r, adapter, nil, "[[error: 401]]"); turn.status != "failed" || turn.code != "authentication_error" {
			t.Errorf("%s %s %q", turn.status, turn.code, turn.message)
		}
	})
	t.Run("cancel", func(t *testing.T) {
		t.Parallel()
		r := newCLIRig(t, adapter, need(t, adapter), idle)
		s := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[shell: tail -f /dev/null]]", "stream": true})
		id := word(s.waitKind(cliTurnLimit, "response.mcp_call.in_progress", 1)[0].data(), "response", "id")
		r.until(cliTurnLimit, "the command runs", r.tails)
		r.http.ok("POST", "/v1/responses/"+id+"/cancel", nil)
		s.end(cliTurnLimit)
		if o := r.http.ok("GET", "/v1/responses/"+id, nil); o.str("status") != "cancelled" {
			t.Errorf("the response: %s", clip(o.body))
		}
		r.until(cliTurnLimit, "the command is gone", func() bool { return !r.tails() })
		completed(t, askAgents(t, r, adapter, nil, "[[say: all well]]"), "all well")
		r.verified(t, adapter, "cancel")
	})
	for _, permission := range []string{"read_only", "full_access"} {
		t.Run(permission, func(t *testing.T) {
			t.Parallel()
			r := definedRig(t, adapter, map[string]any{"name": "limited", "permissions": permission}, cli(adapter, map[string]any{"sandboxed": permission == "full_access"}), idle)
			ran := askResponses(t, r, "limited", nil, "[[shell: echo x > in.txt]] [[say: done]]")
			wrote := askResponses(t, r, "limited", ran, "[[write: made.txt some text]] [[say: done]]")
			for _, name := range []string{"in.txt", "made.txt"} {
				if did := r.fileOf(name) != ""; did != (permission == "full_access") {
					t.Errorf("%s with %s: written %v (%+v, %+v)", name, permission, did, ran, wrote)
				}
			}
			r.verified(t, adapter, "permission_"+permission)
		})
	}
}
