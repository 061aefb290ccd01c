package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agenthost/agenthost/fakes/tools"
)

// busy posts a message that says what becomes of it while a turn runs.
func (c *caller) busy(session, policy, text string) *answer {
	c.t.Helper()
	return c.do("POST", "/v1/agents/sessions/"+session+"/events", map[string]any{"input": text, "metadata": map[string]any{"agenthost.on_busy": policy}})
}

// turnsOf are a session's turns, the oldest first, and what was said in each.
func (r *cliRig) turnsOf(session string) (turns []any, said [][]string) {
	turns = r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns?order=asc", nil).list("data")
	for _, turn := range turns {
		var one []string
		for _, item := range r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns/"+word(turn, "id")+"/items?order=asc", nil).list("data") {
			if word(item, "type") == "message" {
				one = append(one, word(item, "content", 0, "text"))
			}
		}
		said = append(said, one)
	}
	return turns, said
}

func (r *cliRig) idle(session string) {
	r.until(cliTurnLimit, "the session is idle", func() bool {
		return r.http.ok("GET", "/v1/agents/sessions/"+session, nil).str("status") == "idle"
	})
}

// eachSteered plays a test with each CLI that takes messages into a turn that runs.
func eachSteered(t *testing.T, play func(t *testing.T, r *cliRig, adapter string)) {
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		for _, one := range r.http.ok("GET", "/v1/agents/runtimes", nil).list("data") {
			if word(one, "id") == adapter && at(one, "capabilities", "steer") == true {
				play(t, r, adapter)
				return
			}
		}
		if adapter == "codex" {
			t.Error("codex is not said to take messages")
		}
	})
}

// A message to a running turn becomes part of it: the model answers it in that turn,
// and the stream tells it among the turn's items.
func TestRealRunnerIsSteered(t *testing.T) {
	t.Parallel()
	eachSteered(t, func(t *testing.T, r *cliRig, adapter string) {
		session := r.http.ok("POST", "/v1/agents/sessions", map[string]any{"agent": map[string]any{"model": adapter}, "metadata": map[string]any{"agenthost.on_busy": "steer"}}).str("id")
		s := r.http.events(session, "")
		r.http.say(session, "[[slow: 100]] [[count: 200]]") // an idle session: an ordinary turn
		s.waitKind(cliTurnLimit, turnEvent+"output_text.delta", 1)
		if a := r.http.say(session, "[[say: the steered answer]]"); a.status != 202 {
			t.Fatalf("the message: %d %s", a.status, clip(a.body))
		}
		frames := s.waitKind(cliTurnLimit, sessionEvent+"idle", 1)
		turns, said := r.turnsOf(session)
		if len(turns) != 1 || word(turns[0], "status") != "completed" {
			t.Fatalf("turns: %v", turns)
		}
		at := slices.Index(said[0], "[[say: the steered answer]]")
		if at < 1 || said[0][len(said[0])-1] != "the steered answer" {
			t.Errorf("the turn has %q", said[0])
		}
		if n := count(frames, turnEvent+"created"); n != 1 {
			t.Errorf("%d turns were created", n)
		}
		told := slices.ContainsFunc(frames, func(f frame) bool {
			return f.kind() == turnEvent+"item.added" && strings.Contains(fmt.Sprint(f.data()), "the steered answer") && word(f.data(), "item", "role") == "user" && word(f.data(), "turn_id") == word(turns[0], "id")
		})
		if !told {
			t.Error("the stream does not tell the message in the turn")
		}
		s.cancel()
		r.Clean(cliTurnLimit)
	})
}

