package agents

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

func TestAgentIsCreatedReadChangedListedAndDeleted(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	made := s.do("POST", "/agents", `{"model":"gpt-5.5","name":"coder","instructions":"Be brief.","metadata":{"team":"a","n":3},
		"reasoning":{"effort":"low"},"text":{"verbosity":"high","format":{"type":"json_schema","schema":{
		"type":"object"}}},"multi_agent":{"enabled":false},"service_tier":"flex","tools":[]}`).is("Agent")
	id := made.str("id")
	if !strings.HasPrefix(id, "agent_") || made.str("model") != "gpt-5.5" || made.str("name") != "coder" || made.str("service_tier") != "flex" {
		t.Errorf("created %s", made.Raw)
	}
	if m, _ := made.Body["metadata"].(map[string]any); m["n"] != "3" || m["team"] != "a" {
		t.Errorf("metadata %v", made.Body["metadata"])
	}
	got := s.do("GET", "/agents/"+id, "").is("Agent")
	if string(got.Raw) != string(made.Raw) {
		t.Errorf("read back\n%s\ncreated\n%s", got.Raw, made.Raw)
	}
	changed := s.do("POST", "/agents/"+id, `{"instructions":null,"name":"reviewer","model":"claude-code","text":null}`).is("Agent")
	if changed.Body["instructions"] != nil || changed.str("name") != "reviewer" || changed.str("model") != "claude-code" || changed.str("service_tier") != "flex" {
		t.Errorf("changed %s", changed.Raw)
	}
	if s.engine.agents[0].Adapter != "claude-code" {
		t.Errorf("adapter %q", s.engine.agents[0].Adapter)
	}
	if list := s.do("GET", "/agents", ""); list.str("first_id") != id || list.str("last_id") != id || list.Body["has_more"] != false {
		t.Errorf("list %s", list.Raw)
	}
	gone := s.do("DELETE", "/agents/"+id, "").is("AgentDeleted")
	if gone.str("id") != id || gone.Body["deleted"] != true {
		t.Errorf("deleted %s", gone.Raw)
	}
	s.do("GET", "/agents/"+id, "").refused(404, "agent_not_found", "agent_id")
}

func TestAgentFieldsThatAreRefusedAreNamed(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	for _, c := range []struct{ body, code, param, says string }{
		{`{}`, "invalid_request", "model", "required"},
		{``, "invalid_request", "model", "required"},
		{`[]`, "invalid_request", "", ""},
		{`{"model":null}`, "invalid_request", "model", "empty"},
		{`{"model":7}`, "invalid_request", "model", "a string"},
		{`{"model":"what-is-this"}`, "agents.adapter_required", "model", "what-is-this"},
		{`{"model":"codex","instruction":"x"}`, "invalid_request", "instruction", "did you mean instructions"},
		{`{"model":"codex","permissions":"ask"}`, "invalid_request", "permissions", "who runs this host"},
		{`{"model":"codex","tools":[{"type":"function","function":{"name":"f"}}]}`, "invalid_request", "tools[0].function", "beside type"},
		{`{"model":"codex","zzz":1}`, "invalid_request", "zzz", "not a field"},
		{`{"model":"codex","name":"a b"}`, "invalid_request", "name", ""},
		{`{"model":"codex","metadata":{"a":{}}}`, "invalid_request", "metadata", "strings"},
		{`{"model":"codex","metadata":{"a":null}}`, "invalid_request", "metadata", "strings"},
		{`{"model":"codex","metadata":{"` + strings.Repeat("k", 65) + `":"v"}}`, "invalid_request", "metadata", "64"},
		{`{"model":"codex","service_tier":"slow"}`, "invalid_request", "service_tier", "auto, default"},
		{`{"model":"codex","reasoning":{"effort":"huge"}}`, "invalid_request", "reasoning.effort", "minimal"},
		{`{"model":"codex","reasoning":{"efort":"low"}}`, "invalid_request", "reasoning.efort", "did you mean effort"},
		{`{"model":"codex","text":{"format":{"type":"xml"}}}`, "invalid_request", "text.format.type", "json_schema"},
		{`{"model":"codex","text":{"format":{"type":"json_schema"}}}`, "invalid_request", "text.format.schema", ""},
		{`{"model":"codex","multi_agent":{"enabled":true,"max_concurrent_subagents":0}}`, "invalid_request", "multi_agent.max_concurrent_subagents", "at least 1"},
		{`{"model":"codex","multi_agent":{}}`, "invalid_request", "multi_agent.enabled", ""},
		{`{"model":"codex","compaction":{"async":true}}`, "agents.unsupported", "compaction.async", ""},
		{`{"model":"codex","tools":[{"type":"web_search"}]}`, "agents.unsupported", "tools[0]", "web_search"},
		{`{"model":"codex","tools":[{"type":"function","name":"f g"}]}`, "invalid_request", "tools[0].name", "A-Z"},
		{`{"model":"codex","tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]}`, "invalid_request", "tools[1].name", "two"},
		{`{"model":"codex","tools":[{"type":"function","name":"f","parameters":[]}]}`, "invalid_request", "tools[0].parameters", ""},
		{`{"model":"codex","tools":[{"type":"function","name":"f","strict":true}]}`, "invalid_request", "tools[0].strict", ""},
		{`{"model":"codex","tools":[7]}`, "invalid_request", "tools[0]", "object"},
		{`{"model":"codex","tools":[{"type":"custom"}]}`, "invalid_request", "tools[0].type", ""},
		{`{"model":"codex","tools":{}}`, "invalid_request", "tools", "a list"},
	} {
		a := s.do("POST", "/agents", c.body)
		if c.param == "" {
			if a.Status != 400 {
				t.Errorf("%s: status %d", c.body, a.Status)
			}
			continue
		}
		if says := a.refused(400, c.code, c.param); !strings.Contains(says, c.says) {
			t.Errorf("%s: says %q, want %q in it", c.body, says, c.says)
		}
	}
	if len(s.engine.agents) != 0 {
		t.Errorf("%d agents were stored", len(s.engine.agents))
	}
}

