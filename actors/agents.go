package actors

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

const agentKind = "agent"

// ExportedKinds are the kinds of saved records that are whole without files beside
// the store.
func ExportedKinds() []string { return []string{agentKind} }

// configured gives the agents of the configuration ids that stay the same over
// restarts. They live in memory and belong to everybody.
func configured(list []spec.Agent) []spec.Agent {
	own := slices.Clone(list)
	for i := range own {
		a := &own[i]
		sum := sha256.Sum256([]byte("configured agent\x00" + a.Name))
		a.ID = event.ID(sum[:16])
		a.Saved, a.Locked = true, true
	}
	return own
}

// CreateAgent keeps a new saved agent, and only one for a key: the repeat of a
// request changes a to the agent that the first one made.
func (h *Host) CreateAgent(ctx context.Context, owner string, a *spec.Agent, key *spec.Key) error {
	done, earlier, err := h.claimed(ctx, owner, key)
	if err != nil {
		return err
	}
	if earlier != nil {
		made, err := h.Agent(ctx, owner, earlier.Record)
		if err == nil {
			*a = *made
		}
		return err
	}
	defer done()
	stored, err := h.recordKey(owner, key, a.ID)
	if err != nil {
		return err
	}
	if err := h.agents.take(ctx, h, owner); err != nil {
		return err
	}
	if err := h.saveAgent(ctx, owner, a, stored); err != nil {
		h.agents.give(owner)
		return err
	}
	return nil
}

// SaveAgent inserts or replaces a saved agent by its id.
func (h *Host) SaveAgent(ctx context.Context, owner string, a *spec.Agent) error {
	return h.saveAgent(ctx, owner, a, nil)
}

func (h *Host) saveAgent(ctx context.Context, owner string, a *spec.Agent, key *store.Key) error {
	if err := h.writable(a.ID); err != nil {
		return err
	}
	if err := cmp.Or(spec.ValidAgentName(a.Name), spec.ValidModel(a.Model)); err != nil {
		return err
	}
	if _, taken := h.runtimes.byName[a.Name]; taken && a.Name != "" {
		return event.FailParam(event.NameTaken, "name", fmt.Sprintf("%q is the name of an adapter; choose another name", a.Name))
	}
	own := *a
	own.Owner, own.Saved = owner, true
	if r, err := h.runtime(own.Adapter); err == nil {
		if err := h.admit(ctx, r, h.subject(owner).Adapter(own.Adapter).Bounds, cmp.Or(own.Permissions, r.Permissions), own.MCP); err != nil {
			return err
		}
		as := &spec.Session{Owner: owner, Agent: spec.Agent{Adapter: own.Adapter}, Metadata: own.Metadata} // where this request has them
		if err := h.providable(r, as, nil); err != nil {
			return err
		}
	}
	if err := h.keepAgent(&own); err != nil {
		return err
	}
	body, err := json.Marshal(&own)
	if err != nil {
		return event.Fail(event.InvalidRequest, "the agent cannot be stored: "+err.Error())
	}
	if err := h.usable(); err != nil {
		return err
	}
	err = h.store.PutRecord(ctx, &store.Record{Kind: agentKind, ID: a.ID, Owner: owner, Name: a.Name, Created: a.Created, Body: body, Key: key})
	if err != nil && own.Secrets != a.Secrets {
		h.bag.Drop(own.Secrets)
	}
	if errors.Is(err, store.ErrExists) { // another principal's, which is none of this one's business
		return event.Fail(event.AgentNotFound, "there is no such agent")
	}
	if err != nil {
		return storeFailure(err)
	}
	if own.Secrets != a.Secrets {
		h.bag.Retire(a.Secrets)
	}
	*a = own
	return nil
}

// writable refuses a change of a configured agent, and every change on a locked
// host.
func (h *Host) writable(id event.ID) error {
	if h.cfg.locked {
		return event.Fail(event.DefinitionsLocked, "saved agents are locked on this host (lock_definitions)")
	}
	for i := range h.cfg.agents {
		if h.cfg.agents[i].ID == id {
			return event.Fail(event.DefinitionsLocked, "this agent comes from the host's configuration; change it there")
		}
	}
	return nil
}

