package agents

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

// delegated is a session whose turn set two subagents to work, the first of which
// set a further one.
func delegated(s *service) (path string, st *story) {
	s.t.Helper()
	id := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":"Delegate."}`).is("AgentSession").str("id")
	st = s.engine.last()
	st.start(st.told()[0].ID)
	return "/agents/sessions/" + id, st
}

func ids(t *testing.T, a *answer) (list []string) {
	t.Helper()
	data, ok := a.Body["data"].([]any)
	if !ok {
		t.Fatalf("no list: %s", a.Raw)
	}
	for _, e := range data {
		m, _ := e.(map[string]any)
		id, _ := m["id"].(string)
		list = append(list, id)
	}
	return list
}

func TestSubagentIsReadWhileItWorksAndAfter(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	base, st := delegated(s)
	one := event.Item{Type: event.Subagent, Tool: "explorer", Prompt: "Look."}
	call := st.open(one)
	st.theirs(call, event.Item{Type: event.Message, User: true, Text: "Look."})
	st.theirs(call, event.Item{Type: event.Command, Command: "ls", Output: "a"})
	sub := base + "/subagents/" + call.With("subagent_")
	own := call.With("turn_")

	a := s.do("GET", sub, "").is("Subagent")
	if a.str("status") != "active" || a.str("name") != "explorer" || a.Body["closed_at"] != nil || !strings.HasPrefix(a.str("parent_agent_id"), "agent_") {
		t.Errorf("working subagent %s", a.Raw)
	}
	if turn := s.do("GET", sub+"/turns/"+own, "").is("Turn"); turn.str("status") != "in_progress" || turn.str("subagent_id") != call.With("subagent_") {
		t.Errorf("its turn %s", turn.Raw)
	}
	st.theirs(call, event.Item{Type: event.Message, Phase: event.FinalAnswer, Text: "There."})
	one.Output = "There."
	st.done(call, one)
	st.say(event.FinalAnswer, "It is there.")
	st.end(st.turn, event.End{Outcome: event.Completed, Usage: tokens()})

	if a := s.do("GET", sub, "").is("Subagent"); a.str("status") != "closed" || a.Body["closed_at"] == nil {
		t.Errorf("closed subagent %s", a.Raw)
	}
	if turn := s.do("GET", sub+"/turns/"+own, "").is("Turn"); turn.str("status") != "completed" || turn.Body["completed_at"] == nil || turn.Body["usage"] != nil {
		t.Errorf("its ended turn %s", turn.Raw)
	}
	items := s.do("GET", sub+"/items?order=asc", "")
	if string(items.Raw) != string(s.do("GET", sub+"/turns/"+own+"/items?order=asc", "").Raw) {
		t.Error("the subagent's items are not those of its turn")
	}
	data, _ := items.Body["data"].([]any)
	if len(data) != 3 {
		t.Fatalf("items %s", items.Raw)
	}
	for i, want := range []string{"user", "", "assistant"} {
		it, _ := data[i].(map[string]any)
		if it["turn_id"] != own || want != "" && it["role"] != want {
			t.Errorf("item %d: %v", i, it)
		}
		raw, err := stdjson.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		checkObject(t, "AgentSessionItem", raw)
	}
	if got := ids(t, s.do("GET", sub+"/items?limit=2", "")); len(got) != 2 {
		t.Errorf("first page %v", got)
	} else if rest := s.do("GET", sub+"/items?limit=2&after="+got[1], ""); len(ids(t, rest)) != 1 || rest.Body["has_more"] != false {
		t.Errorf("second page %s", rest.Raw)
	}
	if turns := s.do("GET", sub+"/turns", ""); len(ids(t, turns)) != 1 || ids(t, turns)[0] != own ||
		len(ids(t, s.do("GET", sub+"/turns?after="+own, ""))) != 0 {
		t.Errorf("turns %s", turns.Raw)
	}
	// Nothing of it is among the session's own turns and items, but the call.
	if turns := ids(t, s.do("GET", base+"/turns", "")); len(turns) != 1 || turns[0] == own {
		t.Errorf("the session's turns %v", turns)
	}
	if all := ids(t, s.do("GET", base+"/items", "")); len(all) != 3 {
		t.Errorf("the session's items %v", all)
	}
}

