package agents

import (
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/wires/apierr"
	"github.com/agenthost/agenthost/wires/openapi"
	"github.com/agenthost/agenthost/wires/openapi/openapitest"
)

// described holds every answer of the service in this package's tests against the
// descriptions.
var described = sync.OnceValues(func() (*openapitest.Checker, error) {
	return openapitest.Wire(apierr.Envelope(), Operations())
})

func describedWire(t testing.TB) *openapitest.Checker {
	t.Helper()
	c, err := described()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// operationOf names the routes of the test's service.
var operationOf = map[string]string{
	"POST /agents":                                            "agents.definitions.create",
	"GET /agents":                                             "agents.definitions.list",
	"GET /agents/{agent_id}":                                  "agents.definitions.get",
	"POST /agents/{agent_id}":                                 "agents.definitions.update",
	"DELETE /agents/{agent_id}":                               "agents.definitions.delete",
	"POST /agents/sessions":                                   "agents.sessions.create",
	"GET /agents/sessions":                                    "agents.sessions.list",
	"GET /agents/sessions/{session_id}":                       "agents.sessions.get",
	"POST /agents/sessions/{session_id}":                      "agents.sessions.update",
	"DELETE /agents/sessions/{session_id}":                    "agents.sessions.delete",
	"POST /agents/sessions/{session_id}/events":               "agents.sessions.send_event",
	"GET /agents/sessions/{session_id}/events":                "agents.sessions.stream_events",
	"GET /agents/sessions/{session_id}/turns":                 "agents.sessions.list_turns",
	"GET /agents/sessions/{session_id}/turns/{turn_id}":       "agents.sessions.get_turn",
	"GET /agents/sessions/{session_id}/turns/{turn_id}/items": "agents.sessions.list_turn_items",

	"GET /agents/sessions/{session_id}/subagents":                                     "agents.sessions.list_subagents",
	"GET /agents/sessions/{session_id}/subagents/{subagent_id}":                       "agents.sessions.get_subagent",
	"GET /agents/sessions/{session_id}/subagents/{subagent_id}/items":                 "agents.sessions.list_subagent_items",
	"GET /agents/sessions/{session_id}/subagents/{subagent_id}/turns":                 "agents.sessions.list_subagent_turns",
	"GET /agents/sessions/{session_id}/subagents/{subagent_id}/turns/{turn_id}":       "agents.sessions.get_subagent_turn",
	"GET /agents/sessions/{session_id}/subagents/{subagent_id}/turns/{turn_id}/items": "agents.sessions.list_subagent_turn_items",
	"GET /agents/sessions/{session_id}/items":                                         "agents.sessions.list_items",

	"GET /agents/sessions/{session_id}/artifacts":                  "agents.sessions.list_artifacts",
	"GET /agents/sessions/{session_id}/artifacts/{artifact_id}":    "agents.sessions.get_artifact",
	"DELETE /agents/sessions/{session_id}/artifacts/{artifact_id}": "agents.sessions.delete_artifact",
}

// checkAnswer holds a finished answer against its route's description.
func checkAnswer(t testing.TB, route string, ctx *fasthttp.RequestCtx) {
	if !ctx.Hijacked() && operationOf[route] != "" { // contents have none
		if err := describedWire(t).Answer(operationOf[route], ctx.Response.StatusCode(), ctx.Response.Body()); err != nil {
			t.Error(err)
		}
	}
}

// goldenStreams gives the frames of every golden file.
func goldenStreams(t *testing.T) (all []byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func TestFramesAreAsDescribed(t *testing.T) {
	t.Parallel()
	c, err := openapitest.Wire(apierr.Envelope(), Operations())
	if err != nil {
		t.Fatal(err)
	}
	const stream = "agents.sessions.stream_events"
	for _, err := range c.Stream(stream, goldenStreams(t)) {
		t.Error(err)
	}
	if unseen := c.Unseen(stream); len(unseen) > 0 {
		t.Errorf("described, and in no golden file: %s", unseen)
	}
}

// wrong is a value that a field of a schema may not have.
func wrong(s *openapi.Schema) string {
	if word, ok := s.Type.([]string); ok && len(word) == 2 && word[0] == "array" || s.Type == "array" {
		return `{"a":1}`
	}
	return `[[7]]`
}

// Each field of each body is read: the wrong type is refused at its place, and a
// field beside them is refused as well where the body is closed.
func TestBodiesAreReadAsDescribed(t *testing.T) {
	t.Parallel()
	s := serve(t, Options{Hosted: true})
	agent := s.do("POST", "/agents", `{"model":"codex"}`).is("Agent").str("id")
	session := s.do("POST", "/agents/sessions", `{"agent":{"model":"codex"}}`).is("AgentSession").str("id")
	for _, c := range []struct {
		path string
		body any
		at   string // where the body stands in the request's
		wrap string // the request's body around it
		with string // fields that it needs
	}{
		{"/agents", newAgentBody{}, "", `{%}`, `"model":"codex"`},
		{"/agents/" + agent, agentBody{}, "", `{%}`, ``},
		{"/agents", multiAgentBody{}, "multi_agent", `{"model":"codex","multi_agent":{%}}`, `"enabled":false`},
		{"/agents", reasoningBody{}, "reasoning", `{"model":"codex","reasoning":{%}}`, ``},
		{"/agents", textBody{}, "text", `{"model":"codex","text":{%}}`, ``},
		{"/agents", plainFormatBody{}, "text.format", `{"model":"codex","text":{"format":{%}}}`, `"type":"text"`},
		{"/agents", schemaFormatBody{}, "text.format", `{"model":"codex","text":{"format":{%}}}`, `"type":"json_schema","schema":{}`},
		{"/agents", compactionBody{}, "compaction", `{"model":"codex","compaction":{%}}`, ``},
		{"/agents", experimentalBody{}, "experimental", `{"model":"codex","experimental":{%}}`, ``},
		{"/agents/sessions", sessionBody{}, "", `{%}`, `"adapter":"codex"`},
		{"/agents/sessions", inlineAgentBody{}, "agent", `{"agent":{%}}`, `"model":"codex"`},
		{"/agents/sessions", noneBody{}, "environment", `{"agent":{"model":"codex"},"input":"x","environment":{%}}`, `"type":"none"`},
		{"/agents/sessions", selfHostedBody{}, "environment", `{"agent":{"model":"codex"},"environment":{%}}`, `"type":"self_hosted"`},
		{"/agents/sessions", hostedBody{}, "environment", `{"agent":{"model":"codex"},"environment":{%}}`, `"type":"openai_hosted"`},
		{"/agents/sessions", cacheBody{}, "prompt_cache_options", `{"agent":{"model":"codex"},"prompt_cache_options":{%}}`, ``},
		{"/agents/sessions", spendBody{}, "spend_control", `{"agent":{"model":"codex"},"spend_control":{%}}`, ``},
		{"/agents/sessions", messageBody{}, "input[0]", `{"agent":{"model":"codex"},"input":[{%}]}`, `"role":"user","content":"x"`},
		{"/agents/sessions", partBody{}, "input[0].content[0]", `{"agent":{"model":"codex"},"input":[{"role":"user","content":[{%}]}]}`, `"type":"input_text","text":"x"`},
		{"/agents/sessions/" + session, updateBody{}, "", `{%}`, ``},
		{"/agents/sessions/" + session, updatedAgentBody{}, "agent", `{"agent":{%}}`, ``},
		{"/agents/sessions/" + session + "/events", eventsBody{}, "", `{%}`, ``},
		{"/agents/sessions/" + session + "/events", messageEventBody{}, "events[0]", `{"events":[{%}]}`, `"type":"agent.session.input.message","input":"x"`},
		{"/agents/sessions/" + session + "/events", cancelEventBody{}, "events[0]", `{"events":[{%}]}`, `"type":"input.cancel"`},
	} {
		book := openapi.NewBook()
		ref := book.Of(c.body, openapi.Read)
		if err := book.Err(); err != nil {
			t.Fatal(err)
		}
		schema := book.Schemas[strings.TrimPrefix(ref.Ref, "#/components/schemas/")]
		given := map[string]stdjson.RawMessage{}
		if err := stdjson.Unmarshal([]byte("{"+c.with+"}"), &given); err != nil {
			t.Fatal(err)
		}
		send := func(name, value string) *answer {
			body := map[string]stdjson.RawMessage{}
			for k, v := range given {
				body[k] = v
			}
			if name != "" {
				body[name] = stdjson.RawMessage(value)
			}
			b, err := stdjson.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			return s.do("POST", c.path, strings.Replace(c.wrap, "%", string(b[1:len(b)-1]), 1))
		}
		place := func(name string) string { return strings.TrimPrefix(c.at+"."+name, ".") }
		if a := send("", ""); a.Status/100 != 2 && c.path != "/agents/sessions/"+session+"/events" {
			t.Errorf("%T as it should be: %d %s", c.body, a.Status, a.Raw)
		}
		for name, p := range schema.Properties {
			if p.Type == nil && p.AnyOf == nil && p.Const == nil && p.Ref == "" {
				continue // anything goes
			}
			a := send(name, wrong(p))
			e, _ := a.Body["error"].(map[string]any)
			param, _ := e["param"].(string)
			if a.Status != 400 || param != place(name) && !strings.HasPrefix(param, place(name)+"[") {
				t.Errorf("%T.%s is described as %v, and %s was answered with %d %s", c.body, name, p.Type, wrong(p), a.Status, a.Raw)
			}
			if len(p.Enum) > 1 {
				a := send(name, `"none of these"`)
				e, _ := a.Body["error"].(map[string]any)
				message, _ := e["message"].(string)
				_, list, ok := strings.Cut(message, "must be one of ")
				if ok && !slices.Equal(strings.Split(list, ", "), words(p)) {
					t.Errorf("%T.%s: described as %v, refused with %q", c.body, name, p.Enum, message)
				}
			}
		}
		a := send("no_such_field", `1`)
		if _, closed := c.body.(openapi.Closed); closed != (a.Status == 400) {
			t.Errorf("%T with another field: %d %s", c.body, a.Status, a.Raw)
		}
	}
}

func words(s *openapi.Schema) (out []string) {
	for _, w := range s.Enum {
		if w, ok := w.(string); ok {
			out = append(out, w)
		}
	}
	return out
}
