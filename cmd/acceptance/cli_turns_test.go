package acceptance

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// A conversation of a real CLI on each wire, streamed and not: text, a command, a
// failing one, a file, and at its end, resumed by the CLI's own means, the recall
// of what was said first. It is then read on the other wire under the same ids.
func TestRealCLIConversation(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		for name, ask := range askers {
			if briefly[adapter] != nil && !certifies() && name != "agents streamed" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				first := ask(t, r, adapter, nil, "Please remember the word heron.")
				completed(t, first, "I will remember the word heron.")
				turns := []*told{first}
				say := func(prompt string) *told {
					turns = append(turns, ask(t, r, adapter, turns[len(turns)-1], prompt))
					return turns[len(turns)-1]
				}

				ran := say("[[say: I will run it.]] [[shell: echo from a real shell]]")
				completed(t, ran, "from a real shell")
				if all := texts(ran.items); len(all) != 2 || all[0] != "I will run it." {
					t.Errorf("messages around the command: %q", all)
				}
				oneCommand(t, ran, "echo from a real shell", "from a real shell", 0)

				failed := say("[[shell: echo oops; exit 3]]")
				completed(t, failed, "oops")
				oneCommand(t, failed, "echo oops; exit 3", "oops", 3)

				file := strings.ReplaceAll(name, " ", "-") + "/a.txt"
				wrote := say("[[write: " + file + " some text]]")
				if wrote.status != "completed" || r.fileOf(file) != "some text" {
					t.Errorf("the turn that writes: %+v; the file has %q", wrote, r.fileOf(file))
				}
				if len(wrote.files) != 1 || !strings.Contains(wrote.files[0], file) || !strings.Contains(wrote.files[0], "add") {
					t.Errorf("file changes: %q of %v", wrote.files, wrote.items)
				}

				completed(t, say("What did I ask you to remember?"), "You asked me to remember the word heron.")
				for _, turn := range turns {
					if turn.session != first.session {
						t.Errorf("a turn of another session: %s, want %s", turn.session, first.session)
					}
					readOnOtherWire(t, r, turn, strings.HasPrefix(name, "responses"))
				}
				other := askAgents
				if strings.HasPrefix(name, "agents") {
					other = askResponses
				}
				completed(t, other(t, r, adapter, turns[len(turns)-1], "What did I ask you to remember?"), "heron")
				r.verified(t, adapter, "text", "commands", "file_changes", "resume", "base_url", "permission_workspace_write")
				if own := r.conversations(first.session); len(own) != len(turns)+1 || len(slices.Compact(own)) != 1 {
					t.Errorf("the CLI's own conversations, a turn each: %v; want one, resumed", own)
				}
			})
		}
	})
}

// conversations are the CLI's own ids of the conversation that each turn of a
// session was part of.
func (r *cliRig) conversations(session string) []string {
	r.t.Helper()
	var out []string
	for line := range bytes.Lines(r.dump(session)) {
		var e struct{ Kind, Text string }
		if err := json.Unmarshal(line, &e); err != nil {
			r.t.Errorf("line of the dump: %v: %s", err, clip(line))
		}
		if e.Kind == "native_session" {
			out = append(out, e.Text)
		}
	}
	return out
}

func completed(t *testing.T, turn *told, text string) {
	t.Helper()
	if turn.status != "completed" || !strings.Contains(turn.text, text) {
		t.Errorf("turn %s: %s %q (%s %s), want %q", turn.turn, turn.status, turn.text, turn.code, turn.message, text)
	}
	if last := len(turn.items) - 1; last < 0 || word(turn.items[last], "type") != "message" || word(turn.items[last], "phase") != "final_answer" {
		t.Errorf("the last item is no final answer: %v", turn.items)
	}
}

// oneCommand checks the single command of a turn as its wire shows it.
func oneCommand(t *testing.T, turn *told, line, output string, exit int) {
	t.Helper()
	if len(turn.commands) != 1 {
		t.Errorf("commands: %+v of %v", turn.commands, turn.items)
		return
	}
	c := turn.commands[0]
	status := "completed"
	if exit != 0 {
		status = "failed"
	}
	if !strings.Contains(c.line, line) || !strings.Contains(c.output, output) || c.status != status {
		t.Errorf("command %+v, want %q with %q, %s", c, line, output, status)
	}
	number, isNumber := c.exit.(float64)
	said := strings.Contains(c.complaint, "exit code "+itoa(exit))
	if isNumber && int(number) != exit || !isNumber && exit != 0 && !said {
		t.Errorf("exit code of %+v, want %d", c, exit)
	}
}

