package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/claudecode"
	"github.com/agenthost/agenthost/adapters/codex"
)

// A runner that dies in the first turn of a session may not have written a word of the
// conversation whose id it told: that fails this turn and no other. What is gone of a
// conversation with a completed turn is told.
func TestConversationThatWasNeverKept(t *testing.T) {
	t.Parallel()
	keepers := map[string]agent.Keeper{"codex": &codex.Adapter{}, "claude-code": &claudecode.Adapter{}}
	eachRunner(t, map[string]any{"permissions": "full_access", "sandboxed": true}, func(t *testing.T, r *cliRig, adapter string) {
		keeper, ok := keepers[adapter]
		if !ok {
			t.Skip("its conversations are another test's")
		}
		id := r.http.session(adapter)
		idle := func() bool { return r.http.ok("GET", "/v1/agents/sessions/"+id, nil).str("status") == "idle" }
		say := func(text string) map[string]any {
			t.Helper()
			if a := r.http.say(id, text); a.status != 202 {
				t.Fatalf("input: %d %s", a.status, clip(a.body))
			}
			r.until(cliTurnLimit, "the turn is over", idle)
			turn, _ := r.http.ok("GET", "/v1/agents/sessions/"+id+"/turns?order=desc", nil).list("data")[0].(map[string]any)
			return turn
		}
		killed := 0
		// kill ends all runners; forget removes what they kept of all conversations.
		kill := func() {
			for _, pid := range r.runners(adapter) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			killed++ // one at a time
			r.until(cliTurnLimit, "the host has seen it", func() bool { return strings.Count(r.Log(), `msg="runner ended"`) == killed })
		}
		forget := func() (found int) {
			for _, pattern := range keeper.Kept("*") {
				files, err := filepath.Glob(filepath.Join(r.StateDir, "homes", "*", adapter, pattern))
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range files {
					if err := os.Remove(f); err != nil {
						t.Error(err)
					}
				}
				found += len(files)
			}
			return found
		}

		if a := r.http.say(id, "[[shell: touch begun; sleep 100]]"); a.status != 202 {
			t.Fatalf("input: %d %s", a.status, clip(a.body))
		}
		r.until(cliTurnLimit, "the command runs", func() bool { _, err := os.Stat(filepath.Join(r.workspace, "begun")); return err == nil })
		kill()
		r.until(cliTurnLimit, "the turn has failed", idle)
		forget()
		if turn := say("[[say: anew]]"); turn["status"] != "completed" {
			t.Errorf("the turn after the killed one: %v", turn)
		}
		kill()
		if forget() == 0 {
			t.Error("the adapter does not know where its CLI keeps conversations")
		}
		if turn := say("[[say: on]]"); turn["status"] != "failed" || !strings.Contains(word(turn, "error", "message"), "start a new session") {
			t.Errorf("the turn of a conversation whose files are gone: %v", turn)
		}
		r.Clean(cliTurnLimit)
	})
}
