package agents

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// fresh creates a session and gives its path and story.
func (s *service) fresh() (path string, st *story) {
	s.t.Helper()
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).is("AgentSession").str("id")
	return "/agents/sessions/" + id, s.engine.last()
}

const hello = `{"events":[{"type":"agent.session.input.message","input":[{"role":"user","content":[{"type":"input_text","text":"Hello"}]}]}]}`

// The follow-up turn as the SDKs' helper asks for it: look, listen, post, read.
func TestFollowUpTurnIsStreamedToItsIdle(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, st := s.fresh()
	if got := s.do("GET", path, "").is("AgentSession"); got.str("status") != "idle" {
		t.Fatalf("session %s", got.Raw)
	}
	l := s.tail("GET", path+"/events?include_obfuscation=true", "")
	a := s.do("POST", path+"/events", hello, "Idempotency-Key", "k1")
	if a.Status != 202 || len(a.Raw) != 0 || a.Header.Get("x-request-id") == "" {
		t.Fatalf("status %d %q", a.Status, a.Raw)
	}
	l.until("agent.session.turn.item.added")
	turn := st.told()[0].ID
	st.start(turn)
	st.say(event.FinalAnswer, "Hi", " there")
	st.end(turn, event.End{Outcome: event.Completed, Usage: tokens()})
	frames := l.until("agent.session.idle")
	if frames[0].Kind != "agent.session.in_progress" {
		t.Errorf("a stream from now on began with %s", frames[0].Kind)
	}
	checkOrder(t, frames)
	l.close()
}

func TestStreamOfANewSessionEndsAfterItsFirstTurn(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	l := s.tail("POST", "/agents/sessions", `{"agent":{"model":"codex"},"stream":true,"stream_options":{"include_obfuscation":false},"input":"Hello","x":1}`,
		"Accept", "application/json")
	if l.res.Header.Get("x-request-id") == "" || l.res.Header.Get(headerIgnored) != "x" {
		t.Errorf("headers %v", l.res.Header)
	}
	l.until("agent.session.turn.created")
	st := s.engine.last()
	turn := st.told()[0].ID
	second := st.accept(9, "And then?")
	st.start(turn)
	st.say(event.FinalAnswer, "Hi")
	st.end(turn, event.End{Outcome: event.Completed})
	st.start(second)
	st.say(event.FinalAnswer, "Bye")
	st.end(second, event.End{Outcome: event.Completed})
	frames := l.until("")
	if frames[0].Kind != "agent.session.created" || frames[len(frames)-1].Kind != "agent.session.idle" {
		t.Errorf("from %s to %s", frames[0].Kind, frames[len(frames)-1].Kind)
	}
	checkOrder(t, frames)
}

func TestStreamStaysOpenAcrossIdleAndEndsWithTheSession(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, st := s.fresh()
	l := s.tail("GET", path+"/events?after=0", "")
	for n := byte(1); n <= 2; n++ {
		turn := st.accept(n, "Hello")
		st.start(turn)
		st.end(turn, event.End{Outcome: event.Cancelled})
	}
	s.do("DELETE", path, "").is("AgentSessionDeleted")
	frames := l.until("")
	idles := 0
	for _, f := range frames {
		if f.Kind == "agent.session.idle" {
			idles++
		}
	}
	if idles != 2 {
		t.Errorf("%d idles in %d frames", idles, len(frames))
	}
	checkOrder(t, frames)
}

func TestCloseOnIdleEndsOnceAllIsRead(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, st := s.fresh()
	for n := byte(1); n <= 2; n++ {
		turn := st.accept(n, "Hello")
		st.start(turn)
		st.end(turn, event.End{Outcome: event.Completed})
	}
	st.add(event.Event{Kind: event.TurnForgotten, Turn: st.turn})
	all := s.tail("GET", path+"/events?after=0&close_on_idle=true", "")
	if frames := all.until(""); string(all.all) != string(Render(st.batch()).Buf) {
		t.Errorf("%d frames, the last one %s", len(frames), frames[len(frames)-1].Kind)
	}
	fromNow := s.tail("GET", path+"/events?close_on_idle=true", "")
	turn := st.accept(3, "Again")
	st.start(turn)
	fromNow.until("agent.session.turn.in_progress")
	st.end(turn, event.End{Outcome: event.Completed})
	if frames := fromNow.until(""); frames[len(frames)-1].Kind != "agent.session.idle" {
		t.Errorf("ended with %s", frames[len(frames)-1].Kind)
	}
	s.do("GET", path+"/events?close_on_idle=maybe", "").refused(400, "invalid_request", "close_on_idle")
}

