package adaptertest

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
)

// wish is a feature that a request can ask for.
type wish struct {
	feature string
	ask     func(*agent.Request)
	// mark is what must then be somewhere in the invocation.
	mark string
	// promised says that the adapter claims it; nil for one that Validate decides.
	// What is not claimed and not refused by Validate is refused by the engine if
	// it says so.
	promised func(agent.Capabilities) bool
	engine   bool
}

var wishes = []wish{
	{"model", func(r *agent.Request) { r.Model = "mark-model" }, "mark-model", nil, false},
	{"instructions_first_turn", func(r *agent.Request) { r.Instructions = "mark instructions" }, "mark instructions", nil, false},
	{"reasoning_effort", func(r *agent.Request) { r.Reasoning.Effort = "high" }, "high", func(c agent.Capabilities) bool { return c.Reasoning }, false},
	{"output_schema", func(r *agent.Request) {
		r.Text = spec.TextFormat{Type: "json_schema", Name: "n", Schema: []byte(`{"type":"object","title":"mark"}`)}
	}, `"title":"mark"`, func(c agent.Capabilities) bool { return c.Schema }, false},
	{"images", func(r *agent.Request) { r.Images = []string{"/run/turn/mark.png"} }, "/run/turn/mark.png", func(c agent.Capabilities) bool { return c.Images }, true},
	{"max_turns", func(r *agent.Request) { r.Limits.MaxTurns = 4711 }, "4711", func(c agent.Capabilities) bool { return c.MaxTurns }, true},
	{"budget", func(r *agent.Request) { r.Limits.MaxUSD = 4.711 }, "4.711", func(c agent.Capabilities) bool { return c.Budget }, true},
	{"base_url", func(r *agent.Request) { r.LLM.BaseURL = "https://mark.example.com/v1" }, "https://mark.example.com", func(c agent.Capabilities) bool { return c.BaseURL }, false},
	{"mcp_tools", func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"docs": {Command: "mark-server"}} }, "mark-server", func(c agent.Capabilities) bool { return c.MCP }, false},
	{"function_tools", func(r *agent.Request) {
		r.Functions = []spec.Function{{Name: "mark", Parameters: []byte(`{"type":"object"}`)}}
		r.Host = &agent.HostServer{Name: "host", URL: "http://127.0.0.1:4711/mark", TokenEnv: "HOST_TOKEN", Token: "t", Timeout: time.Minute}
	}, "http://127.0.0.1:4711/mark", func(c agent.Capabilities) bool { return c.Functions }, true},
}

// features finds out what becomes of each wish and records it. An adapter that
// claims a feature must hand it on; one that does not may refuse it or, where a
// turn makes sense without, leave it out.
func (s suite) features(t *testing.T) {
	if s.c.Facts == "" {
		t.Skip("a declaration beside the one whose facts are kept")
	}
	caps := s.a.Capabilities()
	record := func(feature string, is agent.Support) { Record(t, s.c.Facts, feature, is, "") }
	for _, w := range wishes {
		r := Request(s.a)
		w.ask(r)
		inv, f := s.invoke(t, r)
		claimed := w.promised == nil || w.promised(caps)
		switch {
		case f != nil:
			if f.Param == "" || w.promised != nil && claimed {
				t.Errorf("%s is refused without the name of a field, or claimed: %v", w.feature, f)
			}
			record(w.feature, agent.Refused)
		case !claimed && w.engine:
			record(w.feature, agent.Refused)
		case carries(inv, w.mark):
			record(w.feature, agent.PassedThrough)
		case w.promised != nil && !claimed:
			record(w.feature, agent.Lacking)
		default:
			t.Errorf("%s is neither refused nor handed on", w.feature)
		}
	}
	caps = s.byDefault(caps)
	for _, p := range allPermissions {
		is := agent.Refused
		if slices.Contains(caps.Permissions, p) {
			is = agent.PassedThrough
		}
		record("permission_"+string(p), is) // the part "permissions" has looked
		if p == spec.Ask {
			record("approvals", is)
		}
	}
	if caps.Subagents {
		record("subagents", agent.PassedThrough) // the parser's transcripts have them
	} else {
		record("subagents", agent.Refused)
	}
	if !caps.TextDeltas {
		record("deltas", agent.Lacking)
	}
	s.resumed(t, record)
}

// byDefault are the capabilities of the driver that "auto" takes for the pinned CLI.
func (s suite) byDefault(exec agent.Capabilities) agent.Capabilities {
	if p, ok := s.a.(agent.Persistent); ok && len(p.Certified()) > 0 {
		return p.PersistentCapabilities()
	}
	return exec
}

// resumed looks at a turn that goes on with a conversation.
func (s suite) resumed(t *testing.T, record func(string, agent.Support)) {
	r := Request(s.a)
	r.Native, r.Instructions = s.c.Native, "mark instructions"
	if !s.a.Capabilities().Resume {
		record("resume", agent.Lacking)
		record("instructions_resumed_turn", agent.Lacking)
		return
	}
	inv := s.must(t, r)
	for feature, mark := range map[string]string{"resume": s.c.Native, "instructions_resumed_turn": "mark instructions"} {
		if !carries(inv, mark) {
			t.Errorf("%s: %q is not handed on", feature, mark)
		}
		record(feature, agent.PassedThrough)
	}
}

// carries reports whether a text reaches the CLI in any way.
func carries(inv *agent.Invocation, text string) bool {
	return bytes.Contains(inv.Stdin, []byte(text)) ||
		slices.ContainsFunc(inv.Args, func(a string) bool { return strings.Contains(a, text) }) ||
		slices.ContainsFunc(inv.Env, func(e string) bool { return strings.Contains(e, text) }) ||
		slices.ContainsFunc(inv.Files, func(f agent.File) bool { return bytes.Contains(f.Data, []byte(text)) })
}
