package agents

import (
	"context"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/call/calltest"
)

// judging is an engine that looks at what a body was read as, and takes nothing.
type judging struct {
	*fakeEngine
	judge func(read any) error
}

func (e judging) CreateSession(_ context.Context, _ string, n *spec.NewSession) (*call.Posted, error) {
	return nil, e.judge(n)
}

func (e judging) Post(_ context.Context, _ string, _ event.ID, actions []spec.Action, _ *spec.Key) (*call.Posted, error) {
	return nil, e.judge(actions)
}

func (e judging) UpdateSession(_ context.Context, _ string, _ event.ID, u *spec.Update) (*fold.Session, error) {
	return nil, e.judge(u)
}

func (e judging) CreateAgent(_ context.Context, _ string, a *spec.Agent, _ *spec.Key) error {
	return e.judge(a)
}

func (e judging) SaveAgent(_ context.Context, _ string, a *spec.Agent) error { return e.judge(a) }

// FuzzBodies: any body is answered by each operation that takes one, with a refusal
// that is the caller's fault, and what it is read as is sound.
func FuzzBodies(f *testing.F) {
	for _, s := range []string{
		`{"model":"codex","name":"a","instructions":"be brief","metadata":{"a":"b"},"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`,
		`{"agent":{"model":"codex","text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}}},"environment":{"type":"self_hosted","workspace_directory":"/w"},"input":"hi"}`,
		`{"agent":{"model":"codex"},"input":[{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]}`,
		`{"events":[{"type":"agent.session.input.message","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}]},{"type":"agent.session.input.cancel"}]}`,
		`{"events":[{"type":"agent.session.input.tool_result","tool_call_id":"c","output":"x"}]}`,
		`{"agent":{"model":"x","reasoning":{"effort":"low"},"multi_agent":{"enabled":false}},"spend_control":{"limit":{"amount":"1"}},"metadata":{}}`,
		`{"agent":{"tools":[{"type":"mcp","server_label":"docs","transport":{"type":"http","url":"https://x.example/mcp","headers":{"A":"b"}}}]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		engine := newFakeEngine(t)
		agent := &spec.Agent{ID: event.NewID(), Owner: "alice", Adapter: "codex", Model: "codex"}
		engine.agents = append(engine.agents, agent)
		w := New(judging{engine, func(read any) error {
			calltest.Sound(t, read)
			return event.Fail(event.QueueFull, "a body was read to its end")
		}}, Options{Hosted: true})
		session := event.NewID().With(event.PrefixSession)
		for operation, one := range map[string]struct {
			handle call.Handler
			name   string
			value  string
		}{
			"POST /agents":                              {w.CreateAgent, "", ""},
			"POST /agents/{agent_id}":                   {w.UpdateAgent, "agent_id", agent.ID.With(event.PrefixAgent)},
			"POST /agents/sessions":                     {w.CreateSession, "", ""},
			"POST /agents/sessions/{session_id}":        {w.UpdateSession, "session_id", session},
			"POST /agents/sessions/{session_id}/events": {w.SendEvents, "session_id", session},
		} {
			c := calltest.Post(one.handle, "alice", body, one.name, one.value)
			calltest.Refused(t, operation, c)
			checkAnswer(t, operation, c.Ctx)
		}
	})
}