// From each cursor that was ever given, the rest is the rest: the same bytes.
//
//cases:70
func TestEveryCursorGivesTheRestOfTheStream(t *testing.T) {
	t.Parallel()
	for name := range stories {
		if name == "resumed_after_a_crash" { // the fake engine counts without gaps; TestOneFold reads such
			continue
		}
		st := tell(t, name)
		e := newFakeEngine(t)
		e.sessions = []*story{st}
		read := func(c Cursor) []byte {
			t.Helper()
			src := &source{}
			err := src.seek(c, subscriber(e, st))
			if err != nil {
				t.Fatalf("%s, cursor %+v: %v", name, c, err)
			}
			defer src.Close()
			var got []byte
			for {
				frames, wake, done, err := src.Next()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, frames...)
				if wake != nil || done {
					return got
				}
			}
		}
		rest := string(Render(st.batch()).Buf)
		if got := read(Cursor{K: WholeEvent}); string(got) != rest {
			t.Fatalf("%s: the whole session differs", name)
		}
		frames := parseStream(t, []byte(rest))
		for i, f := range frames {
			rest = rest[len(f.Raw):]
			c, err := ParseCursor(f.str("event_id"))
			if err != nil {
				t.Fatal(err)
			}
			if got := read(c); string(got) != rest {
				t.Errorf("%s: behind %s come %d bytes, want %d", name, f.str("event_id"), len(got), len(rest))
			}
			if last := i+1 == len(frames) || !sameEvent(f, frames[i+1]); last {
				c.K = WholeEvent
				if got := read(c); string(got) != rest {
					t.Errorf("%s: behind %d come %d bytes, want %d", name, c.Seq, len(got), len(rest))
				}
			}
		}
		if e.open() != 0 {
			t.Errorf("%d subscriptions left", e.open())
		}
	}
}

func sameEvent(a, b frame) bool {
	return a.str("event_id")[:20] == b.str("event_id")[:20]
}

func TestCursorsThatWereNeverGivenAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, st := s.fresh()
	st.start(st.accept(1, "Hello"))
	for _, after := range []string{"evt_0000000000000099", "evt_0000000000000002_7", "99", "evt_0000000000000000", "evt_0000000000000005", "evt_5_1", "evt_99999999999999999999", "99999999999999999999"} {
		s.do("GET", path+"/events?after="+after, "").refused(404, "cursor_not_found", "after")
	}
	for _, after := range []string{"x", "evt_", "evt_x", "evt_1_", "evt_1_x", "evt_1_2_3", "-1", "1.5", "turn_1", "%00"} {
		s.do("GET", path+"/events?after="+after, "").refused(400, "invalid_request", "after")
		s.do("GET", path+"/events", "", "Last-Event-ID", strings.ReplaceAll(after, "%00", "\t.")).refused(400, "invalid_request", "after")
	}
}

func TestAfterWinsOverLastEventID(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, st := s.fresh()
	turn := st.accept(1, "Hello")
	st.start(turn)
	l := s.tail("GET", path+"/events?after=2", "", "Last-Event-ID", "0")
	if f := l.until("agent.session.turn.in_progress"); len(f) != 1 {
		t.Errorf("%d frames behind event 2", len(f))
	}
	l.close()
	l = s.tail("GET", path+"/events", "", "Last-Event-ID", "evt_0000000000000002_1")
	if f := l.until("agent.session.turn.in_progress"); len(f) != 2 || f[0].str("event_id") != "evt_0000000000000002_2" {
		t.Errorf("frames behind evt_2_1: %v", f)
	}
	l.close()
}

func TestTrimmedCursorNamesTheOldestOneThatWorks(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, st := s.fresh()
	turn := st.accept(1, "Hello")
	st.start(turn)
	s.engine.trimmed = 2
	a := s.do("GET", path+"/events?after=evt_0000000000000001", "")
	a.refused(410, "cursor_evicted", "after")
	e, _ := a.Body["error"].(map[string]any)
	oldest, _ := e["oldest"].(string)
	l := s.tail("GET", path+"/events?after="+oldest, "")
	if f := l.until("agent.session.turn.in_progress"); len(f) != 1 {
		t.Errorf("%d frames behind %s", len(f), oldest)
	}
	l.close()
}

