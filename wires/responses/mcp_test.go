package responses_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

const canary = "canary-0123456789"

func TestMCPToolsAreOfOneTurnAndNeverShowTheirValues(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("hello")))
	a := c.create(`{"model":"codex","input":"hi","tools":[
		{"type":"mcp","server_label":"docs","server_url":"https://mcp.example.com/mcp","headers":{"X-Key":"` + canary + `"},"authorization":"` + canary + `",
		 "allowed_tools":["search"],"require_approval":"never","server_description":"the docs","defer_loading":true,"allowed_callers":["direct"],"connector_id":null},
		{"type":"mcp","server_label":"two","server_url":"http://two.example/","allowed_tools":{"tool_names":[]},"require_approval":{"never":{"tool_names":["a"]}}},
		{"type":"mcp","server_label":"three","server_url":"http://three.example/","require_approval":{"always":{"tool_names":["b"]}},"headers":null,"allowed_tools":null}]}`)
	if a.status != 200 || a.header.Get("X-Agent-Sandbox-Ignored-Params") != "tools.defer_loading,tools.server_description" {
		t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	servers := *c.engine.inputs[0].Overrides.MCP
	docs, two, three := servers["docs"], servers["two"], servers["three"]
	if docs.Secrets["X-Key"].Reveal() != canary || docs.Secrets["Authorization"].Reveal() != "Bearer "+canary || docs.Headers["X-Key"] != spec.SecretRef || !docs.Caller ||
		!slices.Equal(docs.Allowed, []string{"search"}) || docs.Approval.Any() {
		t.Errorf("docs: %+v", docs)
	}
	if two.Allowed == nil || len(two.Allowed) != 0 || !two.Approval.Asks("x") || two.Approval.Asks("a") || three.Allowed != nil || three.Approval.Asks("x") || !three.Approval.Asks("b") {
		t.Errorf("two: %+v three: %+v", two, three)
	}
	if c.engine.created[0].Agent.MCP != nil {
		t.Error("a request's servers became the session's")
	}
	for _, got := range [][]byte{a.body, c.do("GET", "/v1/responses/"+a.id(), "").body} {
		const want = `"tools":[{"type":"mcp","server_label":"docs","server_url":"https://mcp.example.com/mcp","server_description":"the docs","headers":{"X-Key":"[redacted]"},"allowed_tools":["search"],"require_approval":"never"},`
		if !bytes.Contains(got, []byte(want)) || bytes.Contains(got, []byte(canary)) {
			t.Errorf("shown as %s", got)
		}
	}
	if bytes.Contains(c.engine.inputs[0].Echo, []byte(canary)) {
		t.Errorf("stored: %s", c.engine.inputs[0].Echo)
	}
	c.create(`{"input":"more","previous_response_id":"` + a.id() + `"}`)
	if o := c.engine.inputs[1].Overrides; o != nil && o.MCP != nil {
		t.Errorf("a later request has the servers of an earlier one: %+v", o.MCP)
	}
}

