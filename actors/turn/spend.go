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

// metered adds what one answer used. The sum is what the turn used until the CLI tells
// of more, and when it never does.
func (t *Turn) metered(in Metered) {
	t.meter.Add(&in.Usage)
	if t.Settled() || t.used != nil && t.used.Total() >= t.meter.Total() {
		return
	}
	sum := t.meter
	if t.used != nil {
		sum.MicroUSD = t.used.MicroUSD
	}
	t.spend(&sum)
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