// A turn that was forgotten gives nothing any more; a reader that stood inside
// it goes on behind it.
func TestCursorInsideAForgottenTurnGoesOn(t *testing.T) {
	t.Parallel()
	st := tell(t, "plain_turn")
	for i := range st.events {
		switch ev := &st.events[i]; ev.Kind {
		case event.InputAccepted:
			in, _ := ev.Body.(*event.Input)
			bare := *in
			bare.Items = nil
			ev.Body = &bare
		case event.ItemStarted, event.ItemDone, event.TextDelta:
			*ev = event.Event{Seq: ev.Seq, At: ev.At, Turn: ev.Turn, Kind: event.Notice}
		}
	}
	e := newFakeEngine(t)
	e.sessions = []*story{st}
	for _, c := range []Cursor{{2, 2}, {5, 1}, {6, 0}, {9, 2}} {
		src := &source{}
		if err := src.seek(c, subscriber(e, st)); err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		src.Close()
	}
}

func TestPostIsAcceptedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, _ := s.fresh()
	for _, body := range []string{
		hello,
		`{"events":[{"type":"agent.session.input.cancel"}]}`,
		`{"events":[{"type":"input.message","input":"Short."},{"type":"agent.session.input.cancel"},{"type":"input.cancel"}]}`,
		`{"input":"Shorthand."}`,
		`{"input":[{"role":"user","content":"List."}]}`,
	} {
		if a := s.do("POST", path+"/events", body); a.Status != 202 || len(a.Raw) != 0 {
			t.Errorf("%s: status %d %s", body, a.Status, a.Raw)
		}
	}
	if len(s.engine.posts) != 5 || len(s.engine.posts[2]) != 3 || !s.engine.posts[2][1].Cancel || s.engine.posts[2][0].Input.Prompt() != "Short." {
		t.Fatalf("posts %+v", s.engine.posts)
	}
	message := `{"type":"agent.session.input.message","input":"x"}`
	for _, c := range []struct{ body, code, param, says string }{
		{``, "invalid_request", "events", ""},
		{`{"events":[]}`, "invalid_request", "events", ""},
		{`{"events":{}}`, "invalid_request", "events", ""},
		{`{"events":[7]}`, "invalid_request", "events[0]", ""},
		{`{"type":"input","content":[]}`, "invalid_request", "type", "events, a list"},
		{message, "invalid_request", "type", "events, a list"},
		{`{"events":[{"type":"agent.session.input"}]}`, "invalid_request", "events[0].type", "the kinds are agent.session.input.message, agent.session.input.cancel, "},
		{`{"events":[{"type":"input"}]}`, "invalid_request", "events[0].type", "the kinds are"},
		{`{"events":[{"type":"tool_result"}]}`, "invalid_request", "events[0].type", "did you mean agent.session.input.tool_result?"},
		{`{"events":[{"type":"agent.session.message"}]}`, "invalid_request", "events[0].type", "did you mean agent.session.input.message?"},
		{`{"event":[]}`, "invalid_request", "event", "did you mean events"},
		{`{"input":"x","events":[` + message + `]}`, "invalid_request", "input", ""},
		{`{"events":[` + message + `,{"type":"agent.session.input.mesage"}]}`, "invalid_request", "events[1].type", "did you mean agent.session.input.message"},
		{`{"events":[` + message + `,{"type":"agent.session.input.message"}]}`, "invalid_request", "events[1].input", ""},
		{`{"events":[` + message + `,{}]}`, "invalid_request", "events[1].type", ""},
		{`{"events":[` + message + `,{"type":"agent.session.input.tool_result","turn_id":"t","call_id":"c","success":"yes"}]}`, "invalid_request", "events[1].success", ""},
		{`{"events":[{"type":"agent.session.input.tool_result","turn_id":"t","success":true}]}`, "invalid_request", "events[0].call_id", ""},
		{`{"events":[{"type":"agent.session.input.mcp_approval_request_result"}]}`, "invalid_request", "events[0].request_id", ""},
		{`{"events":[{"type":"agent.session.input.mcp_approval_request_result","request_id":"x"}]}`, "invalid_request", "events[0].response", ""},
		{`{"events":[{"type":"agent.session.input.computer_use_approval_request_result"}]}`, "agents.unsupported", "events[0]", "computer_use"},
	} {
		a := s.do("POST", path+"/events", c.body)
		if says := a.refused(400, c.code, c.param); !strings.Contains(says, c.says) || strings.HasPrefix(says, "Unknown pending tool call") {
			t.Errorf("%s: says %q", c.body, says)
		}
	}
	if len(s.engine.posts) != 5 {
		t.Errorf("a refused post reached the engine: %+v", s.engine.posts[5:])
	}
}

