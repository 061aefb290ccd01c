package actors

import (
	"fmt"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/spec"
)

// Share is what one principal may have of the slots. The zero value of a field means
// the host's.
type Share struct {
	// Weight is how much it gets while others want slots too; 1 for who has none.
	Weight int
	Turns  int // running at once
}

// WithShares gives principals something of their own, by id.
func WithShares(shares map[string]Share) Option { return func(c *config) { c.shares = shares } }

// rules are what admission holds to.
func (c *config) rules() queue.Rules {
	r := queue.Rules{
		Slots: c.limits.MaxConcurrentTurns, MaxWaiting: c.limits.MaxWaitingTurns,
		PrincipalSlots: c.limits.MaxPrincipalTurns, AgentSlots: c.limits.MaxAgentTurns,
		Shares: admitted(c.shares), Agents: map[string]int{},
	}
	for i := range c.agents {
		if a := &c.agents[i]; a.Limits.Concurrency > 0 {
			r.Agents[agentKey(a)] = a.Limits.Concurrency
		}
	}
	return r
}

func admitted(shares map[string]Share) map[string]queue.Share {
	out := make(map[string]queue.Share, len(shares))
	for id, s := range shares {
		out[id] = queue.Share{Weight: s.Weight, Slots: s.Turns}
	}
	return out
}

// reshare tells the supervisor of other shares.
type reshare struct{ shares map[string]queue.Share }

// Reshare puts other shares in the place of those of WithShares. What runs goes on.
func (h *Host) Reshare(shares map[string]Share) {
	h.root.Send(h.supervisor, &reshare{admitted(shares)})
}

// agentKey names an agent where agents have bounds: a saved one by itself, the
// others by what runs them.
func agentKey(a *spec.Agent) string {
	if a.Saved {
		return a.ID.With(event.PrefixAgent)
	}
	return a.Adapter
}

// boundAgent is the agent's name for admission, "" when it has no bound: so agents
// without one share one line.
func (h *Host) boundAgent(a *spec.Agent) string {
	if key := agentKey(a); h.cfg.limits.MaxAgentTurns > 0 || h.agentTurns[key] > 0 {
		return key
	}
	return ""
}

// hurried refuses inputs of an agent that come faster than it takes them.
func (h *Host) hurried(a *spec.Agent, inputs int) error {
	most := a.Limits.TurnsPerMinute
	if most == 0 {
		most = h.cfg.limits.AgentTurnsPerMinute
	}
	if most == 0 || inputs == 0 {
		return nil
	}
	h.rates.mu.Lock()
	wait, ok := h.rates.of.Take(agentKey(a), most, inputs, h.uptime())
	h.rates.mu.Unlock()
	if ok {
		return nil
	}
	name := a.Name
	if name == "" {
		name = a.Adapter
	}
	f := event.Fail(event.RateLimitReached, fmt.Sprintf("agent %s takes %d inputs a minute; send this one later", strings.TrimSpace(name), most))
	f.RetryAfter = wholeSeconds(time.Duration(wait) * time.Millisecond)
	return f
}

// uptime is the time since the host was made, in milliseconds: it does not jump.
func (h *Host) uptime() int64 { return time.Since(h.made).Milliseconds() }

// wholeSeconds rounds up to at least one.
func wholeSeconds(d time.Duration) int { return max(int((d+time.Second-1)/time.Second), 1) }
