package acceptance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// blocks cuts the bytes of a stream into its frames.
func blocks(content []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(content, []byte("\n\n")), []byte("\n\n"))
}

// turnIDs lists the ids of a session's turns, oldest first, from its frames.
func turnIDs(frames []frame) []string {
	var out []string
	for _, f := range frames {
		if f.kind() == turnEvent+"created" {
			id, _ := f.data()["turn_id"].(string)
			out = append(out, id)
		}
	}
	return out
}

func responseID(turn string) string { return "resp_" + strings.TrimPrefix(turn, "turn_") }

// replay reads a whole session from its start.
func (c *caller) replay(session string) *stream {
	c.t.Helper()
	s := c.events(session, "?after=0&close_on_idle=true")
	s.end(60 * time.Second)
	return s
}

// response reads the stream of one response from behind a number, -1 for all.
func (c *caller) response(id string, after int) *stream {
	c.t.Helper()
	query := "?stream=true"
	if after >= 0 {
		query += fmt.Sprintf("&starting_after=%d", after)
	}
	return c.open("GET", "/v1/responses/"+id+query, nil)
}

func (c *caller) turns(session string) []any {
	c.t.Helper()
	return c.ok("GET", "/v1/agents/sessions/"+session+"/turns?order=asc&limit=100", nil).list("data")
}

func statuses(turns []any) []string {
	var out []string
	for _, t := range turns {
		s, _ := at(t, "status").(string)
		out = append(out, s)
	}
	return out
}

func (c *caller) idle(session string, timeout time.Duration) {
	c.t.Helper()
	waitFor(c.t, timeout, "session "+session+" is idle", func() bool {
		return c.ok("GET", "/v1/agents/sessions/"+session, nil).str("status") == "idle"
	})
}

//cases:118
func TestCase118KilledServerLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	for name, pace := range map[string]struct {
		events string
		seen   int // deltas that a client saw before the kill
	}{
		"slow": {"[[events: 3000 40 100]]", 80},
		"fast": {"[[events: 200000 40 20000 200]]", 8000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			session := r.http.session("claude-code")
			agents := r.http.events(session, "?after=0")
			for i, prompt := range []string{pace.events, "[[say: two]]", "[[say: three]]", "[[say: four]]"} {
				a := r.http.say(session, directives(fmt.Sprintf("in%d", i+1), prompt))
				if a.status != 202 {
					t.Fatalf("%d %s", a.status, a.body)
				}
			}
			ids := turnIDs(agents.waitKind(15*time.Second, turnEvent+"created", 4))
			running, waiting := r.http.response(responseID(ids[0]), -1), r.http.response(responseID(ids[1]), -1)
			agents.waitKind(30*time.Second, turnEvent+"output_text.delta", pace.seen)
			running.waitKind(30*time.Second, "response.output_text.delta", pace.seen)
			waiting.waitKind(time.Minute, "response.created", 1)
			old := r.started("in1")

			r.Kill()
			for _, s := range []*stream{agents, running, waiting} {
				s.end(10 * time.Second)
			}
			r.Restart()
			r.until(time.Minute, "the old CLI is dead", func() bool { return !hostproc.Alive(old.pid) })
			r.http.idle(session, 30*time.Second)

			turns := r.http.turns(session)
			if got := strings.Join(statuses(turns), " "); got != "failed completed completed completed" {
				t.Errorf("the turns are %s", got)
			}
			if msg, _ := at(turns, 0, "error", "message").(string); at(turns, 0, "error", "code") != "internal_error" || !strings.Contains(msg, "restart") {
				t.Errorf("the error of the turn that ran: %v", at(turns, 0, "error"))
			}
			var order []string
			for _, one := range first(r.ran()) {
				order = append(order, one.tag)
			}
			if got := strings.Join(order, " "); got != "in1 in2 in3 in4" {
				t.Errorf("the CLIs ran for %s", got)
			}

			whole := r.http.replay(session)
			samePrefix(t, "agents wire", agents.content(), whole.content())
			if got := strings.Join(checkSession(t, whole.all()).ends(), " "); got != "failed completed completed completed" {
				t.Errorf("the stream ends its turns with %s", got)
			}
			response := r.http.response(responseID(ids[0]), -1)
			response.end(30 * time.Second)
			samePrefix(t, "responses wire, running", running.content(), response.content())
			checkResponse(t, response)
			queued := r.http.response(responseID(ids[1]), -1)
			queued.end(30 * time.Second)
			samePrefix(t, "responses wire, waiting", waiting.content(), queued.content())
			checkResponse(t, queued)

			r.checkCursors(session, whole, response, ids[0], len(blocks(agents.content())), len(blocks(running.content())))
			r.normalTurn()
			r.Stop()
		})
	}
}

func first[A, B any](a A, _ B) A { return a }

