package responses_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/responses"
)

func TestTurnOfTheOtherWireShowsItsAgent(t *testing.T) {
	t.Parallel()
	turn := &fold.Turn{
		ID: turnOne, Input: &event.Input{Wire: "agents"}, Status: fold.Running,
		Settings: &spec.Session{Agent: spec.Agent{
			Adapter: "codex", Instructions: strings.Repeat("ä", 200<<10), Reasoning: spec.Reasoning{Effort: "high", Summary: "auto"},
		}},
	}
	r := responses.Of(turn)
	if r.Model != "codex" || r.Instructions == nil || len(*r.Instructions) != 256<<10 || *r.Reasoning.Effort != "high" || *r.Reasoning.Summary != "auto" || !r.Background {
		t.Errorf("%s", responses.Encode(r))
	}
	*r.Instructions = ""
	turn.Settings = nil // trimmed away
	if r := responses.Of(turn); r.Instructions != nil {
		t.Errorf("%s", responses.Encode(r))
	}
}

func TestLineBreaksInStoredValuesDoNotReachTheStream(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{Echo: []byte("{\"format\":{\"type\":\n\"text\"},\"tool_choice\":\r\n\"none\"}")}).start()
	h.message(event.FinalAnswer, "ok").completed()
	judge(t, h.stream(turnOne), h.view(turnOne))
	h = newHistory(t)
	h.input(turnOne, event.Input{Echo: []byte("not JSON")}).start().message(event.FinalAnswer, "ok").completed()
	judge(t, h.stream(turnOne), h.view(turnOne))
}

func TestForgottenTurnShowsNoItems(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start().message(event.FinalAnswer, "secret").completed()
	turn := *h.view(turnOne)
	turn.Forgotten = true
	if b := responses.Encode(responses.Of(&turn)); bytes.Contains(b, []byte("secret")) || !bytes.Contains(b, []byte(`"output":[]`)) {
		t.Errorf("%s", b)
	}
}

func TestBodilessEventsOfADamagedJournalAreSkipped(t *testing.T) {
	t.Parallel()
	for _, k := range event.Kinds() {
		switch k {
		case event.TextDelta, event.ReasoningDelta:
			continue
		}
		if b := responses.AppendFrames(nil, &event.Event{Kind: k, Turn: turnOne}); len(b) != 0 {
			t.Errorf("%s gives %s", k, b)
		}
	}
}

func TestTextAndThoughtThatFailedAreIncomplete(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start()
	for _, kind := range []event.ItemType{event.Message, event.Reasoning} {
		id := h.open(event.Item{Type: kind})
		h.close(id, event.Item{Type: kind, Status: event.ItemFailed})
	}
	h.end(event.End{Outcome: event.Failed, Failure: event.Fail(event.CLICrashed, "boom")})
	if n := bytes.Count(h.stream(turnOne), []byte(`"status":"incomplete"`)); n < 4 {
		t.Errorf("%d times incomplete", n)
	}
	judge(t, h.stream(turnOne), h.view(turnOne))
}

func TestErrorOfALongOutputBeginsOnACharacter(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start()
	h.tool(event.Item{Type: event.Command, Command: "x", Server: "codex"}, func(it *event.Item) {
		it.Output, it.ExitCode = strings.Repeat("€", 2000)+"\n", ptr(1)
	})
	h.message(event.FinalAnswer, "ok").completed()
	s := h.stream(turnOne)
	if bytes.Contains(s, []byte(`\ufffd`)) || !bytes.Contains(s, []byte(`€\nexit code 1"`)) {
		t.Errorf("%.3000s", s)
	}
}

func TestAliasesAndAgentsKeepTheConversationsModel(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	agent := &spec.Agent{ID: event.NewID(), Name: "twin", Adapter: "codex", Model: "gpt-5.5", Saved: true}
	e.agents = []*spec.Agent{agent}
	c := newClient(t, e)
	a := c.create(`{"model":"gpt-5.5","input":"x"}`)
	// Naming only the adapter of a conversation does not change its model.
	c.create(`{"model":"codex","input":"x","previous_response_id":"` + a.id() + `"}`).object()
	if o := e.inputs[1].Overrides; o != nil {
		t.Errorf("overrides %+v", o)
	}
	// A saved agent that the conversation did not begin with is another agent.
	c.create(`{"model":"twin","input":"x","previous_response_id":"`+a.id()+`"}`).refused(400, "invalid_request", "model")
	c.create(`{"model":"nobody","input":"x","previous_response_id":"`+a.id()+`"}`).refused(404, "model_not_found", "model")
}

func TestEngineErrorsPassThrough(t *testing.T) {
	t.Parallel()
	e := newEngine(t, answers("ok"))
	c := newClient(t, e)
	a := c.create(`{"model":"codex","input":"x"}`, "Idempotency-Key", "k")
	path := "/v1/responses/" + a.id()
	e.refusals["Turn"] = errors.New("broken")
	for _, r := range [][2]string{{"GET", path}, {"DELETE", path}, {"POST", path + "/cancel"}, {"GET", path + "/input_items"}} {
		c.do(r[0], r[1], "").refused(500, "internal_error", "")
	}
	c.create(`{"input":"x","previous_response_id":"`+a.id()+`"}`).refused(500, "internal_error", "")
	e.refusals["Turn"] = event.Fail(event.TurnNotFound, "evicted")
	c.create(`{"model":"codex","input":"x"}`, "Idempotency-Key", "k").refused(404, "turn_not_found", "")
	e.refusals["CreateSession"] = event.FailParam(event.EnvironmentRefused, "environment", "no")
	c.create(`{"model":"codex","input":"x"}`).refused(400, "agents.environment_unsupported", "environment")
}
