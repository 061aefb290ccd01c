package responses_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/responses/responsestest"
)

func TestPlainCreateAnswersWithTheEndedTurn(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("hello")))
	a := c.create(`{"model":"codex","input":"hi","instructions":"be brief","metadata":{"k":"v"},"include":[],"tools":[],"stream":false}`)
	o := a.object()
	if err := responsestest.Object(o); err != nil {
		t.Error(err)
	}
	if a.text() != "hello" || o["status"] != "completed" || o["model"] != "codex" || o["instructions"] != "be brief" || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%s", a.body)
	}
	if again := c.do("GET", "/v1/responses/"+a.id(), ""); !bytes.Equal(again.body, a.body) {
		t.Errorf("created\n%s\nretrieved\n%s", a.body, again.body)
	}
	if h := a.header.Get("X-Agent-Sandbox-Ignored-Params"); h != "" {
		t.Errorf("ignored %q", h)
	}
	c.waitFor("the subscription's end", func() bool {
		c.engine.mu.Lock()
		defer c.engine.mu.Unlock()
		return c.engine.subs == 0
	})
}

func TestStreamedCreateEndsWithWhatARetrieveShows(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("hello")))
	a := c.create(`{"model":"codex","input":"hi","stream":true,"stream_options":{"include_obfuscation":true},"temperature":0.5}`)
	if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || a.header.Get("X-Agent-Sandbox-Ignored-Params") != "temperature" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	fs, err := responsestest.Parse(a.body)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := fs[0].Data["response"].(map[string]any)
	id, _ := r["id"].(string)
	judge(t, frames(a.body), c.turnOf(id))
	got := c.do("GET", "/v1/responses/"+id, "")
	if last := fs[len(fs)-1]; !bytes.Contains(last.Raw, got.body) {
		t.Errorf("the stream ends with\n%s\nretrieved\n%s", last.Raw, got.body)
	}
	replay := c.do("GET", "/v1/responses/"+id+"?stream=true", "")
	if !bytes.Equal(replay.body, a.body) {
		t.Errorf("live\n%s\nreplayed\n%s", a.body, replay.body)
	}
	for n := range fs {
		rest := c.do("GET", "/v1/responses/"+id+"?stream=true&starting_after="+itoa(n), "")
		if want := a.body[len(a.body)-tailOf(fs[n+1:]):]; string(frames(rest.body)) != string(want) {
			t.Errorf("after %d:\n%s", n, rest.body)
		}
	}
	// The official Go SDK says stream in a body.
	if inBody, inQuery := c.do("GET", "/v1/responses/"+id, `{"stream":true}`), c.do("GET", "/v1/responses/"+id+"?stream=true", ""); !bytes.Equal(inBody.body, inQuery.body) {
		t.Errorf("stream in a body: %s", inBody.body)
	}
	c.do("GET", "/v1/responses/"+id, `{"stream":"yes"}`).refused(400, "invalid_request", "stream")
	c.do("GET", "/v1/responses/"+id+"?stream=true&starting_after=-1", "").refused(400, "invalid_request", "starting_after")
	c.do("GET", "/v1/responses/"+id+"?stream=true&starting_after=x", "").refused(400, "invalid_request", "starting_after")
	c.do("GET", "/v1/responses/"+id+"?stream=maybe", "").refused(400, "invalid_request", "stream")
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

// tailOf is how many bytes the frames take.
func tailOf(fs []responsestest.Frame) int {
	n := 0
	for _, f := range fs {
		n += len("event: ") + len(f.Type) + len("\ndata: ") + len(f.Raw) + 2
	}
	return n
}

func TestBackgroundCreateAnswersAtOnce(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, untilCancelled))
	a := c.create(`{"model":"codex","input":"hi","background":true}`)
	o := a.object()
	if o["status"] != "in_progress" || o["background"] != true || o["usage"] != nil {
		t.Errorf("%s", a.body)
	}
	// A second one in the same conversation waits, and can be streamed meanwhile.
	b := c.create(`{"input":"more","background":true,"previous_response_id":"` + a.id() + `"}`)
	if b.object()["status"] != "queued" || b.object()["previous_response_id"] != a.id() {
		t.Errorf("%s", b.body)
	}
	res := c.open("GET", "/v1/responses/"+a.id()+"?stream=true", "")
	defer func() { _ = res.Body.Close() }()
	if x := c.do("POST", "/v1/responses/"+a.id()+"/cancel", ""); x.object()["status"] != "cancelled" {
		t.Errorf("%s", x.body)
	}
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	judge(t, frames(all), c.turnOf(a.id()))
	// The connection of a stream is not used again, which this client does not read
	// from the answer.
	c.http.CloseIdleConnections()
	c.do("POST", "/v1/responses/"+b.id()+"/cancel", "").object()
}

