package actors

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
)

// WithPolicy sets what principals may do with adapters, and within which bounds their
// turns run. Default: everything.
func WithPolicy(r *policy.Roster) Option { return func(c *config) { c.policy = r } }

// subject is what a principal may do; nil, everything. Without a policy the owner of
// a session may go on with it whatever became of its token.
func (h *Host) subject(owner string) *policy.Subject {
	if !h.cfg.policy.Configured() {
		return nil
	}
	return h.cfg.policy.Of(owner)
}

// may refuses what neither the owner of a session, nor who acts for it, may do with an
// adapter.
func (h *Host) may(ctx context.Context, owner, adapter string, v policy.Verb) error {
	if acting := policy.From(ctx); acting != nil && acting.ID != owner {
		if err := acting.Adapter(adapter).Decide(v).Err(); err != nil {
			return err
		}
	}
	return h.subject(owner).Adapter(adapter).Decide(v).Err()
}

// bounds are those of a session's turns, which run for its owner whoever feeds them.
func (h *Host) bounds(s *spec.Session) *policy.Bounds {
	return h.subject(s.Owner).Adapter(s.Agent.Adapter).Bounds
}

// limits are what a turn of the session may take: the agent's own, else the host's,
// and at most what its owner's policy lets it.
func (h *Host) limits(s *spec.Session) spec.Limits {
	l := s.Agent.Limits
	def(&l.TurnTimeout, h.cfg.limits.TurnTimeout)
	def(&l.OutputBytes, h.cfg.limits.MaxOutputBytes)
	return h.bounds(s).Limits(l)
}

// bounded refuses what a turn would be beyond its owner's bounds. It looks at the
// workspace on the disk, so it is not for a Receive.
func (h *Host) bounded(r *RuntimeConfig, s *spec.Session, req *agent.Request) error {
	b := h.bounds(s)
	if b == nil {
		return nil
	}
	if r.Declared {
		if err := b.Command(r.Binary); err != nil {
			return err
		}
	}
	if err := b.Model("model", req.Model); err != nil {
		return err
	}
	if err := b.Permissions("permissions", req.Permissions); err != nil {
		return err
	}
	caps := h.capabilities(r)
	if req.Permissions != spec.ReadOnly && (!caps.Confined || req.Permissions == spec.FullAccess) && !r.Sandboxed {
		if err := b.Unconfined(r.Adapter.Name(), req.Permissions); err != nil {
			return err
		}
	}
	if b.MaxTurns > 0 && s.Agent.Limits.MaxTurns == 0 && !caps.MaxTurns {
		return event.FailParam(event.PermissionDenied, "model", fmt.Sprintf(
			"the policy bounds the inner turns of your agents (scope.max_turns), and adapter %s has no such limit; use an agent of an adapter that has%s, or have max_turns taken out of the scope of the statement that allows agents.%[1]s.sessions.*",
			r.Adapter.Name(), h.counting(s.Owner)))
	}
	if !s.Agent.Locked {
		for _, name := range slices.Sorted(maps.Keys(s.Agent.Env)) {
			if err := b.Env("env."+name, name); err != nil {
				return err
			}
		}
	}
	return h.workspaceWithin(s, b)
}

// counting names the owner's adapters that have a limit of inner turns.
func (h *Host) counting(owner string) string {
	var names []string
	may := h.subject(owner)
	for _, r := range h.runtimes.list {
		if name := r.Adapter.Name(); h.capabilities(r).MaxTurns && may.Adapter(name).Decide(policy.Start).Allowed {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	slices.Sort(names)
	return " (" + strings.Join(names, ", ") + ")"
}

// workspaceWithin refuses a workspace outside the policy's directories, and one that
// leads out of them by a link.
func (h *Host) workspaceWithin(s *spec.Session, b *policy.Bounds) error {
	dir, private := h.workspace(s)
	if private {
		return nil
	}
	if err := b.Workspace(workspaceParam, filepath.ToSlash(dir)); err != nil {
		return err
	}
	lists := b.Workdirs()
	if len(lists) == 0 {
		return nil
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // not there: whether it may be missing is decided elsewhere
	}
	for _, roots := range lists {
		if !slices.ContainsFunc(roots, func(root string) bool {
			if to, err := filepath.EvalSymlinks(root); err == nil {
				root = to
			}
			return root == "/" || within(root, real)
		}) {
			return event.FailParam(event.PermissionDenied, workspaceParam, "workspace_directory leads out of the directories that the policy lets you work in (scope.workdir)")
		}
	}
	return nil
}

// passthrough are the variables of the host's environment that the session's CLI sees
// beside those that every CLI does.
func (h *Host) passthrough(r *RuntimeConfig, s *spec.Session) []string {
	b := h.bounds(s)
	return slices.Concat(r.Vendor, slices.DeleteFunc(slices.Clone(r.Passthrough), func(name string) bool { return b.Env("", name) != nil }))
}
