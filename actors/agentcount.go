package actors

import (
	"context"
	"fmt"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// agentCount is how many saved agents each principal has, counted in the store when
// it makes its first.
type agentCount struct {
	mu sync.Mutex
	of map[string]int
}

// take books one on owner, unless it has as many as it may.
func (n *agentCount) take(ctx context.Context, h *Host, owner string) error {
	n.mu.Lock()
	_, known := n.of[owner]
	n.mu.Unlock()
	stored := 0
	if !known {
		if err := h.usable(); err != nil {
			return err
		}
		list, _, err := h.store.Records(ctx, agentKind, owner, spec.Page{Limit: h.cfg.limits.MaxAgents + 1})
		if err != nil {
			return storeFailure(err)
		}
		stored = len(list)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]int{}
	}
	if _, known := n.of[owner]; !known {
		n.of[owner] = stored
	}
	if n.of[owner] >= h.cfg.limits.MaxAgents {
		return event.Fail(event.FilesFull, fmt.Sprintf("you have %d saved agents, as many as limits.max_agents allows; delete some", n.of[owner]))
	}
	n.of[owner]++
	return nil
}

// give takes one off owner's account.
func (n *agentCount) give(owner string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of[owner] > 0 {
		n.of[owner]--
	}
}
