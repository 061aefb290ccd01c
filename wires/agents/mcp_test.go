package agents

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

const (
	canary   = "canary-0123456789"
	mcpTool1 = `{"type":"mcp","server_label":"docs","transport":{"type":"http","server_url":"https://mcp.example.com/mcp","headers":{"X-Key":"` + canary + `"},"authorization":"` + canary + `"},"allowed_tools":["search"]}`
)

func TestMCPToolsOfAgentsAndSessions(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	made := s.do("POST", "/agents", `{"model":"codex","tools":[`+mcpTool1+`]}`).is("Agent")
	const agentTool = `"tools":[{"allowed_tools":["search"],"connection_origin":"environment","credential_id":null,"request_metadata":{},"required":false,"server_label":"docs","transport":{"headers":{"X-Key":"[redacted]"},"server_url":"https://mcp.example.com/mcp","type":"http"},"type":"mcp"}]`
	if !bytes.Contains(made.Raw, []byte(agentTool)) {
		t.Errorf("agent: %s", made.Raw)
	}
	m := s.engine.agents[0].MCP["docs"]
	if m.Secrets["X-Key"].Reveal() != canary || m.Secrets["Authorization"].Reveal() != "Bearer "+canary || !m.Caller || len(m.Allowed) != 1 {
		t.Errorf("%+v", m)
	}
	id := made.str("id")
	ses := s.do("POST", "/agents/sessions", `{"agent_id":"`+id+`"}`).is("AgentSession")
	const sessionTool = `"server_label":"docs","transport":{"server_url":"https://mcp.example.com/mcp","type":"http"},"type":"mcp"}]`
	if !bytes.Contains(ses.Raw, []byte(sessionTool)) || bytes.Contains(ses.Raw, []byte("X-Key")) {
		t.Errorf("session: %s", ses.Raw)
	}
	if _, ok := s.engine.news[0].Agent.MCP["docs"]; !ok {
		t.Error("the session's agent has no server")
	}
	changed := s.do("POST", "/agents/sessions/"+ses.str("id"), `{"agent":{"tools":[]}}`).is("AgentSession")
	if u := s.engine.updates[0]; u.MCP == nil || len(*u.MCP) != 0 || u.Tools == nil || len(*u.Tools) != 0 {
		t.Errorf("%+v %s", s.engine.updates[0], changed.Raw)
	}
	s.do("POST", "/agents/"+id, `{"instructions":"Other."}`).is("Agent")
	if a := s.engine.agents[0]; a.MCP["docs"].URL == "" || len(a.Tools) == 0 {
		t.Errorf("an update without tools lost them: %+v", a)
	}
	for _, a := range []*answer{made, ses, changed, s.do("GET", "/agents/"+id, ""), s.do("GET", "/agents", "")} {
		if bytes.Contains(a.Raw, []byte(canary)) {
			t.Errorf("a value is shown: %s", a.Raw)
		}
	}
}

func TestMCPToolsThatCannotBeAreRefusedByTheirPlace(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{})
	with := func(transport, more string) string {
		return `{"type":"mcp","server_label":"docs","transport":` + transport + more + `}`
	}
	const http = `{"type":"http","server_url":"https://a.b/"}`
	for tool, want := range map[string][2]string{
		`5`:              {"invalid_request", "tools[0]"},
		`{"type":"mcp"}`: {"invalid_request", "tools[0].server_label"},
		`{"type":"mcp","server_label":"docs","server_url":"https://a.b/"}`: {"invalid_request", "tools[0].server_url"},
		`{"type":"mcp","server_label":"docs"}`:                             {"invalid_request", "tools[0].transport"},
		with(`{"type":"stdio","command":"sh","cwd":"/"}`, ``):              {"agents.unsupported", "tools[0].transport.type"},
		with(`{}`, ``):              {"invalid_request", "tools[0].transport.type"},
		with(`{"type":"http"}`, ``): {"invalid_request", "tools[0].transport.server_url"},
		with(`{"type":"http","server_url":"https://a.b/","headers":{"Host":"`+canary+`"}}`, ``): {"invalid_request", "tools[0].transport.headers"},
		with(`{"type":"http","server_url":"https://a.b/","authorization":"`+canary+`\t"}`, ``):  {"invalid_request", "tools[0].transport.authorization"},
		with(`{"type":"http","server_url":"https://a.b/","env":{}}`, ``):                        {"invalid_request", "tools[0].transport.env"},
		with(http, `,"required":true`):            {"agents.unsupported", "tools[0].required"},
		with(http, `,"credential_id":"cred_1"`):   {"agents.unsupported", "tools[0].credential_id"},
		with(http, `,"request_metadata":{"a":1}`): {"agents.unsupported", "tools[0].request_metadata"},
		with(http, `,"allowed_tools":["a b"]`):    {"invalid_request", "tools[0].allowed_tools"},
		with(http, `,"connection_origin":"moon"`): {"invalid_request", "tools[0].connection_origin"},
		with(http, ``) + `,` + with(http, ``):     {"invalid_request", "tools[1].server_label"},
	} {
		a := s.do("POST", "/agents", `{"model":"codex","tools":[`+tool+`]}`)
		a.refused(400, want[0], want[1])
		if bytes.Contains(a.Raw, []byte(canary)) {
			t.Errorf("repeats a value: %s", a.Raw)
		}
	}
	top := s.do("POST", "/agents", `{"model":"codex","tools":[{"type":"mcp","server_label":"docs","server_url":"https://a.b/"}]}`)
	if says := top.refused(400, "invalid_request", "tools[0].server_url"); !strings.Contains(says, `"transport": {"type": "http", "server_url"`) {
		t.Errorf("says %q", says)
	}
	inline := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex","tools":[`+with(`{"type":"http","server_url":"http:"}`, ``)+`]}}`)
	inline.refused(400, "invalid_request", "agent.tools[0].transport.server_url")

	s.engine.agents = append(s.engine.agents, &spec.Agent{ID: event.ID{7}, Owner: "alice", Name: "fixed", Adapter: "codex", Locked: true, Saved: true, MCP: map[string]spec.MCPServer{"docs": {URL: "https://x.y"}}})
	taken := s.do("POST", "/agents/sessions", `{"agent_id":"`+event.ID{7}.With(event.PrefixAgent)+`","agent":{"tools":[`+mcpTool1+`]}}`)
	taken.refused(400, "invalid_request", "agent.tools[0]")
	if !strings.Contains(string(taken.Raw), "server_label") {
		t.Errorf("%s", taken.Raw)
	}
}