// What is not to wait and what cannot be steered is refused with 409, by name.
func TestBusySessionRefuses(t *testing.T) {
	t.Parallel()
	eachRunner(t, nil, func(t *testing.T, r *cliRig, adapter string) {
		first := r.http.ok("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[slow: 100]] [[count: 300]]", "background": true})
		session := "agsess_" + strings.TrimPrefix(word(first.object, "conversation", "id"), "conv_")
		r.until(cliTurnLimit, "the turn runs", func() bool {
			return r.http.ok("GET", "/v1/responses/"+first.str("id"), nil).str("status") == "in_progress"
		})
		for name, a := range map[string]*answer{
			"reject":             r.http.busy(session, "reject", "more"),
			"a response":         r.http.do("POST", "/v1/responses", map[string]any{"model": adapter, "input": "more", "previous_response_id": first.str("id"), "metadata": map[string]any{"agenthost.on_busy": "steer"}}),
			"a response, reject": r.http.do("POST", "/v1/responses", map[string]any{"model": adapter, "input": "more", "previous_response_id": first.str("id"), "metadata": map[string]any{"agenthost.on_busy": "reject"}}),
		} {
			if a.status != 409 || word(a.object, "error", "code") != "active_turn_not_steerable" || word(a.object, "error", "param") != "metadata.agenthost.on_busy" {
				t.Errorf("%s: %d %s", name, a.status, clip(a.body))
			}
		}
		r.http.ok("POST", "/v1/responses/"+first.str("id")+"/cancel", nil)
		r.idle(session)
		if turns, _ := r.turnsOf(session); len(turns) != 1 {
			t.Errorf("turns: %v", turns)
		}
		r.Clean(cliTurnLimit)
	})
	t.Run("exec", func(t *testing.T) {
		t.Parallel()
		r := newCLIRig(t, "codex", tools.Need(t, realCLIs["codex"]), cli("codex", map[string]any{"driver": "exec", "on_busy": "steer"}))
		session := r.http.session("codex")
		r.http.say(session, "[[shell: tail -f /dev/null]]")
		r.until(cliTurnLimit, "the command runs", r.tails)
		if a := r.http.say(session, "more"); a.status != 409 || word(a.object, "error", "code") != "active_turn_not_steerable" {
			t.Errorf("steering exec: %d %s", a.status, clip(a.body))
		}
		r.http.busy(session, "queue", "[[say: queued]]")
		r.http.do("POST", "/v1/agents/sessions/"+session+"/events", map[string]any{"events": []any{map[string]any{"type": "input.cancel"}}})
		r.idle(session)
		if _, said := r.turnsOf(session); len(said) != 2 || !slices.Contains(said[1], "queued") {
			t.Errorf("turns: %q", said)
		}
	})
}

// A message that was accepted and not taken when the server or the runner died is a
// turn of its own, once.
func TestMessageOutlivesWhatItWasFor(t *testing.T) {
	t.Parallel()
	eachSteered(t, func(t *testing.T, r *cliRig, adapter string) {
		for name, die := range map[string]func(runner int){
			"server": func(int) { r.Kill(); r.Restart() },
			"runner": func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) },
		} {
			others := r.runners(adapter) // of sessions that were; one may serve this one too
			session := r.http.session(adapter)
			s := r.http.events(session, "")
			r.http.say(session, "[[slow: 100]] [[count: 300]]")
			s.waitKind(cliTurnLimit, turnEvent+"output_text.delta", 1)
			before := r.runners(adapter)
			if len(before) > 1 {
				before = slices.DeleteFunc(before, func(pid int) bool { return slices.Contains(others, pid) })
			}
			if len(before) != 1 {
				t.Fatalf("%s: runners %v", name, before)
			}
			if err := syscall.Kill(before[0], syscall.SIGSTOP); err != nil { // it takes nothing any more
				t.Fatal(err)
			}
			for i := range 2 {
				if a := r.http.busy(session, "steer", fmt.Sprintf("[[say: answer %d]]", i)); a.status != 202 {
					t.Fatalf("%s: %d %s", name, a.status, clip(a.body))
				}
			}
			die(before[0])
			s.cancel()
			r.idle(session)
			turns, said := r.turnsOf(session)
			if len(turns) != 3 || word(turns[0], "status") != "failed" || !slices.Contains(said[1], "answer 0") || !slices.Contains(said[2], "answer 1") {
				t.Errorf("%s: turns %q", name, said)
			}
			r.until(cliTurnLimit, "the stopped one is gone", func() bool { return !slices.Contains(r.runners(adapter), before[0]) })
		}
		r.Clean(cliTurnLimit)
	})
}
