package responses_test

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

func TestCancelAnswersWithTheEnd(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, untilCancelled))
	id := c.create(`{"model":"codex","input":"hi","background":true}`).id()
	path := "/v1/responses/" + id + "/cancel"
	a := c.do("POST", path, "")
	if a.object()["status"] != "cancelled" || a.object()["usage"] == nil {
		t.Errorf("%s", a.body)
	}
	for range 2 {
		if b := c.do("POST", path, ""); string(b.body) != string(a.body) {
			t.Errorf("cancelled again: %s", b.body)
		}
	}
	if b := c.do("GET", "/v1/responses/"+id, ""); string(b.body) != string(a.body) {
		t.Errorf("retrieved %s", b.body)
	}
}

func TestCancelOfACompletedResponseChangesNothing(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("done")))
	a := c.create(`{"model":"codex","input":"hi"}`)
	if b := c.do("POST", "/v1/responses/"+a.id()+"/cancel", ""); string(b.body) != string(a.body) {
		t.Errorf("%s", b.body)
	}
}

func TestCancelDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	e := newEngine(t, func(f *fakeTurn) {
		f.do(func(h *history) { h.start() })
		<-f.cancelled
	})
	c := newClient(t, e)
	id := c.create(`{"model":"codex","input":"hi","background":true}`).id()
	c.waitFor("the start", func() bool { return c.turnOf(id).Started > 0 })
	if a := c.do("POST", "/v1/responses/"+id+"/cancel", ""); a.object()["status"] != "in_progress" {
		t.Errorf("%s", a.body)
	}
	e.refusals["CancelTurn"] = event.Fail(event.TurnNotFound, "gone meanwhile")
	c.do("POST", "/v1/responses/"+id+"/cancel", "").refused(404, "turn_not_found", "")
}

func TestDeletedResponseIsGone(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("done")))
	a := c.create(`{"model":"codex","input":"hi"}`)
	path := "/v1/responses/" + a.id()
	d := c.do("DELETE", path, "")
	if string(d.body) != `{"id":"`+a.id()+`","object":"response","deleted":true}` || d.status != 200 {
		t.Errorf("%d %s", d.status, d.body)
	}
	c.do("GET", path, "").refused(404, "turn_not_found", "")
	c.do("DELETE", path, "").refused(404, "turn_not_found", "")
	conv, _ := a.object()["conversation"].(map[string]any)
	id, _ := conv["id"].(string)
	if b := c.create(`{"input":"go on","conversation":"` + id + `"}`); b.text() != "done" {
		t.Errorf("the conversation does not go on: %s", b.body)
	}
}

func TestInputItemsPage(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("done")))
	id := c.create(`{"model":"claude-code","input":[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}]}`).id()
	path := "/v1/responses/" + id + "/input_items"
	item := "item_" + event.ItemID(c.turnOf(id).ID, 0).Hex()
	want := `{"object":"list","data":[{"id":"` + item + `","type":"message","status":"completed","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AA=="}]}],"first_id":"` + item + `","last_id":"` + item + `","has_more":false}`
	for _, q := range []string{"", "?order=asc", "?limit=1&include=message.input_image.image_url"} {
		if a := c.do("GET", path+q, ""); string(a.body) != want {
			t.Errorf("%s: %s", q, a.body)
		}
	}
	if a := c.do("GET", path+"?after="+item, ""); string(a.body) != `{"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false}` {
		t.Errorf("%s", a.body)
	}
	c.do("GET", path+"?after=garbage", "").refused(400, "invalid_request", "after")
	c.do("GET", path+"?after=item_"+event.NewID().Hex(), "").refused(400, "invalid_request", "after")
	c.do("GET", path+"?limit=101", "").refused(400, "invalid_request", "limit")
	plain := c.create(`{"model":"codex","input":"one text"}`).id()
	if a := c.do("GET", "/v1/responses/"+plain+"/input_items", ""); !strings.Contains(string(a.body), `"content":[{"type":"input_text","text":"one text"}]`) {
		t.Errorf("%s", a.body)
	}
}

