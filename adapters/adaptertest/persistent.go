package adaptertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// RunPersistent runs the suite of an adapter that has a persistent driver only and
// speaks ACP: what it claims is handed on, what it does not is refused, and secrets are
// where nobody reads them. request
// makes one that it takes; facts is its column of the capability matrix, "" for none.
func RunPersistent(t *testing.T, a agent.Only, facts string, request func() *agent.Request) {
	t.Helper()
	caps := a.PersistentCapabilities()
	record := func(feature string, is agent.Support) {
		if facts != "" {
			Record(t, facts, feature, is, "")
		}
	}
	for _, w := range wishes {
		r := request()
		w.ask(r)
		claimed := w.promised == nil || w.promised(caps)
		err := a.ValidatePersistent(r)
		f, refused := event.AsFailure(err)
		switch {
		case err != nil && !refused:
			t.Errorf("%s: %v is no failure", w.feature, err)
		case refused && (f.Param == "" || w.promised != nil && claimed):
			t.Errorf("%s is refused without the name of a field, or claimed: %v", w.feature, f)
		case refused, !claimed && w.engine:
			record(w.feature, agent.Refused)
		case strings.Contains(served(t, a, r), w.mark):
			record(w.feature, agent.PassedThrough)
		case w.promised != nil && !claimed:
			record(w.feature, agent.Lacking)
		default:
			t.Errorf("%s is neither refused nor handed on", w.feature)
		}
	}
	for _, p := range allPermissions {
		r := request()
		r.Permissions = p
		is := agent.PassedThrough
		f, refused := event.AsFailure(a.ValidatePersistent(r))
		if claimed := slices.Contains(caps.Permissions, p); refused == claimed || refused && f.Param != "permissions" {
			t.Errorf("%s is claimed %v and refused %v", p, claimed, f)
		}
		if refused {
			is = agent.Refused
		}
		record("permission_"+string(p), is)
		if p == spec.Ask {
			record("approvals", is)
		}
	}
	r := request()
	r.Native, r.Instructions = "01a00000-0000-7000-8000-000000000001", "mark instructions"
	said := served(t, a, r)
	for feature, mark := range map[string]string{"resume": r.Native, "instructions_resumed_turn": r.Instructions} {
		if !strings.Contains(said, mark) {
			t.Errorf("%s: %q is not handed on", feature, mark)
		}
		record(feature, agent.PassedThrough)
	}
	record("subagents", agent.Refused)
	if caps.Subagents {
		t.Error("subagents are claimed")
	}
	secrets(t, a, request())
	injected(t, a, request)
	if err := a.Validate(request()); event.CodeOf(err) != event.Unsupported {
		t.Errorf("the exec driver: %v", err)
	}
}

// secrets looks for values where other users of the machine could read them.
func secrets(t *testing.T, a agent.Only, r *agent.Request) {
	t.Helper()
	r.LLM.APIKey = "sk-secret-0123456789"
	r.MCP = map[string]spec.MCPServer{
		"docs": {URL: "https://mcp.example.com", Headers: map[string]string{"X-Key": "key-secret-0123456789"}},
		"echo": {Command: "echo-server", Env: map[string]string{"T": "tok-secret-0123456789"}},
	}
	run, err := a.Runner(r)
	if err != nil {
		t.Fatal(err)
	}
	b := strings.Join(append(run.Args, run.Resume...), " ") + run.Apart
	for _, f := range run.Files {
		b += string(f.Data)
	}
	if strings.Contains(b, "secret") {
		t.Errorf("a secret is in %s", b)
	}
}

// served is all that a turn tells a process: what it is started with and what is
// written to one that agrees to everything.
func served(t *testing.T, a agent.Persistent, r *agent.Request) string {
	t.Helper()
	run, err := a.Runner(r)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, run.Args, run.Env)
	for _, f := range run.Files {
		b.Write(f.Data)
	}
	p := a.NewProtocol()
	var talk agent.Talk
	p.Hello(&talk)
	asked := false
	for rounds := 0; rounds < 20 && talk.Broken == ""; rounds++ {
		b.Write(talk.Write)
		lines, ready := talk.Write, talk.Ready
		talk = agent.Talk{}
		for line := range bytes.Lines(lines) {
			if answer := agree(line); answer != nil {
				p.Feed(answer, &talk)
			}
		}
		if (ready || talk.Ready) && !asked {
			asked = true
			p.Ask(r.Turn, r, &talk)
		}
		if len(talk.Write) == 0 && asked {
			break
		}
	}
	if talk.Broken != "" {
		t.Errorf("broken: %s", talk.Broken)
	}
	return b.String()
}

// agree is the answer of a runner that agrees to a request; nil for what is none.
func agree(line []byte) []byte {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(line, &m) != nil || m.ID == nil {
		return nil
	}
	result := map[string]string{
		"initialize":  `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true},"sessionCapabilities":{"resume":{},"close":{}}}}`,
		"session/new": `{"sessionId":"s1","models":{"availableModels":[{"modelId":"mark-model"}]}}`, "session/prompt": `{"stopReason":"end_turn"}`,
	}[m.Method]
	if result == "" {
		result = "{}"
	}
	return []byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}
