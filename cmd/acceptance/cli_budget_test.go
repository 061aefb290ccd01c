package acceptance

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/fakes/tools"
)

// The budget that a caller sets with the official SDKs holds a real Claude Code,
// which tells what its work costs. Both scripts end with one word.
func TestRealCLISpendControl(t *testing.T) {
	t.Parallel()
	for name, find := range map[string]func(*testing.T) (string, []string, string){
		"python 3.51.0": func(t *testing.T) (string, []string, string) {
			return tools.Need(t, "py-3.51.0/bin/python"), []string{"-B", "budget.py"}, ""
		},
		"javascript": func(t *testing.T) (string, []string, string) {
			node, sdk := javaScript(t)
			return node, []string{"budget.mjs"}, sdk
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, args, more := find(t)
			r := newCLIRig(t, "claude-code", tools.Need(t, realCLIs["claude-code"]))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, args...)
			cmd.Dir = filepath.Join("testdata", "sdk")
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "NO_PROXY=*", "no_proxy=*",
				"OPENAI_BASE_URL=" + r.URL + "/v1", "OPENAI_API_KEY=none", more,
			}
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != "held" {
				t.Fatalf("%v\n%s", err, clip(out))
			}
		})
	}
}

// A budget of tokens stops Claude Code while it runs, which tells its usage with each
// response, and Codex, which tells it at the end, before its next turn. After a
// restart with a higher one the queue goes on.
func TestRealCLITokenBudget(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		if !r.can(adapter, "usage") {
			t.Skip("it does not tell how many tokens a turn used, and says so")
		}
		r.limited("max_session_tokens", 4000)
		session := r.http.ok("POST", "/v1/agents/sessions", map[string]any{
			"agent": map[string]any{"model": adapter}, "environment": map[string]any{"type": "self_hosted"},
		}).str("id")
		events := r.http.events(session, "?after=0")
		const work = "[[use: 2000 100]] [[say: begun]] [[shell: true]] [[shell: true]] [[say: done]]"
		if a := r.http.do("POST", "/v1/agents/sessions/"+session+"/events", map[string]any{"events": []any{inputEvent(work), inputEvent("[[say: the next]]")}}); a.status != 202 {
			t.Fatalf("input: %d %s", a.status, clip(a.body))
		}
		events.waitKind(cliTurnLimit, sessionEvent+"idle", 1)
		turns := r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns?order=asc", nil)
		want, code := "completed", ""
		if adapter == "claude-code" || r.persistent(adapter) { // it tells while it works
			want, code = "failed", "session_budget_exceeded"
		}
		if turns.str("data", 0, "status") != want || word(turns.at("data", 0), "error", "code") != code || turns.str("data", 1, "status") != "queued" {
			t.Errorf("the turns at the budget: %s", clip(turns.body))
		}
		if used, _ := turns.at("data", 0, "usage", "total_tokens").(float64); used < 4000 {
			t.Errorf("the turn that reached it used %v tokens", used)
		}
		var said []string
		for _, item := range r.http.ok("GET", "/v1/agents/sessions/"+session+"/items?order=asc", nil).list("data") {
			if word(item, "role") == "assistant" {
				said = append(said, word(item, "content", 0, "text"))
			}
		}
		if len(said) == 0 || said[0] != "begun" {
			t.Errorf("what was said before is lost: %q", said)
		}
		for path, body := range map[string]any{
			"/v1/agents/sessions/" + session + "/events": map[string]any{"events": []any{inputEvent("more")}},
			"/v1/responses": map[string]any{"model": adapter, "input": "more", "conversation": strings.Replace(session, "agsess_", "conv_", 1)},
		} {
			if a := r.http.do("POST", path, body); a.status != 409 || a.code() != "budget_reached" || !strings.Contains(string(a.body), "limits.max_session_tokens") {
				t.Errorf("further input on %s: %d %s", path, a.status, clip(a.body))
			}
		}
		r.Restart()
		if a := r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns?order=asc", nil); a.str("data", 1, "status") != "queued" {
			t.Errorf("after a restart: %s", clip(a.body))
		}
		r.limited("max_session_tokens", 400_000)
		r.until(cliTurnLimit, "the queued turn has run", func() bool {
			return r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns?order=asc", nil).str("data", 1, "status") == "completed"
		})
		after := toldBySession(t, r, strings.TrimPrefix(session, "agsess_"))
		completed(t, after, "the next")
	})
}

// limited restarts the server with one limit changed.
func (r *cliRig) limited(key string, value any) {
	r.t.Helper()
	text, err := os.ReadFile(r.Config)
	if err != nil {
		r.t.Fatal(err)
	}
	config := map[string]any{}
	if err := json.Unmarshal(text, &config); err != nil {
		r.t.Fatal(err)
	}
	config["limits"].(map[string]any)[key] = value
	if text, err = json.Marshal(config); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.Config, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.Restart()
}

func inputEvent(text string) map[string]any {
	return map[string]any{"type": "agent.session.input.message", "input": text}
}
