package actors

import (
	"context"

	"github.com/agenthost/agenthost/actors/policy"
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
