package turn

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
)

// spend takes what the turn has used so far, and ends it at a budget.
func (t *Turn) spend(u *event.Usage) {
	if u == nil {
		return
	}
	t.used = u
	if t.state != running || t.verdict != nil {
		return // it ends already
	}
	if b := t.cfg.Budgets.Reached(budget.Of(u)); b != nil {
		t.strike(budget.Stopped(b))
	}
}

// stoppedByItself is the failure of a CLI that kept a budget of ours: it was told
// what is left of the tightest one in money.
func (t *Turn) stoppedByItself(v *agent.Verdict) *event.Failure {
	b, _ := t.cfg.Budgets.MoneyLeft()
	if b == nil {
		return v.Failure
	}
	now := budget.With(*b, budget.Of(v.Usage))
	return budget.Stopped(&now)
}
