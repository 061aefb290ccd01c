package actors

import (
	"context"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// ResolveModel finds what a caller's model means: a saved agent by id or name,
// an adapter by name or alias, else a model of the pinned or default adapter.
// pinned is an adapter's name or alias, or "".
func (h *Host) ResolveModel(ctx context.Context, owner, model, pinned string) (*spec.Agent, error) {
	var pin string
	if pinned != "" {
		r, ok := h.runtimes.byName[pinned]
		if !ok {
			if pinned == spec.Imported {
				return nil, notContinued()
			}
			return nil, event.FailParam(event.ModelNotFound, "adapter", fmt.Sprintf("this host has no adapter %q; it has %s", pinned, h.runtimes.names()))
		}
		pin = r.Adapter.Name()
	}
	if model != "" {
		a, err := h.savedModel(ctx, owner, model)
		if err != nil || a != nil {
			return a, err
		}
		if r, ok := h.runtimes.byName[model]; ok {
			if name := r.Adapter.Name(); pin != "" && pin != name {
				return nil, event.FailParam(event.InvalidRequest, "model", fmt.Sprintf(
					"the model %q is the adapter %s, and this belongs to %s, which cannot go on with another agent; start a new one", model, name, pin))
			}
			return &spec.Agent{Adapter: r.Adapter.Name(), Model: model}, nil
		}
	}
	if pin == "" {
		pin = h.fallback()
	}
	if pin == "" {
		return nil, event.FailParam(event.AdapterRequired, "model", fmt.Sprintf(
			"no adapter takes the model %q; name one of %s as model or in X-ABX-Adapter, or set agents.default", model, h.runtimes.names()))
	}
	if model == "" {
		model = pin
	}
	return &spec.Agent{Adapter: pin, Model: model}, nil
}

// savedModel finds a saved agent by id or name; nil when there is none.
func (h *Host) savedModel(ctx context.Context, owner, model string) (*spec.Agent, error) {
	if id, ok := event.Parse(model, event.PrefixAgent); ok {
		a, err := h.Agent(ctx, owner, id)
		if event.CodeOf(err) == event.AgentNotFound {
			return nil, event.FailParam(event.ModelNotFound, "model", fmt.Sprintf("there is no agent %s", model))
		}
		return a, err
	}
	if spec.ValidAgentName(model) != nil {
		return nil, nil
	}
	named, err := h.AgentsNamed(ctx, owner, model)
	switch {
	case err != nil:
		return nil, err
	case len(named) == 0:
		return nil, nil
	case len(named) > 1:
		return nil, event.FailParam(event.NameAmbiguous, "model", fmt.Sprintf("two agents are named %q: %s and %s; use the id",
			model, named[0].ID.With(event.PrefixAgent), named[1].ID.With(event.PrefixAgent)))
	}
	return named[0], nil
}

// admissible refuses, before anything is stored or spawned, what the session's
// CLI cannot do. in may be nil.
func (h *Host) admissible(ctx context.Context, s *spec.Session, in *spec.NewInput) error {
	r, err := h.runtime(s.Agent.Adapter)
	if err != nil {
		return err
	}
	caps := h.capabilities(r)
	req, err := h.requestOf(r, s, in)
	if err != nil {
		return err
	}
	if err := h.bounded(r, s, req); err != nil {
		return err
	}
	var over *spec.Overrides
	if in != nil {
		over = in.Overrides
	}
	if err := h.providable(r, s, over); err != nil {
		return err
	}
	perm := req.Permissions
	if !hasPermission(caps.Permissions, perm) {
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf(
			"adapter %s cannot run with permissions %s; it can with %v", r.Adapter.Name(), perm, caps.Permissions))
	}
	if err := h.isolable(r); err != nil {
		return err
	}
	if perm == spec.WorkspaceWrite && r.Strict && !caps.Confined && !r.Sandboxed && !confines(h.levels(r)) {
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf(
			"adapter %s does not confine workspace_write and agents.%s.permissions_strict is set; use read_only, an isolation level that confines it, or set sandboxed if this machine is itself the sandbox",
			r.Adapter.Name(), r.Adapter.Name()))
	}
	if err := limitable(&caps, r.Adapter.Name(), s); err != nil {
		return err
	}
	if s.Agent.MultiAgent.Enabled && !caps.Subagents {
		return event.FailParam(event.Unsupported, "multi_agent.enabled", fmt.Sprintf(
			"adapter %s has no subagents; leave multi_agent out, set enabled to false or use another adapter", r.Adapter.Name()))
	}
	if fns := req.Functions; len(fns) > 0 && !caps.Functions {
		return event.FailParam(event.FunctionsUnsupported, "tools", fmt.Sprintf(
			"adapter %s cannot call functions of yours, such as %s; use another agent, or leave them out", r.Adapter.Name(), fns[0].Name))
	}
	if err := h.admit(ctx, r, h.bounds(s), perm, req.MCP); err != nil {
		return err
	}
	if in == nil {
		req.Prompt = "hello" // stands for the one to come; no adapter refuses it
	}
	if in != nil {
		files, err := h.pictures(r, in.Items)
		if err != nil {
			return err
		}
		req.Images = pathsIn(req.Dir, files) // where, is known when the turn runs
	}
	return h.asked(r, "validate", func() error {
		if err := h.validate(r, req); err != nil || in == nil {
			return err
		}
		_, err := h.runtimes.locate(r)
		if h.comes(r, err) { // the turn waits for it
			return nil
		}
		if err != nil {
			return err
		}
		return h.runnable(ctx, r, req)
	})
}