func TestModelsAreAdaptersAndSavedAgents(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("x"))
	for range 150 {
		e.agents = append(e.agents, &spec.Agent{ID: event.NewID(), Adapter: "codex", Created: 7})
	}
	named := &spec.Agent{ID: event.NewID(), Name: "my.agent", Adapter: "codex", Created: 9, Saved: true}
	e.agents = append(e.agents, named)
	c := newClient(t, e)
	a := c.do("GET", "/v1/models", "")
	list, _ := a.object()["data"].([]any)
	if len(list) != 153 || !strings.HasPrefix(string(a.body), `{"object":"list","data":[{"id":"codex","object":"model","created":1700000000,"owned_by":"agenthost","shutdown_date":null},{"id":"claude-code",`) ||
		!strings.Contains(string(a.body), `{"id":"my.agent","object":"model","created":9,"owned_by":"agents","shutdown_date":null}`) {
		t.Errorf("%d: %s", len(list), a.body)
	}
	for name, id := range map[string]string{
		"codex": "codex", "gpt": "gpt", "my.agent": "my.agent", "my%2Eagent": "my.agent",
		named.ID.With(event.PrefixAgent): named.ID.With(event.PrefixAgent),
	} {
		if got := c.do("GET", "/v1/models/"+name, "").object()["id"]; got != id {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, bad := range []string{"nothing", "agent_" + event.NewID().Hex(), "a%2Fb", "a%00b", "%ff"} {
		c.do("GET", "/v1/models/"+bad, "").refused(404, "model_not_found", "model")
	}
	e.refusals["Agents"] = event.Fail(event.StorageFailed, "no disk")
	if a := c.do("GET", "/v1/models", ""); a.status != 503 {
		t.Errorf("%d", a.status)
	}
}

func TestWhatIsNotBuiltSaysSo(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("x")))
	for path, operation := range map[string]string{"compact": "responses.compact", "input_tokens": "responses.count_input_tokens"} {
		a := c.do("POST", "/v1/responses/"+path, `{"model":"x"}`)
		a.refused(501, "operation_unavailable", operation)
		if a.header.Get("x-should-retry") != "false" {
			t.Errorf("%v", a.header)
		}
	}
}

// Whoever waits for a response that somebody deletes is told so, and nobody looks
// for a fault of the host's.
func TestResponseThatIsDeletedWhileItIsWaitedFor(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("x"))
	c := newClient(t, e)
	for _, body := range []string{`{"model":"codex","input":"x"}`, `{"model":"codex","input":"x","stream":true}`} {
		e.mu.Lock()
		e.refusals["Subscribe"] = event.Fail(event.SessionNotFound, "there is no such session")
		e.mu.Unlock()
		c.do("POST", "/v1/responses", body).refused(404, "turn_not_found", "")
	}
}

func TestStreamThatCannotBeginIsRefusedInOrder(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("x"))
	c := newClient(t, e)
	id := c.create(`{"model":"codex","input":"x"}`).id()
	e.refusals["Next"] = &event.Failure{Code: event.CursorEvicted, Message: "trimmed", Oldest: "evt_9"}
	c.do("GET", "/v1/responses/"+id+"?stream=true", "").refused(410, "cursor_evicted", "")
	delete(e.refusals, "Next")
	e.refusals["Subscribe"] = event.Fail(event.TooManySubscribers, "32 already")
	c.do("GET", "/v1/responses/"+id+"?stream=true", "").refused(429, "too_many_subscribers", "")
}

// A turn that a function call divided is several responses, each by itself: the newest
// is the one to go on from, and one that is deleted takes no other with it.
func TestResponsesOfOneTurnAreTheirOwn(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, func(f *fakeTurn) {
		f.do(func(h *history) {
			call := h.start().ask(event.Item{Type: event.FunctionCall, Tool: "weather"})
			h.on(h.turn, event.TurnWaiting)
			h.goOn(event.Leg{Number: 1, Wire: "responses", Answers: []event.ID{h.answer(call, event.Item{Type: event.FunctionOutput, Output: "rain"})}})
			h.message(event.FinalAnswer, "Rain.").completed()
		})
	}))
	first := c.create(`{"model":"codex","input":"hi","background":true}`).id()
	c.waitFor("the end", func() bool { return c.turnOf(first).Status.Ended() })
	second := event.LegID(c.turnOf(first).ID, 1).With(event.PrefixResponse)
	a := c.do("POST", "/v1/responses", `{"input":"more","background":true,"previous_response_id":"`+first+`"}`)
	a.refused(400, string(event.PreviousNotLatest), "previous_response_id")
	if !strings.Contains(string(a.body), second) {
		t.Errorf("the newest is not named: %s", a.body)
	}
	c.do("DELETE", "/v1/responses/"+second, "").object()
	c.do("GET", "/v1/responses/"+second, "").refused(404, "turn_not_found", "")
	if b := c.do("GET", "/v1/responses/"+first, ""); !strings.Contains(string(b.body), `"function_call"`) {
		t.Errorf("the first response: %s", b.body)
	}
	c.do("DELETE", "/v1/responses/"+first, "").object()
	c.do("GET", "/v1/responses/"+first, "").refused(404, "turn_not_found", "")

	again := c.create(`{"model":"codex","input":"hi","background":true}`).id()
	c.waitFor("the end", func() bool { return c.turnOf(again).Status.Ended() })
	newest := event.LegID(c.turnOf(again).ID, 1).With(event.PrefixResponse)
	c.create(`{"input":"more","background":true,"previous_response_id":"` + newest + `"}`)
}