func TestClientThatLeavesDoesNotEndTheTurn(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	c := newClient(t, newEngine(t, func(f *fakeTurn) {
		f.do(func(h *history) { h.start() })
		<-left
		f.do(func(h *history) { h.message(event.FinalAnswer, "done").completed() })
	}))
	res := c.open("POST", "/v1/responses", `{"model":"codex","input":"hi","stream":true}`)
	head := make([]byte, 900)
	if _, err := io.ReadFull(res.Body, head); err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	c.waitFor("the stream's end", func() bool {
		c.engine.mu.Lock()
		defer c.engine.mu.Unlock()
		return c.engine.subs == 0
	})
	close(left)
	_, after, _ := strings.Cut(string(head), `"id":"`)
	id := after[:len("resp_")+32]
	c.waitFor("the turn's end", func() bool { return c.turnOf(id).Status.Ended() })
	if a := c.do("GET", "/v1/responses/"+id, ""); a.text() != "done" {
		t.Errorf("%s", a.body)
	}
}

func TestConversationGoesOnByEitherName(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	first := c.create(`{"model":"codex","input":"one"}`)
	conv, _ := first.object()["conversation"].(map[string]any)
	id, _ := conv["id"].(string)
	for _, body := range []string{
		`{"model":"codex","input":"two","previous_response_id":"` + first.id() + `"}`,
		`{"model":"codex","input":"three","conversation":"` + id + `"}`,
		`{"input":"four","conversation":{"id":"agsess_` + strings.TrimPrefix(id, "conv_") + `"}}`,
		`{"model":"gpt-9","input":"five","conversation":{"id":"` + id + `"},"previous_response_id":null}`,
	} {
		a := c.create(body)
		if got, _ := a.object()["conversation"].(map[string]any); got["id"] != id {
			t.Errorf("%s went to %v", body, got)
		}
	}
	if len(e.sessions) != 1 || len(e.inputs) != 5 {
		t.Errorf("%d sessions, %d inputs", len(e.sessions), len(e.inputs))
	}
	if e.inputs[1].After.IsZero() || !e.inputs[2].After.IsZero() {
		t.Error("only previous_response_id asks to be the latest")
	}
	if o := e.inputs[3].Overrides; o != nil {
		t.Errorf("overrides without a wish: %+v", o)
	}
	if o := e.inputs[4].Overrides; o == nil || o.Model == nil || *o.Model != "gpt-9" {
		t.Errorf("the other model is not used: %+v", o)
	}
	for _, p := range e.pins[1:] {
		if p != "codex" {
			t.Errorf("resolved for %q, not for the conversation's adapter", p)
		}
	}
	c.create(`{"model":"claude-code","input":"x","conversation":"`+id+`"}`).refused(400, "invalid_request", "model")
	c.create(`{"input":"x","conversation":"`+id+`"}`, "X-ABX-Adapter", "claude-code").refused(400, "invalid_request", "model")
	e.refusals["Post"] = event.Fail(event.PreviousNotLatest, "a later turn exists")
	c.create(`{"input":"x","previous_response_id":"`+first.id()+`"}`).refused(400, "agents.previous_response_not_latest", "previous_response_id")
	e.refusals["Post"] = event.Fail(event.QueueFull, "full")
	if a := c.create(`{"input":"x","previous_response_id":"` + first.id() + `"}`); a.header.Get("Retry-After") == "" || a.header.Get("x-should-retry") != "" {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestSavedAgentsKeepTheirInstructions(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	e.agents = []*spec.Agent{
		{ID: event.NewID(), Name: "reviewer", Adapter: "codex", Model: "gpt-5.5", Instructions: "You review.", Saved: true},
		{ID: event.NewID(), Name: "writer", Adapter: "codex", Instructions: "You write.", Saved: true},
	}
	c := newClient(t, e)
	a := c.create(`{"model":"reviewer","instructions":"be brief","input":[{"role":"system","content":"no jokes"},{"role":"developer","content":[{"type":"input_text","text":"use Go"}]},{"role":"user","content":"go"}]}`)
	if got := *e.inputs[0].Overrides.Instructions; got != "You review.\n\nbe brief\n\nno jokes\n\nuse Go" {
		t.Errorf("instructions %q", got)
	}
	if o := a.object(); o["model"] != "reviewer" || o["instructions"] != "be brief" {
		t.Errorf("%s", a.body)
	}
	c.create(`{"model":"reviewer","input":"again","previous_response_id":"` + a.id() + `"}`).object()
	if e.inputs[1].Overrides != nil {
		t.Errorf("overrides %+v", e.inputs[1].Overrides)
	}
	c.create(`{"model":"writer","input":"again","previous_response_id":"`+a.id()+`"}`).refused(400, "invalid_request", "model")
}

func TestAdapterIsPinnedByPathThenHeader(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	c.create(`{"model":"m","input":"x"}`, "X-ABX-Adapter", "claude-code").object()
	c.do("POST", "/agents/codex/v1/responses", `{"model":"m","input":"x"}`, "X-ABX-Adapter", "claude-code").object()
	c.create(`{"model":"m","input":"x"}`).object()
	if got := strings.Join(e.pins, ","); got != "claude-code,codex," {
		t.Errorf("pinned %q", got)
	}
	c.create(`{"model":"nobody","input":"x"}`).refused(404, "model_not_found", "model")
}

func TestSameKeyIsOneTurn(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("once"))
	c := newClient(t, e)
	const body = `{"model":"codex","input":"hi"}`
	a := c.create(body, "Idempotency-Key", "k")
	b := c.create(body, "Idempotency-Key", "k")
	if !bytes.Equal(a.body, b.body) || len(e.inputs) != 1 {
		t.Errorf("%d turns\n%s\n%s", len(e.inputs), a.body, b.body)
	}
	s := c.create(`{"model":"codex","input":"hi","stream":true}`, "Idempotency-Key", "s")
	if again := c.create(`{"model":"codex","input":"hi","stream":true}`, "Idempotency-Key", "s"); !bytes.Equal(s.body, again.body) {
		t.Errorf("streams differ:\n%s\n%s", s.body, again.body)
	}
	x := c.create(`{"model":"codex","input":"other"}`, "Idempotency-Key", "k")
	x.refused(409, "idempotency.mismatch", "")
	if x.header.Get("x-should-retry") != "false" {
		t.Errorf("%v", x.header)
	}
}

func TestResponseThatIsNotStoredIsGoneAfterItsEnd(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("secret"))
	c := newClient(t, e)
	for _, stream := range []string{"false", "true"} {
		a := c.create(`{"model":"codex","input":"hi","store":false,"stream":` + stream + `}`)
		if !bytes.Contains(a.body, []byte("secret")) || !bytes.Contains(a.body, []byte(`"store":false`)) {
			t.Errorf("%s", a.body)
		}
		_, after, _ := strings.Cut(string(a.body), `"id":"resp_`)
		id := "resp_" + after[:32]
		path := "/v1/responses/" + id
		c.do("GET", path, "").refused(404, "turn_not_found", "")
		c.do("GET", path+"?stream=true", "").refused(404, "turn_not_found", "")
		c.do("DELETE", path, "").refused(404, "turn_not_found", "")
		c.do("POST", path+"/cancel", "").refused(404, "turn_not_found", "")
		c.do("GET", path+"/input_items", "").refused(404, "turn_not_found", "")
		c.create(`{"input":"more","previous_response_id":"`+id+`"}`).refused(404, "turn_not_found", "previous_response_id")
	}
}

