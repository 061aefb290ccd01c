package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/tools"
)

// relayed are the CLIs that a test of the relay is played with, by driver.
var relayedCLIs = []string{"codex", "claude-code"}

func eachRelayed(t *testing.T, play func(t *testing.T, r *cliRig, adapter, driver string)) {
	for _, adapter := range relayedCLIs {
		for _, driver := range []string{"exec", "persistent"} {
			t.Run(adapter+" "+driver, func(t *testing.T) {
				t.Parallel()
				r := newCLIRig(t, adapter, tools.Need(t, realCLIs[adapter]), cli(adapter, map[string]any{
					"driver": driver, "permissions": "workspace_write",
					"llm": map[string]any{"base_url_env": "ABX_LLM_BASE_URL", "api_key_env": "ABX_LLM_API_KEY", "relay": true},
				}), limit("runner_idle", "5s"))
				play(t, r, adapter, driver)
			})
		}
	}
}

// With the relay a conversation works as without it, and no process of the agent's tree
// has the key: not in its environment, not in its argv, not in a file that it can read
// of the host's or its own. The model's own shell looks for it, too.
//
//cases:101,103
func TestRealCLIKeyStaysBehindTheRelay(t *testing.T) {
	t.Parallel()
	eachRelayed(t, func(t *testing.T, r *cliRig, adapter, driver string) {
		clean := func(what string, data []byte) {
			t.Helper()
			for _, form := range keyForms() {
				if bytes.Contains(data, []byte(form)) {
					t.Errorf("the key is in %s", what)
				}
			}
		}
		first := askAgents(t, r, adapter, nil, "Please remember the word heron.")
		completed(t, first, "I will remember the word heron.")

		running := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[shell: sleep 1; echo slept]]", "stream": true})
		looked := 0
		r.until(cliTurnLimit, "the command runs", func() bool {
			slept := false
			for _, p := range r.Descendants() {
				clean("the argv of "+p.String(), []byte(p.Command))
				if environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid)); err == nil && len(environ) > 0 && strings.Contains(string(environ), "AGENTHOST_OWNER=") {
					clean("the environment of "+p.String(), environ)
					looked++
				}
				slept = slept || p.Command == "sleep 1"
			}
			return slept
		})
		running.end(cliTurnLimit)
		completed(t, toldByResponse(t, lastObject(running)), "slept")
		if looked < 2 {
			t.Errorf("%d environments were read: too few for a CLI with a shell", looked)
		}

		// Its own environment, and those of the processes above it up to the server: those of
		// others are of tests that run beside this one.
		told := askAgents(t, r, adapter, first, lookAround)
		completed(t, told, "done")
		seen := r.fileOf("seen.txt")
		if !strings.Contains(seen, "PATH=") {
			t.Errorf("the shell saw nothing: %s", clip([]byte(seen)))
		}
		clean("what the model's shell sees", []byte(seen))
		completed(t, askAgents(t, r, adapter, told, "What did I ask you to remember?"), "heron")

		failed := askAgents(t, r, adapter, nil, "[[error: 401]]")
		if failed.status != "failed" || failed.code != "authentication_error" {
			t.Errorf("a refusal of the provider is told as %+v", failed)
		}
		r.Clean(30 * time.Second)
		searchDir(t, r.StateDir, clean)
		searchDir(t, r.workspace, clean)
		clean("the log", []byte(r.Log()))
		keyArrived(t, r)
	})
}

// A turn that is cancelled leaves nothing on its way to the provider, and one whose CLI
// never tells what it used is counted all the same.
func TestRealCLIRelayCountsAndCancels(t *testing.T) {
	t.Parallel()
	eachRelayed(t, func(t *testing.T, r *cliRig, adapter, driver string) {
		if !certifies() && driver == "persistent" {
			t.Skip("only make certify plays it with both drivers")
		}
		s := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[shell: tail -f /dev/null]]", "stream": true})
		id := word(s.waitKind(cliTurnLimit, "response.created", 1)[0].data(), "response", "id")
		r.until(cliTurnLimit, "the command runs", func() bool { return r.tails() })
		r.http.ok("POST", "/v1/responses/"+id+"/cancel", map[string]any{})
		s.end(cliTurnLimit)
		o := r.http.ok("GET", "/v1/responses/"+id, nil).object
		if n, _ := at(o, "usage", "total_tokens").(float64); n <= 0 {
			t.Errorf("a cancelled turn used %v tokens: %v", n, o["usage"])
		}
		r.Clean(30 * time.Second)
	})
}