// checkCursors reads on from places of both streams, around where the server was
// killed.
func (r *rig) checkCursors(session string, whole, response *stream, turn string, seen, seenResponse int) {
	r.t.Helper()
	all, frames := blocks(whole.content()), whole.all()
	for _, n := range []int{0, 1, 5, seen / 2, seen - 1, len(all) - 2, len(all) - 1} {
		want := bytes.Join(all[n+1:], nil)
		if n+1 < len(all) {
			want = append(want, "\n\n"...)
		}
		id := frames[n].id()
		for how, s := range map[string]*stream{
			"after":         r.http.events(session, "?close_on_idle=true&after="+id),
			"Last-Event-ID": r.http.open("GET", "/v1/agents/sessions/"+session+"/events?close_on_idle=true", nil, "Last-Event-ID: "+id),
		} {
			s.end(30 * time.Second)
			if !bytes.Equal(s.content(), want) {
				r.t.Errorf("%s %s (frame %d): %d bytes, want %d", how, id, n, len(s.content()), len(want))
			}
		}
	}
	if a := r.http.do("GET", "/v1/agents/sessions/"+session+"/events?after=evt_0000000099999999", nil); a.status != 404 || a.code() == "" {
		r.t.Errorf("a cursor that was never issued: %d %s", a.status, clip(a.body))
	}
	all = blocks(response.content())
	for _, n := range []int{0, 3, seenResponse - 1, len(all) - 2, len(all) - 1} {
		s := r.http.response(responseID(turn), n)
		s.end(30 * time.Second)
		want := bytes.Join(all[n+1:], nil)
		if n+1 < len(all) {
			want = append(want, "\n\n"...)
		}
		if !bytes.Equal(s.content(), want) {
			r.t.Errorf("starting_after=%d: %d bytes, want %d", n, len(s.content()), len(want))
		}
	}
}

//cases:118
func TestKilledServerResumesTheCLIsOwnSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := r.http.session("codex")
	r.http.say(session, "tag:one my name is Nala [[say: noted]]")
	r.http.idle(session, 20*time.Second)
	r.http.say(session, "tag:two [[wait: 600000]]")
	r.started("two")
	r.Kill()
	r.Restart()
	r.http.idle(session, 20*time.Second)
	r.http.say(session, "tag:three [[mode: echo]]")
	r.http.idle(session, 20*time.Second)
	turns := r.http.turns(session)
	if got := strings.Join(statuses(turns), " "); got != "completed failed completed" {
		t.Fatalf("the turns are %s", got)
	}
	id, _ := at(turns, 2, "id").(string)
	a := r.http.ok("GET", "/v1/agents/sessions/"+session+"/turns/"+id+"/items?order=asc", nil)
	if said := outputText(a); !echoed(said).hasArg("resume") {
		t.Errorf("the third turn does not resume: %v", echoed(said).args)
	}
	r.Clean(time.Minute)
	r.Stop()
}

func TestSecondServerIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	code, said := hostproc.Refused(t, hostproc.Options{StateDir: r.StateDir})
	if code == 0 || !strings.Contains(said, fmt.Sprintf("pid %d", r.Pid)) || !strings.Contains(said, r.StateDir) {
		t.Errorf("exit code %d, %s", code, said)
	}
	r.normalTurn()
	r.Kill()
	r.Restart() // a killed server holds nothing
	r.Stop()
}

//cases:88
func TestIdempotencyKeyHoldsAcrossAKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := r.http.session("codex")
	const k = "Idempotency-Key: k-one"
	body := map[string]any{"model": "codex", "input": "tag:resp [[say: once]]"}
	before := r.http.ok("POST", "/v1/responses", body, k)
	if a := r.http.say(session, "tag:event [[say: once]]", "Idempotency-Key: k-two"); a.status != 202 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	r.http.idle(session, 20*time.Second)
	r.Kill()
	r.Restart()
	after := r.http.ok("POST", "/v1/responses", body, k)
	if !bytes.Equal(before.body, after.body) {
		t.Errorf("another answer after the restart:\n%s\n%s", before.body, after.body)
	}
	if a := r.http.say(session, "tag:event [[say: once]]", "Idempotency-Key: k-two"); a.status != 202 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.http.say(session, "tag:event [[say: other]]", "Idempotency-Key: k-two"); a.status != 409 || a.code() != "idempotency.mismatch" || a.header.Get("x-should-retry") != "false" {
		t.Errorf("another body: %d %s", a.status, a.body)
	}
	r.http.idle(session, 20*time.Second)
	if n := r.times(); n["resp"] != 1 || n["event"] != 1 {
		t.Errorf("the CLIs ran %v", n)
	}
	r.Clean(time.Minute)
	r.Stop()
}