func TestRefusalAfterAcceptanceDoesNotInviteASecondTurn(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"model":"codex","input":"hi"}`, `{"model":"codex","input":"hi","stream":true}`} {
		for _, where := range []string{"Subscribe", "Next"} {
			e := newEngine(t, func(f *fakeTurn) { f.do(func(h *history) { h.start() }) })
			c := newClient(t, e)
			e.refusals[where] = event.Fail(event.TooManySubscribers, "too many streams")
			a := c.create(body)
			a.refused(500, "internal_error", "")
			if a.header.Get("x-should-retry") != "false" || !bytes.Contains(a.body, []byte("resp_")) || !bytes.Contains(a.body, []byte("too many streams")) {
				t.Errorf("%v %s", a.header, a.body)
			}
		}
	}
	e := newEngine(t, answers("x"))
	c := newClient(t, e)
	e.refusals["CreateSession"] = errors.New("disk: /secret/path")
	if a := c.create(`{"model":"codex","input":"hi"}`); a.status != 500 || bytes.Contains(a.body, []byte("secret")) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestPlainCreateOutlivesTheSessionsEnd(t *testing.T) {
	t.Parallel()
	e := newEngine(t, func(f *fakeTurn) {
		f.do(func(h *history) { h.start() })
		// The turn ends and the session with it before the waiter looks again.
		f.e.mu.Lock()
		defer f.e.mu.Unlock()
		f.s.h.turn, f.s.h.items = f.id, 1
		f.s.h.end(event.End{Outcome: event.Cancelled})
		f.s.turns[f.id] = f.s.h.view(f.id)
		f.s.ended = true
		close(f.s.wake)
		f.s.wake = make(chan struct{})
	})
	if a := newClient(t, e).create(`{"model":"codex","input":"hi"}`); a.object()["status"] != "cancelled" {
		t.Errorf("%s", a.body)
	}
}

func TestUnknownAndForeignIDsLookAlike(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("mine")))
	id := c.create(`{"model":"codex","input":"hi"}`).id()
	foreign := func(method, path, body string) string {
		a := c.do(method, path, body, "As", "somebody")
		if a.status != 404 {
			t.Errorf("%s %s: %d", method, path, a.status)
		}
		return strings.ReplaceAll(string(a.body), id, "ID")
	}
	unknown := func(method, path, body string) string {
		other := "resp_" + event.NewID().Hex()
		a := c.do(method, strings.ReplaceAll(path, id, other), strings.ReplaceAll(body, id, other))
		return strings.ReplaceAll(string(a.body), other, "ID")
	}
	conv := "conv_" + strings.TrimPrefix(id, "resp_") // of no session
	for _, r := range [][3]string{
		{"GET", "/v1/responses/" + id, ""}, {"GET", "/v1/responses/" + id + "?stream=true", ""},
		{"DELETE", "/v1/responses/" + id, ""}, {"POST", "/v1/responses/" + id + "/cancel", ""},
		{"GET", "/v1/responses/" + id + "/input_items", ""},
		{"POST", "/v1/responses", `{"input":"x","previous_response_id":"` + id + `"}`},
	} {
		if f, u := foreign(r[0], r[1], r[2]), unknown(r[0], r[1], r[2]); f != u {
			t.Errorf("%v: foreign %s, unknown %s", r, f, u)
		}
	}
	c.create(`{"input":"x","conversation":"`+conv+`"}`).refused(404, "session_not_found", "conversation")
	for _, bad := range []string{"resp_1", "..%2f..%2fetc", "a%00b", "%ff%fe", "turn_" + id[5:], id + "x", "resp_" + strings.ToUpper(id[5:])} {
		c.do("GET", "/v1/responses/"+bad, "").refused(404, "turn_not_found", "")
		c.do("POST", "/v1/responses/"+bad+"/cancel", "").refused(404, "turn_not_found", "")
	}
	c.create(`{"input":"x","conversation":"conv_1"}`).refused(404, "session_not_found", "conversation")
	c.create(`{"input":"x","previous_response_id":"msg_1\n"}`).refused(404, "turn_not_found", "previous_response_id")
}

// More was said behind the outputs of a transcript: the turn that waits for them is
// answered and ended, and the request begins anew.
func TestTranscriptThatGoesOnEndsTheTurnThatWaits(t *testing.T) {
	t.Parallel()
	var play sync.Once
	e := newEngine(t, func(f *fakeTurn) {
		waits := false
		play.Do(func() { waits = true })
		f.do(func(h *history) {
			if h.start(); waits {
				h.ask(event.Item{Type: event.FunctionCall, Tool: "weather"})
				h.on(h.turn, event.TurnWaiting)
			} else {
				h.message(event.FinalAnswer, "ok").completed()
			}
		})
	})
	c := newClient(t, e)
	first := c.create(`{"model":"codex","input":"weather?","background":true}`)
	c.waitFor("the call", func() bool { return c.turnOf(first.id()).Status == fold.Waiting })
	call := c.turnOf(first.id()).Items[0].ID.With(event.PrefixCall)
	transcript := `{"model":"codex","input":[{"role":"user","content":"weather?"},` +
		`{"type":"function_call","call_id":"` + call + `","name":"weather","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"` + call + `","output":"rain"},{"role":"user","content":"and tomorrow?"}]}`
	second := c.create(transcript)
	if second.text() != "ok" || c.turnOf(second.id()).Session == c.turnOf(first.id()).Session {
		t.Errorf("%s", second.body)
	}
	e.mu.Lock()
	answered := e.answered
	e.mu.Unlock()
	if len(answered) != 1 || len(answered[0]) != 1 || !answered[0][0].Answer.Leg.Conclude || answered[0][0].Answer.Output != "rain" {
		t.Fatalf("the turn that waits was told %+v", answered)
	}
	if prompt := e.inputs[len(e.inputs)-1].Prompt(); !strings.Contains(prompt, "rain") || !strings.HasSuffix(prompt, "and tomorrow?") {
		t.Errorf("the new one was asked %q", prompt)
	}
	// A turn that waits for nothing is left as it is.
	unknown := strings.ReplaceAll(transcript, call, second.id())
	if c.create(unknown).text() != "ok" || len(e.answered) != 1 {
		t.Error("another turn was answered")
	}
}