// runnable refuses what the installed program, as it is run, does not take.
func (h *Host) runnable(ctx context.Context, r *RuntimeConfig, req *agent.Request) error {
	if _, ok := r.Adapter.(agent.Flagged); !ok {
		return nil
	}
	if p := h.persistent(r); p != nil {
		run, err := p.Runner(req)
		if err != nil || run == nil {
			return err
		}
		return h.able(ctx, r, run.Args)
	}
	inv, err := r.Adapter.Invocation(req)
	if err != nil || inv == nil {
		return err
	}
	return h.able(ctx, r, inv.Args)
}

// limitable refuses a limit that only the CLI could keep and does not, and a
// budget of what the CLI does not tell.
func limitable(caps *agent.Capabilities, name string, s *spec.Session) error {
	l := s.Agent.Limits
	for _, one := range []struct {
		asked, can   bool
		param, lacks string
	}{
		{l.MaxTurns > 0, caps.MaxTurns, "limits.max_turns", "has no limit of inner turns"},
		{s.SpendControl.Limit > 0, caps.Budget, "spend_control.limit", "does not tell what a turn costs, so no budget in money can be kept"},
		{l.MaxUSD > 0, caps.Budget, "limits.max_budget_usd", "has no budget"},
		{l.SessionUSD > 0, caps.Budget, "limits.max_session_usd", "does not tell what a turn costs"},
		{l.MaxTokens > 0, caps.Usage, "limits.max_tokens", "does not tell how many tokens a turn used"},
		{l.SessionTokens > 0, caps.Usage, "limits.max_session_tokens", "does not tell how many tokens a turn used"},
	} {
		if one.asked && !one.can {
			return event.FailParam(event.Unsupported, one.param, fmt.Sprintf("adapter %s %s; remove %s or use another adapter",
				name, one.lacks, strings.TrimPrefix(one.param, "limits.")))
		}
	}
	return nil
}

func hasPermission(list []spec.Permissions, p spec.Permissions) bool {
	for _, have := range list {
		if have == p {
			return true
		}
	}
	return false
}

// permissions are what the session's agent may do: an environment of type none
// is read-only, else the agent's wish, else the runtime's default as far as its
// owner's policy goes.
func (h *Host) permissions(r *RuntimeConfig, s *spec.Session) spec.Permissions {
	switch {
	case s.Environment.Type == spec.EnvNone:
		return spec.ReadOnly
	case s.Agent.Permissions != "":
		return s.Agent.Permissions
	}
	return h.bounds(s).Ceiling(r.Permissions)
}