func TestStopLetsRunningTurnsFinishAndKeepsTheQueue(t *testing.T) {
	t.Parallel()
	r := newRig(t, limit("max_concurrent_turns", 2), limit("drain_timeout", "20s"))
	long, short := r.http.session("codex"), r.http.session("claude-code")
	r.http.say(long, "tag:a [[wait: 1500]] [[say: done]]")
	r.http.say(long, "tag:b [[say: later]]")
	r.http.say(short, "tag:c [[wait: 1000]] [[say: done]]")
	stream := r.http.events(long, "?after=0")
	r.started("a")
	r.started("c")
	r.Signal(syscall.SIGTERM)
	r.until(time.Minute, "new requests are refused", func() bool {
		a := r.http.do("POST", "/v1/responses", map[string]any{"model": "codex", "input": "x"})
		return a.status == 503 && a.code() == "shutting_down" && a.header.Get("Retry-After") != "" || a.status == 0
	})
	r.Ended(hostproc.StopTimeout)
	frames := stream.end(10 * time.Second)
	// The session goes on after the restart: its stream was cut off, not ended.
	if n := count(frames, turnEvent+"completed"); n != 1 || !errors.Is(stream.broken(), io.ErrUnexpectedEOF) {
		t.Errorf("the open stream has %d completed turns and ended with %v;%s", n, stream.broken(), kinds(frames))
	}
	if left := r.Marked(); len(left) > 0 {
		t.Errorf("alive after the stop: %v", left)
	}
	r.Restart()
	r.http.idle(long, 20*time.Second)
	for session, want := range map[string]string{long: "completed completed", short: "completed"} {
		if got := strings.Join(statuses(r.http.turns(session)), " "); got != want {
			t.Errorf("the turns are %q, not %q", got, want)
		}
	}
	if n := r.times(); n["a"] != 1 || n["b"] != 1 || n["c"] != 1 {
		t.Errorf("the CLIs ran %v", n)
	}
	samePrefix(t, "over the stop", stream.content(), r.http.replay(long).content())
	r.Clean(time.Minute)
	r.Stop()
}

// Case 66: many running turns, watched, and a queue; all stubborn.
//
//cases:66
func TestCase66StopEndsEveryStreamWithinOneGrace(t *testing.T) {
	t.Parallel()
	const running, queued = 12, 30
	r := newRig(t, limit("max_concurrent_turns", running), limit("drain_timeout", "500ms"), limit("interrupt_grace", "1s"), limit("terminate_grace", "1s"))
	var sessions []string
	var streams []*stream
	for i := range running {
		s := r.http.session("codex")
		sessions = append(sessions, s)
		r.http.say(s, directives(fmt.Sprintf("r%d", i), "[[mode: ignore-signals]]", "[[wait: 600000]]"))
		if i%2 == 0 {
			streams = append(streams, r.http.events(s, "?after=0"))
		} else {
			id, _ := at(r.http.turns(s), 0, "id").(string)
			streams = append(streams, r.http.response(responseID(id), -1))
		}
	}
	r.until(30*time.Second, "all run", func() bool { return len(first(r.ran())) == running })
	for i := range queued {
		if a := r.http.say(sessions[i%running], directives(fmt.Sprintf("q%d", i), "[[say: later]]")); a.status != 202 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	start := time.Now()
	r.Signal(syscall.SIGTERM)
	r.Ended(hostproc.StopTimeout)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the stop took %s", took)
	}
	for i, s := range streams {
		frames := s.end(10 * time.Second)
		if i%2 == 0 {
			if count(frames, turnEvent+"failed") != 1 || !errors.Is(s.broken(), io.ErrUnexpectedEOF) {
				t.Errorf("stream %d ended with %v and has %s", i, s.broken(), kinds(frames))
			}
		} else {
			checkResponse(t, s)
			if count(frames, "response.failed") != 1 {
				t.Errorf("stream %d has %s", i, kinds(frames))
			}
		}
	}
	if left := r.Marked(); len(left) > 0 {
		t.Errorf("alive after the stop: %v", left)
	}
	r.Restart()
	for _, s := range sessions {
		r.http.idle(s, 60*time.Second)
		turns := r.http.turns(s)
		for i, status := range statuses(turns) {
			if want := map[bool]string{true: "failed", false: "completed"}[i == 0]; status != want {
				t.Errorf("turn %d of %s is %s", i, s, status)
			}
		}
		if msg, _ := at(turns, 0, "error", "message").(string); !strings.Contains(msg, "stopped") && !strings.Contains(msg, "shut") {
			t.Errorf("the error of a stopped turn: %q", msg)
		}
	}
	for tag, n := range r.times() {
		if n != 1 {
			t.Errorf("%s ran %d times", tag, n)
		}
	}
	r.Clean(time.Minute)
	r.Stop()
}