// An answer to a question for permission is told from one to a function's call: the
// engine refuses one for the other.
func TestAnswersSayWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, _ := s.fresh()
	turn := event.NewTurnID()
	item := event.ItemID(turn, 1)
	approval := func(decision string) string {
		return `{"type":"agent.session.input.mcp_approval_request_result","request_id":"` + item.With(event.PrefixItem) +
			`","response":{"type":"mcp_tool_call","decision":"` + decision + `","reason":"so"}}`
	}
	result := `{"type":"agent.session.input.tool_result","turn_id":"` + turn.With(event.PrefixTurn) + `","call_id":"` + item.With(event.PrefixCall) + `","success":true,"output":"rain"}`
	want := []spec.Answer{
		{Permission: true, Approve: true, Reason: "so"}, {Permission: true, Reason: "so"},
		{Permission: true, Cancel: true, Reason: "so"}, {Output: "rain"},
	}
	for i, body := range []string{approval("approve"), approval("deny"), approval("cancel"), result} {
		if a := s.do("POST", path+"/events", `{"events":[`+body+`]}`); a.Status != 202 {
			t.Fatalf("%s: status %d %s", body, a.Status, a.Raw)
		}
		want[i].Item = item
		if got := s.engine.posts[i]; len(got) != 1 || got[0].Answer == nil || !reflect.DeepEqual(*got[0].Answer, want[i]) {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

func TestIdempotencyKeyIsHandedOn(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, _ := s.fresh()
	for range 2 {
		if a := s.do("POST", path+"/events", hello, "Idempotency-Key", "k"); a.Status != 202 {
			t.Errorf("status %d %s", a.Status, a.Raw)
		}
	}
	a := s.do("POST", path+"/events", `{"input":"other"}`, "Idempotency-Key", "k")
	if e, _ := a.Body["error"].(map[string]any); a.Status != 409 || e["code"] != "idempotency.mismatch" || a.Header.Get("x-should-retry") != "false" {
		t.Errorf("status %d %s %v", a.Status, a.Raw, a.Header)
	}
	if len(s.engine.posts) != 1 {
		t.Errorf("%d posts", len(s.engine.posts))
	}
}

// A caller's budget ends the streams that wait for the session to be idle.
// A session to which nothing was ever said, and a reader that has everything, come to
// an end as well.
func TestCloseOnIdleEndsWhenThereIsNothingToRead(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	path, st := s.fresh()
	fresh := s.tail("GET", path+"/events?after=0&close_on_idle=true", "")
	if frames := fresh.until(""); string(fresh.all) != string(Render(st.batch()).Buf) {
		t.Errorf("%d frames of a fresh session", len(frames))
	}
	turn := st.accept(1, "Hello")
	st.start(turn)
	st.end(turn, event.End{Outcome: event.Completed})
	head := st.batch().Last()
	if frames := s.tail("GET", fmt.Sprintf("%s/events?after=%d&close_on_idle=true", path, head), "").until(""); len(frames) > 0 {
		t.Errorf("%d frames behind the last event", len(frames))
	}
}

func TestStreamsEndWhenABudgetHoldsTheSession(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	l := s.tail("POST", "/agents/sessions", `{"agent":{"model":"codex"},"stream":true,"input":"Hello","spend_control":{"limit":1}}`)
	l.until("agent.session.turn.created")
	st := s.engine.last()
	turn := st.told()[0].ID
	second := st.accept(9, "And then?")
	st.start(turn)
	st.stopped(turn, &event.Budget{Name: "spend_control.limit", Scope: event.SessionScope, Money: true, Limit: 10_000, Used: 12_345})
	frames := l.until("")
	if last := frames[len(frames)-1]; last.Kind != "agent.session.budget_reached" {
		t.Errorf("the stream of a new session ended with %s", last.Raw)
	}
	path := "/agents/sessions/" + frames[0].object("session")["id"].(string)
	if got := s.do("GET", path, "").is("AgentSession"); got.str("status") != "budget_reached" {
		t.Errorf("session %s", got.Raw)
	}
	resting := s.tail("GET", path+"/events?after=0&close_on_idle=true", "").until("")
	if last := resting[len(resting)-1]; last.Kind != "agent.session.budget_reached" {
		t.Errorf("a stream to the idle ended with %s", last.Raw)
	}
	st.control(100)
	st.lifted()
	l = s.tail("GET", path+"/events?after=0&close_on_idle=true", "")
	st.start(second)
	st.end(second, event.End{Outcome: event.Completed})
	frames = l.until("")
	if last := frames[len(frames)-1]; last.Kind != "agent.session.idle" {
		t.Errorf("a stream over the lift ended with %s", last.Raw)
	}
	checkOrder(t, frames)
}