func TestSwitchedOffFeaturesAreFine(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	s.do("POST", "/agents", `{"model":"codex","compaction":{"async":false},"experimental":{"time_awareness":false},"tools":null,
		"multi_agent":null,"reasoning":null,"text":{"format":{"type":"text"}},"metadata":null,"name":null,"service_tier":null}`).is("Agent")
}

func TestModelOfASavedAgentLendsAdapterAndModelOnly(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	s.do("POST", "/agents", `{"model":"claude-code","name":"base","instructions":"secret"}`).is("Agent")
	made := s.do("POST", "/agents", `{"model":"base"}`).is("Agent")
	if made.Body["instructions"] != nil || made.Body["name"] != nil || made.str("model") != "claude-code" {
		t.Errorf("created %s", made.Raw)
	}
}

func TestAdapterIsPinnedByHeaderOrBody(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	s.do("POST", "/agents", `{"model":"gpt-5.5","runtime":"claude-code"}`).is("Agent")
	s.do("POST", "/agents", `{"model":"gpt-5.5","adapter":"codex"}`, "X-ABX-Adapter", "claude-code").is("Agent")
	for i, a := range s.engine.agents {
		if a.Adapter != "claude-code" {
			t.Errorf("agent %d has adapter %q", i, a.Adapter)
		}
	}
}

// Unknown, foreign and malformed ids are told apart by nothing but their echo.
func TestEveryWrongIDIsTheSameNotFound(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	agent := s.do("POST", "/agents", `{"model":"codex"}`, "X-Test-Owner", "bob").is("Agent").str("id")
	foreign := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":"x"}`, "X-Test-Owner", "bob").is("AgentSession").str("id")
	mine := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"},"input":"x"}`).is("AgentSession").str("id")
	foreignTurn := s.engine.sessions[0].told()[0].ID.With(event.PrefixTurn)

	agents := []string{agent, "agent_" + strings.Repeat("0", 32), "agent_x", "a%2Fb", "..%2f..%2fetc", "a%00b", "%ff%fe", strings.ToUpper(agent)}
	sessions := []string{foreign, "agsess_" + strings.Repeat("0", 32), "agsess_1", "a%2Fb", "..%2f..%2fetc", mine + "0"}
	turns := []string{foreignTurn, "turn_" + strings.Repeat("0", 32), "turn_1", "x"}
	check := func(ids []string, param string, routes ...string) {
		for _, route := range routes {
			verb, path, _ := strings.Cut(route, " ")
			want := ""
			for _, id := range ids {
				a := s.do(verb, strings.ReplaceAll(path, "ID", id), `{"events":[{"type":"agent.session.input.cancel"}]}`)
				if route == "POST /agents/ID" || route == "POST /agents/sessions/ID" {
					a = s.do(verb, strings.ReplaceAll(path, "ID", id), `{}`)
				}
				a.refused(404, strings.TrimSuffix(param, "_id")+"_not_found", param)
				got := strings.ReplaceAll(string(a.Raw), id, "ID")
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%s with %s answers %s, others %s", route, id, got, want)
				}
			}
		}
	}
	check(agents, "agent_id", "GET /agents/ID", "POST /agents/ID", "DELETE /agents/ID")
	check(sessions, "session_id", "GET /agents/sessions/ID", "POST /agents/sessions/ID", "DELETE /agents/sessions/ID",
		"POST /agents/sessions/ID/events", "GET /agents/sessions/ID/events", "GET /agents/sessions/ID/events?after=0",
		"GET /agents/sessions/ID/events?after=x", "GET /agents/sessions/ID/turns", "GET /agents/sessions/ID/items",
		"GET /agents/sessions/ID/turns/"+foreignTurn, "GET /agents/sessions/ID/turns/"+foreignTurn+"/items")
	check(turns, "turn_id", "GET /agents/sessions/"+mine+"/turns/ID", "GET /agents/sessions/"+mine+"/turns/ID/items")
}