// Agent reads a saved agent.
func (h *Host) Agent(ctx context.Context, owner string, id event.ID) (*spec.Agent, error) {
	for i := range h.cfg.agents {
		if h.cfg.agents[i].ID == id {
			a := h.cfg.agents[i]
			return &a, nil
		}
	}
	if err := h.usable(); err != nil {
		return nil, err
	}
	rec, err := h.store.GetRecord(ctx, agentKind, owner, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, event.Fail(event.AgentNotFound, "there is no such agent")
	}
	if err != nil {
		return nil, storeFailure(err)
	}
	return agentOf(rec)
}

func agentOf(rec *store.Record) (*spec.Agent, error) {
	a := new(spec.Agent)
	if err := json.Unmarshal(rec.Body, a); err != nil {
		return nil, storeFailure(fmt.Errorf("%w: agent %s: %w", store.ErrCorrupt, rec.ID, err))
	}
	return a, nil
}

// AgentsNamed finds saved agents by name.
func (h *Host) AgentsNamed(ctx context.Context, owner, name string) ([]*spec.Agent, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	recs, err := h.store.RecordsNamed(ctx, agentKind, owner, name)
	if err != nil {
		return nil, storeFailure(err)
	}
	out := make([]*spec.Agent, 0, len(recs)+1)
	for i := range h.cfg.agents {
		if a := h.cfg.agents[i]; a.Name == name {
			out = append(out, &a)
		}
	}
	for _, rec := range recs {
		a, err := agentOf(rec)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Agents lists saved agents by creation; those of the configuration count as the
// oldest.
func (h *Host) Agents(ctx context.Context, owner string, p spec.Page) ([]*spec.Agent, bool, error) {
	if err := h.usable(); err != nil {
		return nil, false, err
	}
	if p.Limit <= 0 {
		p.Limit = math.MaxInt32
	}
	fixed := make([]*spec.Agent, 0, len(h.cfg.agents))
	for i := range h.cfg.agents {
		a := h.cfg.agents[i]
		fixed = append(fixed, &a)
	}
	fixed = reversed(fixed, p.Desc)
	at := -1
	for i, a := range fixed {
		if a.ID == p.After {
			at = i
		}
	}
	if p.Desc {
		return h.agentsNewestFirst(ctx, owner, p, fixed, at)
	}
	if p.After.IsZero() || at >= 0 {
		fixed = fixed[at+1:]
		if len(fixed) > p.Limit {
			return fixed[:p.Limit], true, nil
		}
		p.After = event.ID{}
	} else {
		fixed = nil
	}
	rest := p
	rest.Limit = p.Limit - len(fixed)
	if rest.Limit == 0 {
		list, _, err := h.storedAgents(ctx, owner, spec.Page{Limit: 1})
		return fixed, len(list) > 0, err
	}
	list, more, err := h.storedAgents(ctx, owner, rest)
	return append(fixed, list...), more, err
}

func (h *Host) agentsNewestFirst(ctx context.Context, owner string, p spec.Page, fixed []*spec.Agent, at int) ([]*spec.Agent, bool, error) {
	if at >= 0 {
		fixed = fixed[at+1:]
		return fixed[:min(len(fixed), p.Limit)], len(fixed) > p.Limit, nil
	}
	list, more, err := h.storedAgents(ctx, owner, p)
	if err != nil || more {
		return list, more, err
	}
	room := min(p.Limit-len(list), len(fixed))
	return append(list, fixed[:room]...), room < len(fixed), nil
}

func (h *Host) storedAgents(ctx context.Context, owner string, p spec.Page) ([]*spec.Agent, bool, error) {
	recs, more, err := h.store.Records(ctx, agentKind, owner, p)
	if err != nil {
		return nil, false, cursorFailure(err)
	}
	out := make([]*spec.Agent, 0, len(recs))
	for _, rec := range recs {
		a, err := agentOf(rec)
		if err != nil {
			return nil, false, err
		}
		out = append(out, a)
	}
	return out, more, nil
}

// DeleteAgent removes a saved agent; sessions that use it keep their copy.
func (h *Host) DeleteAgent(ctx context.Context, owner string, id event.ID) error {
	if err := h.writable(id); err != nil {
		return err
	}
	if err := h.usable(); err != nil {
		return err
	}
	err := h.store.DeleteRecord(ctx, agentKind, owner, id)
	if errors.Is(err, store.ErrNotFound) {
		return event.Fail(event.AgentNotFound, "there is no such agent")
	}
	if err != nil {
		return storeFailure(err)
	}
	h.agents.give(owner)
	h.bag.DropOwner(id)
	return nil
}
