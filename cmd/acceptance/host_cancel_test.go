package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// cancelWays ask for the end of a session's turn.
var cancelWays = map[string]func(r *rig, session, turn string) *answer{
	"agents": func(r *rig, session, _ string) *answer {
		return r.http.do("POST", "/v1/agents/sessions/"+session+"/events", cancelInput())
	},
	"responses": func(r *rig, _, turn string) *answer {
		return r.http.do("POST", "/v1/responses/"+responseID(turn)+"/cancel", nil)
	},
}

func grace(interrupt, terminate string) setting {
	return func(c *rigConfig) {
		limit("interrupt_grace", interrupt)(c)
		limit("terminate_grace", terminate)(c)
	}
}

// cancelled checks how a cancelled turn looks on both wires and in both streams:
// exactly one end, and nothing after it.
func (r *rig) cancelled(session, turn string, streams ...*stream) {
	r.t.Helper()
	r.http.idle(session, 20*time.Second)
	a := r.http.ok("GET", "/v1/responses/"+responseID(turn), nil)
	if a.str("status") != "cancelled" || a.at("output") == nil {
		r.t.Errorf("the response: %s", clip(a.body))
	}
	b := r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns/"+turn, nil)
	if b.str("status") != "cancelled" {
		r.t.Errorf("the turn: %s", clip(b.body))
	}
	whole := r.http.replay(session)
	checkSession(r.t, whole.all())
	ends := 0
	for _, f := range whole.all() {
		if terminal(f.kind()) && f.data()["turn_id"] == turn {
			ends++
		}
	}
	if ends != 1 {
		r.t.Errorf("the turn has %d ends;%s", ends, kinds(whole.all()))
	}
	s := r.http.response(responseID(turn), -1)
	frames := s.end(20 * time.Second)
	checkResponse(r.t, s)
	last := frames[len(frames)-1]
	if status := at(last.data(), "response", "status"); last.kind() != "response.incomplete" || status != "cancelled" {
		r.t.Errorf("the response's stream ends with %s, status %v", last.kind(), status)
	}
	for _, s := range streams {
		frames := s.end(20 * time.Second)
		if frames[len(frames)-1].kind() != "response.incomplete" {
			r.t.Errorf("an open stream ended with%s", kinds(frames))
		}
	}
}

func TestCancelWhileQueued(t *testing.T) {
	t.Parallel()
	for name, cancel := range cancelWays {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, limit("max_concurrent_turns", 1))
			busy, waiting := r.http.session("codex"), r.http.session("codex")
			r.http.say(busy, "tag:busy [[wait: 600000]]")
			r.started("busy")
			r.http.say(waiting, "tag:no [[say: never]]")
			r.http.say(waiting, "tag:yes [[say: mine]]")
			turns := r.http.turns(waiting)
			first, _ := at(turns, 0, "id").(string)
			open := r.http.response(responseID(first), -1)
			if a := cancel(r, waiting, first); a.status/100 != 2 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			open.end(10 * time.Second)
			held, _ := at(r.http.turns(busy), 0, "id").(string)
			cancel(r, busy, held)
			r.cancelled(waiting, first, open)
			r.cancelled(busy, held)
			if got := strings.Join(statuses(r.http.turns(waiting)), " "); got != "cancelled completed" {
				t.Errorf("the turns are %s", got)
			}
			if n := r.times(); n["no"] != 0 || n["yes"] != 1 {
				t.Errorf("the CLIs ran %v", n)
			}
			r.normalTurn()
			r.Stop()
		})
	}
}

//cases:91
func TestCancelAfterTheEndChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.http.respond(map[string]any{"model": "codex", "input": "[[say: done]]"})
	b := r.http.ok("POST", "/v1/responses/"+a.str("id")+"/cancel", nil)
	if string(a.body) != string(b.body) {
		t.Errorf("the cancelled one:\n%s\nwas\n%s", b.body, a.body)
	}
	session := "agsess_" + strings.TrimPrefix(a.str("conversation", "id"), "conv_")
	before := r.http.replay(session).content()
	if c := r.http.do("POST", "/v1/agents/sessions/"+session+"/events", cancelInput()); c.status != 202 {
		t.Errorf("%d %s", c.status, c.body)
	}
	if after := r.http.replay(session).content(); string(after) != string(before) {
		t.Error("a cancel of an idle session left an event")
	}
	for _, id := range []string{"resp_" + strings.Repeat("0", 32), "resp_zz"} {
		if c := r.http.do("POST", "/v1/responses/"+id+"/cancel", nil); c.status != 404 || c.code() == "" {
			t.Errorf("%s: %d %s", id, c.status, c.body)
		}
	}
	r.Stop()
}