func TestMCPToolsThatCannotBeAreRefusedByTheirPlace(t *testing.T) {
	t.Parallel()
	c := newClient(t, newEngine(t, answers("hello")))
	const ok = `"type":"mcp","server_label":"docs","server_url":"https://a.b/"`
	many := strings.TrimSuffix(strings.Repeat(`{"type":"mcp","server_label":"x","server_url":"https://a.b/"},`, 2), ",")
	for tools, want := range map[string][2]string{
		`[5]`:              {"invalid_request", "tools[0]"},
		`[{}]`:             {"agents.unsupported", "tools[0]"},
		`[{"type":"mcp"}]`: {"invalid_request", "tools[0].server_label"},
		`[{"type":"mcp","server_label":"agenthost"}]`:                                                  {"invalid_request", "tools[0].server_label"},
		`[{"type":"mcp","server_label":"a b"}]`:                                                        {"invalid_request", "tools[0].server_label"},
		`[{"type":"mcp","server_label":"` + strings.Repeat("a", 41) + `"}]`:                            {"invalid_request", "tools[0].server_label"},
		`[{"type":"mcp","server_label":"a"}]`:                                                          {"invalid_request", "tools[0].server_url"},
		`[{"type":"mcp","server_label":"a","server_url":"ftp://a.b"}]`:                                 {"invalid_request", "tools[0].server_url"},
		`[{"type":"mcp","server_label":"a","server_url":"https://u:` + canary + `@a.b"}]`:              {"invalid_request", "tools[0].server_url"},
		`[{"type":"mcp","server_label":"a","server_url":"https://a.b/?k=${HOME}"}]`:                    {"invalid_request", "tools[0].server_url"},
		`[{` + ok + `,"headers":{"X":"` + canary + `\n"}}]`:                                            {"invalid_request", "tools[0].headers"},
		`[{` + ok + `,"headers":{"X":5}}]`:                                                             {"invalid_request", "tools[0].headers.X"},
		`[{` + ok + `,"headers":{"X":"` + canary + `","x":"` + canary + `"}}]`:                         {"invalid_request", "tools[0].headers"},
		`[{` + ok + `,"headers":{"Authorization":"` + canary + `"},"authorization":"` + canary + `"}]`: {"invalid_request", "tools[0].authorization"},
		`[{` + ok + `,"authorization":"[redacted]"}]`:                                                  {"invalid_request", "tools[0].authorization"},
		`[{` + ok + `,"connector_id":"connector_dropbox"}]`:                                            {"agents.unsupported", "tools[0].connector_id"},
		`[{` + ok + `,"tunnel_id":"t"}]`:                                                               {"agents.unsupported", "tools[0].tunnel_id"},
		`[{` + ok + `,"allowed_callers":["programmatic"]}]`:                                            {"agents.unsupported", "tools[0].allowed_callers"},
		`[{` + ok + `,"allowed_tools":["a,Bash"]}]`:                                                    {"invalid_request", "tools[0].allowed_tools"},
		`[{` + ok + `,"allowed_tools":{"read_only":true}}]`:                                            {"agents.unsupported", "tools[0].allowed_tools.read_only"},
		`[{` + ok + `,"allowed_tools":{}}]`:                                                            {"invalid_request", "tools[0].allowed_tools.tool_names"},
		`[{` + ok + `,"allowed_tools":5}]`:                                                             {"invalid_request", "tools[0].allowed_tools"},
		`[{` + ok + `,"require_approval":"sometimes"}]`:                                                {"invalid_request", "tools[0].require_approval"},
		`[{` + ok + `,"require_approval":{"always":{"tool_names":["a b"]}}}]`:                          {"invalid_request", "tools[0].require_approval.always.tool_names"},
		`[{` + ok + `,"command":"sh"}]`:                                                                {"invalid_request", "tools[0]"},
		`[` + many + `]`:                                                                               {"invalid_request", "tools[1].server_label"},
	} {
		t.Run(tools, func(t *testing.T) {
			a := c.create(`{"model":"codex","input":"x","tools":` + tools + `}`)
			if strings.HasSuffix(want[1], "headers.X") && bytes.Contains(a.body, []byte(`"param":"tools[0]`)) {
				return // how deep the decoder names it is its own affair
			}
			a.refused(400, want[0], want[1])
			if bytes.Contains(a.body, []byte(canary)) {
				t.Errorf("repeats a value: %s", a.body)
			}
		})
	}
	for tool, says := range map[string]string{
		`{"type":"mcp","server_label":"a"}`:           "tools[0].server_url is missing",
		`{"type":"function","function":{"name":"f"}}`: "stand beside type, not inside function",
	} {
		if a := c.create(`{"model":"codex","input":"x","tools":[` + tool + `]}`); !bytes.Contains(a.body, []byte(says)) {
			t.Errorf("%s: %s", tool, a.body)
		}
	}
	for param, want := range map[string]string{
		"mcp_servers.docs.url": "tools[1].server_url", "mcp_servers.docs": "tools[1]", "mcp_servers.docs.require_approval": "tools[1].require_approval", "mcp_servers.other.url": "mcp_servers.other.url",
	} {
		c.engine.refusals["CreateSession"] = event.FailParam(event.MCPNotAllowed, param, "no")
		a := c.create(`{"model":"codex","input":"x","tools":[{"type":"mcp","server_label":"first","server_url":"https://a.b/"},{` + ok + `}]}`)
		a.refused(403, "mcp_not_allowed", want)
	}
}
