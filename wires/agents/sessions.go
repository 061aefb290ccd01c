package agents

import (
	stdjson "encoding/json"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// GetSession is GET /agents/sessions/{session_id}.
func (w *Wire) GetSession(c *call.Call) {
	s, err := w.session(c)
	if err != nil {
		c.Fail(err)
		return
	}
	w.queued(c, s)
	c.JSON(200, sessionObject(s))
}

// UpdateSession is POST /agents/sessions/{session_id}: what the next turn runs
// with. A session keeps its adapter.
func (w *Wire) UpdateSession(c *call.Call) {
	s, err := w.session(c)
	if err != nil {
		c.Fail(err)
		return
	}
	f, err := body(c)
	if err != nil {
		c.Fail(err)
		return
	}
	f.only(updateFields...)
	u := &spec.Update{Metadata: f.metadata("metadata")}
	if x, changed := readExtraFields(f, readExtras(s.Settings.Extra)); changed {
		raw := x.raw()
		u.Extra = &raw
	}
	u.SpendControl = readSpendControl(f)
	var d definition
	if a := f.object("agent"); a != nil {
		a.only(updatedAgentFields...)
		d = readDefinition(a)
		u.Model, u.Instructions, u.Reasoning, u.ServiceTier = d.model, d.instructions, d.reasoning, d.tier
		if d.tools != nil {
			u.Tools, u.Functions, u.MCP = &d.tools.list, &d.tools.functions, &d.tools.servers
		}
		if r := d.reasoning; r != nil && !a.object("reasoning").mentions("summary") {
			r.Summary = s.Settings.Agent.Reasoning.Summary
		}
	}
	if err := f.fault(); err != nil {
		c.Fail(err)
		return
	}
	if u.Model != nil {
		r, err := w.resolveFor(c, &s.Settings.Agent, *u.Model)
		if err != nil {
			c.Fail(err)
			return
		}
		u.Model = &r.Model
	}
	s, err = w.engine.UpdateSession(c.Context(), c.Principal, s.ID, u)
	if err != nil {
		c.Fail(d.named(missing(err, event.SessionNotFound, "session", c.Param("session_id"))))
		return
	}
	w.queued(c, s)
	c.JSON(200, sessionObject(s))
}

// mentions is has for an object that may be missing.
func (f *fields) mentions(name string) bool { return f != nil && f.has(name) }

// resolveFor finds a model for an agent that keeps its adapter.
func (w *Wire) resolveFor(c *call.Call, a *spec.Agent, model string) (*spec.Agent, error) {
	r, err := w.resolve(c, "agent.model", model, a.Adapter)
	if err != nil {
		return nil, err
	}
	if r.Adapter != a.Adapter {
		return nil, event.FailParam(event.InvalidRequest, "agent.model",
			"agent.model belongs to "+r.Adapter+", and this agent runs on "+a.Adapter+"; create another one for it")
	}
	return r, nil
}

// ListSessions is GET /agents/sessions, with the filters agent_id and
// metadata[name].
func (w *Wire) ListSessions(c *call.Call) {
	p, err := page(c, event.PrefixSession, event.PrefixConversation)
	if err != nil {
		c.Fail(err)
		return
	}
	q := spec.SessionQuery{Settled: true}
	for k, v := range c.Ctx.QueryArgs().All() {
		name, ok := strings.CutPrefix(string(k), "metadata")
		if !ok {
			continue
		}
		if len(name) < 3 || name[0] != '[' || name[len(name)-1] != ']' {
			c.Fail(event.FailParam(event.InvalidRequest, "metadata", "metadata is a filter by name: metadata[name]=value"))
			return
		}
		if q.Metadata == nil {
			q.Metadata = map[string]string{}
		}
		q.Metadata[name[1:len(name)-1]] = string(v)
	}
	var list []*fold.Session
	var more bool
	nobody := false
	if agent, ok := c.Query("agent_id"); ok {
		q.AgentID, ok = event.Parse(agent, event.PrefixAgent)
		nobody = !ok || q.AgentID.IsZero() // no session is of an agent that cannot be
	}
	if !nobody {
		list, more, err = w.engine.Sessions(c.Context(), c.Principal, q, p)
	}
	w.queued(c, list...)
	answerList(c, list, more, err, func(s *fold.Session) (string, any) {
		return s.ID.With(event.PrefixSession), sessionObject(s)
	})
}

// DeleteSession is DELETE /agents/sessions/{session_id}. Running work is cancelled
// first.
func (w *Wire) DeleteSession(c *call.Call) {
	s, err := w.session(c)
	if err == nil {
		err = missing(w.engine.DeleteSession(c.Context(), c.Principal, s.ID), event.SessionNotFound, "session", c.Param("session_id"))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, deletedObject{ID: s.ID.With(event.PrefixSession), Deleted: true, Object: "agent.session.deleted"})
}

// sessionID reads the path's session; either wire's name of it will do.
func sessionID(c *call.Call) (event.ID, error) {
	id, ok := c.ID("session_id", event.PrefixSession, event.PrefixConversation)
	if !ok {
		return id, notFound(event.SessionNotFound, "session", c.Param("session_id"))
	}
	return id, nil
}

// session looks the path's session up. A conversation that has no agent yet is none:
// a session of this wire has an agent with a model, and to invent one would be to
// promise it.
func (w *Wire) session(c *call.Call) (*fold.Session, error) {
	id, err := sessionID(c)
	if err != nil {
		return nil, err
	}
	s, err := w.engine.Session(c.Context(), c.Principal, id)
	if err != nil {
		return nil, missing(err, event.SessionNotFound, "session", c.Param("session_id"))
	}
	if s.Settings != nil && !s.Settings.Settled() {
		return nil, notFound(event.SessionNotFound, "session", c.Param("session_id"))
	}
	return s, nil
}

// readExtraFields reads the settings that only this wire knows over x.
func readExtraFields(f *fields, x extras) (_ extras, changed bool) {
	if f.has("prompt_cache_options") {
		x.PromptCacheOptions, changed = nil, true
		if o := f.object("prompt_cache_options"); o != nil {
			o.only(cacheFields...)
			if ttl := o.word("ttl", cacheTimes...); ttl != nil && *ttl != "" {
				x.PromptCacheOptions = stdjson.RawMessage(`{"ttl":"` + *ttl + `"}`)
			}
		}
	}
	if review := f.word("review", reviews...); review != nil {
		x.Review, changed = *review, true
		if *review == "auto_review" {
			f.fail(event.Unsupported, "review", "this host does not review what an agent does; its permissions say what it may")
		}
	}
	return x, changed
}

// maxSpendCents is a hundred million dollars.
const maxSpendCents = 10_000_000_000

// readSpendControl reads a caller's budget; nil when it says nothing of it. null is
// no budget, an object without a limit one that is only told.
func readSpendControl(f *fields) *spec.SpendControl {
	if !f.has("spend_control") {
		return nil
	}
	s := new(spec.SpendControl)
	o := f.object("spend_control")
	if o == nil {
		return s
	}
	o.only(spendFields...)
	s.Asked = true
	if o.given("limit") {
		set(&s.Limit, read[int64](o, "limit"))
		if s.Limit < 1 || s.Limit > maxSpendCents {
			o.invalid("limit", "must be US cents from 1 to %d, or null for no limit", int64(maxSpendCents))
		}
	}
	return s
}
