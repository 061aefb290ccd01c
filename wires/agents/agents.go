package agents

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// CreateAgent is POST /agents. A model that names a saved agent lends its adapter
// and model, nothing else.
func (w *Wire) CreateAgent(c *call.Call) {
	f, err := body(c)
	if err != nil {
		c.Fail(err)
		return
	}
	f.only(agentFields...)
	d := readDefinition(f)
	if d.model == nil {
		f.invalid("model", "is required: the name of a model, or of a coding agent such as codex")
	}
	if err := f.fault(); err != nil {
		c.Fail(err)
		return
	}
	r, err := w.resolve(c, "model", *d.model, pinned(c, d.adapter))
	if err != nil {
		c.Fail(err)
		return
	}
	a := r
	if r.Saved {
		a = &spec.Agent{Adapter: r.Adapter, Model: r.Model}
	}
	if err := d.apply(a); err != nil {
		c.Fail(err)
		return
	}
	a.ID, a.Owner, a.Saved = event.NewID(), c.Principal, true
	a.Created = w.now().Unix()
	a.Updated = a.Created
	if err := w.engine.CreateAgent(c.Context(), c.Principal, a, c.Key()); err != nil {
		c.Fail(d.named(err))
		return
	}
	c.JSON(200, newAgentObject(a))
}

// GetAgent is GET /agents/{agent_id}.
func (w *Wire) GetAgent(c *call.Call) {
	a, err := w.agent(c, c.Param("agent_id"))
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, newAgentObject(a))
}

// UpdateAgent is POST /agents/{agent_id}. Sessions keep the copy they were made
// with.
func (w *Wire) UpdateAgent(c *call.Call) {
	a, err := w.agent(c, c.Param("agent_id"))
	if err != nil {
		c.Fail(err)
		return
	}
	f, err := body(c)
	if err != nil {
		c.Fail(err)
		return
	}
	f.only(agentFields...)
	d := readDefinition(f)
	if err := f.fault(); err != nil {
		c.Fail(err)
		return
	}
	if d.model != nil {
		r, err := w.resolve(c, "model", *d.model, a.Adapter)
		if err != nil {
			c.Fail(err)
			return
		}
		a.Adapter, a.Model = r.Adapter, r.Model
	}
	if err := d.apply(a); err != nil {
		c.Fail(err)
		return
	}
	a.Updated = w.now().Unix()
	if err := w.engine.SaveAgent(c.Context(), c.Principal, a); err != nil {
		c.Fail(d.named(err))
		return
	}
	c.JSON(200, newAgentObject(a))
}

// ListAgents is GET /agents.
func (w *Wire) ListAgents(c *call.Call) {
	p, err := page(c, event.PrefixAgent)
	if err != nil {
		c.Fail(err)
		return
	}
	list, more, err := w.engine.Agents(c.Context(), c.Principal, p)
	list = slices.DeleteFunc(list, func(a *spec.Agent) bool { return hidden(c, a) })
	answerList(c, list, more, err, func(a *spec.Agent) (string, any) {
		return a.ID.With(event.PrefixAgent), newAgentObject(a)
	})
}

// DeleteAgent is DELETE /agents/{agent_id}.
func (w *Wire) DeleteAgent(c *call.Call) {
	a, err := w.agent(c, c.Param("agent_id"))
	if err == nil {
		err = missing(w.engine.DeleteAgent(c.Context(), c.Principal, a.ID), event.AgentNotFound, "agent", c.Param("agent_id"))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, deletedObject{ID: a.ID.With(event.PrefixAgent), Deleted: true, Object: "agent.deleted"})
}

// hidden says that an agent of the configuration is none for this caller, who may not
// run it. An agent that the caller saved is its own, whatever the policy says by now.
func hidden(c *call.Call, a *spec.Agent) bool { return a.Locked && !c.Subject.Uses(a.Adapter) }

// agent looks a saved agent up; the result is the caller's own copy.
func (w *Wire) agent(c *call.Call, id string) (*spec.Agent, error) {
	parsed, ok := event.Parse(id, event.PrefixAgent)
	if !ok {
		return nil, notFound(event.AgentNotFound, "agent", id)
	}
	a, err := w.engine.Agent(c.Context(), c.Principal, parsed)
	if err == nil && hidden(c, a) {
		return nil, notFound(event.AgentNotFound, "agent", id)
	}
	if err != nil {
		return nil, missing(err, event.AgentNotFound, "agent", id)
	}
	copied := *a
	return &copied, nil
}