// readOnOtherWire finds a turn under the same hex on the wire that did not ask it.
func readOnOtherWire(t *testing.T, r *cliRig, turn *told, asked bool) {
	t.Helper()
	var other *told
	if asked {
		path := "/v1/agents/sessions/agsess_" + turn.session + "/turns/turn_" + turn.turn
		object := r.http.ok("GET", path, nil)
		other = &told{status: object.str("status"), items: r.http.ok("GET", path+"/items?order=asc", nil).list("data")[1:]}
		other.read(t)
	} else {
		other = toldByResponse(t, r.http.ok("GET", "/v1/responses/resp_"+turn.turn, nil).object)
		if other.session != turn.session {
			t.Errorf("session %s on the Responses wire, %s on the other", other.session, turn.session)
		}
	}
	if other.status != turn.status || other.text != turn.text || !slices.Equal(itemIDs(other.items), itemIDs(turn.items)) || len(other.commands) != len(turn.commands) {
		t.Errorf("turn %s was told as\n%+v\nand on the other wire as\n%+v", turn.turn, turn, other)
	}
}

// What the provider refuses ends the turn with a code that a program can act on.
func TestRealCLIProviderRefuses(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		faults := map[string]struct{ agents, responses string }{
			"401": {"authentication_error", "server_error"},
			"429": {"rate_limit_exceeded", "rate_limit_exceeded"},
			"500": {"server_overloaded", "server_error"},
		}
		for name, want := range faults {
			// Each of the two takes the retries of some CLI longer than a test should.
			slow := map[string]string{"codex": "429", "claude-code": "429", "qwen-code": "500", "opencode": "500"}[adapter]
			if name == slow && os.Getenv("AGENTHOST_CERTIFY") == "" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				turn := askAgents(t, r, adapter, nil, "[[error: "+name+"]]")
				if turn.status != "failed" || turn.code != want.agents || turn.message == "" {
					t.Errorf("on the Agents wire: %s %s %q, want %s", turn.status, turn.code, turn.message, want.agents)
				}
				back := toldByResponse(t, r.http.ok("GET", "/v1/responses/resp_"+turn.turn, nil).object)
				if back.status != "failed" || back.code != want.responses || back.message == "" {
					t.Errorf("on the Responses wire: %s %s %q, want %s", back.status, back.code, back.message, want.responses)
				}
				// The session lives on. Claude Code and Qwen Code say the refused prompt
				// again with the next one, so the scripted provider would refuse that too.
				after := turn
				if adapter != "codex" {
					after = nil
				}
				completed(t, askAgents(t, r, adapter, after, "[[say: all well]]"), "all well")
			})
		}
	})
}

// A cancel in the middle of a command ends the turn once and leaves no process.
func TestRealCLICancelMidCommand(t *testing.T) {
	t.Parallel()
	eachCLI(t, func(t *testing.T, r *cliRig, adapter string) {
		s := r.http.open("POST", "/v1/responses", map[string]any{"model": adapter, "input": "[[shell: tail -f /dev/null]]", "stream": true})
		frames := s.waitKind(cliTurnLimit, "response.mcp_call.in_progress", 1)
		id := word(frames[0].data(), "response", "id")
		r.until(cliTurnLimit, "the command runs", func() bool { return r.tails() })
		r.http.ok("POST", "/v1/responses/"+id+"/cancel", nil)
		s.end(cliTurnLimit)
		checkResponse(t, s)
		turn := toldByResponse(t, r.http.ok("GET", "/v1/responses/"+id, nil).object)
		if turn.status != "cancelled" {
			t.Errorf("the response: %+v", turn)
		}
		r.Clean(time.Minute)

		session := r.http.ok("POST", "/v1/agents/sessions", sessionBody(adapter, "[[shell: tail -f /dev/null]]")).str("id")
		events := r.http.events(session, "?after=0")
		r.until(cliTurnLimit, "the command runs", func() bool { return r.tails() })
		if a := r.http.do("POST", "/v1/agents/sessions/"+session+"/events", cancelInput()); a.status != 202 {
			t.Errorf("cancel: %d %s", a.status, clip(a.body))
		}
		o := checkSession(t, events.waitKind(cliTurnLimit, sessionEvent+"idle", 1))
		if !slices.Equal(o.ends(), []string{"cancelled"}) {
			t.Errorf("turns ended %v", o.ends())
		}
		r.Clean(time.Minute)
		after := toldBySession(t, r, strings.TrimPrefix(session, "agsess_"))
		completed(t, askAgents(t, r, adapter, after, "[[say: all well]]"), "all well")
		r.verified(t, adapter, "cancel")
	})
}

// tails says whether the command of the cancel test runs.
func (r *cliRig) tails() bool {
	return slices.ContainsFunc(r.Descendants(), func(p hostproc.Proc) bool { return p.State != 'Z' && p.Command == "tail -f /dev/null" })
}