func TestSubagentsAreListedInTheirOrder(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	base, st := delegated(s)
	first := st.open(event.Item{Type: event.Subagent, Prompt: "one"})
	inner := st.call(event.Item{Type: event.Subagent, Prompt: "two", Parent: first})
	second := st.open(event.Item{Type: event.Subagent})
	want := []string{first.With("subagent_"), inner.With("subagent_"), second.With("subagent_")}
	if got := ids(t, s.do("GET", base+"/subagents?order=asc", "")); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("listed %v, want %v", got, want)
	}
	page := s.do("GET", base+"/subagents?limit=1&after="+want[2], "")
	if got := ids(t, page); len(got) != 1 || got[0] != want[1] || page.Body["has_more"] != true {
		t.Errorf("second page %s", page.Raw)
	}
	a := s.do("GET", base+"/subagents/"+want[1], "").is("Subagent")
	if a.str("parent_agent_id") != want[0] {
		t.Errorf("parent of the inner one %s", a.Raw)
	}
	s.do("GET", base+"/subagents?after="+event.NewID().With("subagent_"), "").refused(404, "agents.cursor_not_found", "after")
}

func TestFailedAndCutOffSubagents(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	base, st := delegated(s)
	for status, c := range map[event.Status]struct{ word, code, message string }{
		event.ItemFailed: {"failed", "internal_error", "out of room"}, event.Incomplete: {"cancelled", "", ""},
	} {
		call := st.open(event.Item{Type: event.Subagent})
		st.done(call, event.Item{Type: event.Subagent, Status: status, Error: c.message})
		turn := s.do("GET", base+"/subagents/"+call.With("subagent_")+"/turns/"+call.With("turn_"), "").is("Turn")
		e, _ := turn.Body["error"].(map[string]any)
		if turn.str("status") != c.word || c.code != "" && (e["code"] != c.code || e["message"] != c.message) || c.code == "" && e != nil {
			t.Errorf("%s: %s", c.word, turn.Raw)
		}
	}
}

func TestUnknownSubagentsAreRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	base, st := delegated(s)
	call := st.open(event.Item{Type: event.Subagent})
	plain := st.open(event.Item{Type: event.ToolCall})
	known := base + "/subagents/" + call.With("subagent_")
	for _, id := range []string{"x", call.With("item_"), plain.With("subagent_"), event.NewID().With("subagent_"), event.ID{}.With("subagent_")} {
		for _, rest := range []string{"", "/items", "/turns", "/turns/" + call.With("turn_"), "/turns/" + call.With("turn_") + "/items"} {
			s.do("GET", base+"/subagents/"+id+rest, "").refused(404, "subagent_not_found", "subagent_id")
		}
	}
	for _, id := range []string{"x", st.turn.With("turn_"), plain.With("turn_")} {
		s.do("GET", known+"/turns/"+id, "").refused(404, "turn_not_found", "turn_id")
		s.do("GET", known+"/turns/"+id+"/items", "").refused(404, "turn_not_found", "turn_id")
	}
	s.do("GET", base+"/turns/"+call.With("turn_"), "").refused(404, "turn_not_found", "turn_id")
	other := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).is("AgentSession").str("id")
	s.do("GET", "/agents/sessions/"+other+"/subagents/"+call.With("subagent_"), "").refused(404, "subagent_not_found", "subagent_id")
	s.do("GET", "/agents/sessions/x/subagents", "").refused(404, "session_not_found", "session_id")
	s.do("GET", known+"/items?after=item_x", "").refused(404, "agents.cursor_not_found", "after")
	s.do("GET", known+"/turns?after="+st.turn.With("turn_"), "").refused(404, "agents.cursor_not_found", "after")
}

func TestMultiAgentIsTheCallersWish(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	for body, want := range map[string]struct {
		enabled, disabled bool
		most              int
	}{
		`{"enabled":true}`: {enabled: true, most: 6}, `{"enabled":true,"max_concurrent_subagents":2}`: {enabled: true, most: 2},
		`{"enabled":false}`: {disabled: true}, `{"enabled":false,"max_concurrent_subagents":2}`: {disabled: true}, `null`: {},
	} {
		a := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex","multi_agent":`+body+`}}`).is("AgentSession")
		got := s.engine.last().session().Settings.Agent.MultiAgent
		most := 0
		if got.Max != nil {
			most = *got.Max
		}
		if got.Enabled != want.enabled || got.Disabled != want.disabled || most != want.most {
			t.Errorf("%s became %+v (%d)", body, got, most)
		}
		agent, _ := a.Body["agent"].(map[string]any)
		if m, _ := agent["multi_agent"].(map[string]any); m["enabled"] != want.enabled {
			t.Errorf("%s is shown as %v", body, m)
		}
	}
}