// stubborn are CLIs that a cancel must end all the same. Each is said by its
// prompt; silent ones say nothing, so their turn is still starting.
var stubborn = []struct{ name, mode string }{
	{"starting", "slow-start=600000"},
	{"running", ""},
	{"ignores signals", "ignore-signals"},
	{"tool shell in a session of its own", "escape"},
	{"child holds stdout", "hold-stdout"},
	{"all of it", "escape,hold-stdout,ignore-signals,orphans"},
}

//cases:6
func TestCase06CancelEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	for _, adapter := range []string{"codex", "claude-code"} {
		for _, c := range stubborn {
			for how, cancel := range cancelWays {
				if (adapter == "codex") != (how == "agents") && c.name != "running" {
					continue // each way and each adapter meets every CLI once
				}
				t.Run(fmt.Sprintf("%s %s %s", adapter, c.name, how), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, grace("300ms", "300ms"), env("FAKE_MODE="+c.mode))
					session := r.http.session(adapter)
					events := r.http.events(session, "?after=0")
					r.http.say(session, "tag:victim [[say: hm]] [[shell: sleep 300]] [[wait: 600000]]")
					turn := turnIDs(events.waitKind(time.Minute, turnEvent+"created", 1))[0]
					open := r.http.response(responseID(turn), -1)
					var tree []hostproc.Proc
					r.until(20*time.Second, "the CLI runs", func() bool {
						tree = r.Marked()
						return len(tree) > 0
					})
					if c.name != "starting" {
						r.until(20*time.Second, "its shell runs", func() bool {
							tree = r.Marked()
							for _, p := range tree {
								if strings.Contains(p.Command, "sleep 300") {
									return true
								}
							}
							return false
						})
					}
					start := time.Now()
					if a := cancel(r, session, turn); a.status/100 != 2 {
						t.Fatalf("%d %s", a.status, a.body)
					}
					events.waitKind(time.Minute, turnEvent+"cancelled", 1)
					if took := time.Since(start); took > 30*time.Second {
						t.Errorf("the cancel took %s", took)
					}
					if frames := events.all(); count(frames, turnEvent+"in_progress") != 1 {
						t.Errorf("%s", kinds(frames))
					}
					r.cancelled(session, turn, open)
					r.Clean(time.Minute)
					for _, p := range tree {
						if now := hostproc.Alive(p.Pid); now {
							t.Errorf("still alive: %v", p)
						}
					}
					if a := cancel(r, session, turn); a.status/100 != 2 {
						t.Errorf("a second cancel: %d %s", a.status, a.body)
					}
					r.Stop()
				})
			}
		}
	}
}

// Case 91: cancels around the time of completion.
//
//cases:91
func TestCase91CancelRacesCompletion(t *testing.T) {
	t.Parallel()
	const turns = 150
	r := newRig(t, grace("300ms", "300ms"))
	outcomes := map[string]int{}
	sessions := []string{r.http.session("codex"), r.http.session("claude-code")}
	for i := range turns {
		session := sessions[i%2]
		r.http.say(session, fmt.Sprintf("tag:t%d [[wait: %d]] [[say: done]]", i, i%8))
		list := r.http.turns(session)
		turn, _ := at(list, -1, "id").(string)
		if i%3 > 0 {
			r.started(fmt.Sprintf("t%d", i))
		}
		way := []string{"agents", "responses"}[i%4/2]
		if a := cancelWays[way](r, session, turn); a.status/100 != 2 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		r.http.idle(session, time.Minute)
		outcomes[r.http.ok("GET", "/v1/responses/"+responseID(turn), nil).str("status")]++
	}
	for _, session := range sessions {
		order := checkSession(t, r.http.replay(session).all())
		for i, end := range order.ends() {
			if end != "completed" && end != "cancelled" {
				t.Errorf("turn %d ended %q", i, end)
			}
		}
		if len(order.ends()) != turns/len(sessions) {
			t.Errorf("%d turns", len(order.ends()))
		}
	}
	t.Logf("%v", outcomes)
	r.normalTurn()
	r.Stop()
}
