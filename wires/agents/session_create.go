package agents

import (
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// headerIgnored names what was in a body and not understood.
const headerIgnored = "X-Agent-Sandbox-Ignored-Params"

// CreateSession is POST /agents/sessions. With stream it answers with the events
// from the session's creation to the idle after its first turn.
func (w *Wire) CreateSession(c *call.Call) {
	f, err := body(c)
	if err != nil {
		c.Fail(err)
		return
	}
	n, in, stream := w.readSession(f)
	if err := f.fault(); err != nil {
		c.Fail(err)
		return
	}
	a, d, err := w.agentFor(c, f)
	if err == nil && in != nil {
		n.Input = in.NewInput
		err = w.load(c, in)
	}
	if err != nil {
		c.Fail(err)
		return
	}
	n.Agent, n.Key = *a, c.Key()
	if ignored := f.unknown(sessionFields...); len(ignored) > 0 {
		c.Ctx.Response.Header.Set(headerIgnored, headerList(ignored))
	}
	posted, err := w.engine.CreateSession(c.Context(), c.Principal, n)
	if err != nil {
		c.Fail(d.named(named(err, []*said{in})))
		return
	}
	if !stream {
		c.JSON(200, sessionObject(&posted.Session))
		return
	}
	s, err := w.engine.Subscribe(c.Context(), c.Principal, posted.Session.ID, posted.Before)
	if err != nil {
		c.Fail(err)
		return
	}
	c.Hijack(&source{stream: s, after: posted.Before, stop: atIdle})
}

// readSession reads everything but the agent.
func (w *Wire) readSession(f *fields) (n *spec.NewSession, in *said, stream bool) {
	n = &spec.NewSession{Environment: w.readEnvironment(f)}
	set(&n.Metadata, f.metadata("metadata"))
	set(&stream, read[bool](f, "stream"))
	x, _ := readExtraFields(f, extras{})
	n.Extra = x.raw()
	set(&n.SpendControl, readSpendControl(f))
	if ids := f.list("vault_ids"); len(ids) > 0 {
		f.fail(event.Unsupported, "vault_ids", "this host has no vaults; leave vault_ids empty")
	}
	if f.given("stream_options") && !stream {
		f.invalid("stream_options", "can only be given together with stream")
	}
	switch kind := n.Environment.Type; {
	case f.given("input"):
		in = readInput(f, "input")
	case kind == spec.EnvNone:
		f.invalid("input", "is required when the environment is none")
	case stream && kind != spec.EnvSelfHosted:
		f.invalid("input", "is required to stream a session in this environment")
	}
	return n, in, stream
}

// agentFor is the agent that a new session gets its copy of: the one of agent_id,
// else the one its model leads to, with the fields of agent over it.
func (w *Wire) agentFor(c *call.Call, f *fields) (*spec.Agent, *definition, error) {
	inline := f.object("agent")
	if inline == nil {
		inline = &fields{at: "agent", err: f.err}
	}
	inline.only(inlineAgentFields...)
	d := readDefinition(inline)
	pin := d.adapter
	for _, name := range []string{"adapter", "runtime"} {
		if s := read[string](f, name); s != nil && pin == "" {
			pin = *s
		}
	}
	pin = pinned(c, pin)
	if d.model == nil && f.given("model") {
		d.model = read[string](f, "model")
	}
	agentID := read[string](f, "agent_id")
	if err := f.fault(); err != nil {
		return nil, &d, err
	}
	a, err := w.baseAgent(c, f.given("agent_id"), agentID, d.model, pin)
	if err != nil {
		return nil, &d, err
	}
	return a, &d, d.apply(a)
}

func (w *Wire) baseAgent(c *call.Call, saved bool, id, model *string, pin string) (*spec.Agent, error) {
	switch {
	case saved:
		a, err := w.agent(c, *id)
		if err != nil || model == nil {
			return a, err
		}
		r, err := w.resolveFor(c, a, *model)
		if err != nil {
			return nil, err
		}
		a.Model = r.Model
		return a, nil
	case model != nil:
		return w.resolve(c, "agent.model", *model, pin)
	case pin != "":
		return w.resolve(c, "agent.model", pin, pin)
	}
	return nil, event.FailParam(event.InvalidRequest, "agent.model",
		"a session needs agent_id, or agent.model: the name of a model, of a saved agent, or of a coding agent such as codex")
}

// headerList joins names for a header; only plain names are repeated there.
func headerList(names []string) string {
	var plain []string
	for _, n := range names {
		if len(n) <= 64 && strings.IndexFunc(n, notPlain) < 0 {
			plain = append(plain, n)
		}
		if len(plain) == 32 {
			break
		}
	}
	return strings.Join(plain, ",")
}

func notPlain(r rune) bool {
	return r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
