package actors

import (
	"context"

	"github.com/agenthost/agenthost/actors/budget"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages about what turns use.
type (
	// spent tells the supervisor what a stored turn of the owner used, and on which
	// day it ended.
	spent struct {
		owner  string
		day    int64
		amount budget.Amount
	}
	// today makes the supervisor look whether a new day has begun.
	today struct{}
	// budgets tells a session that Host.held is another one now.
	budgets struct{}
)

// openLedger reads what was used before: a row for each owner and day.
func (h *Host) openLedger(ctx context.Context) (*budget.Ledger, error) {
	day := budget.Day(h.now())
	owners, all, err := h.store.Spent(ctx, day)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]budget.Amount, len(owners))
	for _, o := range owners {
		sums[o.Owner] = budget.Amount{Tokens: o.Tokens, MicroUSD: o.MicroUSD}
	}
	l := budget.NewLedger(h.cfg.limits.Budgets, day, budget.Amount{Tokens: all.Tokens, MicroUSD: all.MicroUSD}, sums)
	h.held.Store(l.Held())
	return l, nil
}

func (s *supervisor) spent(c actor.Context, m *spent) {
	s.reckoned(c, s.ledger.Add(m.owner, m.day, m.amount))
}

// reckoned tells every session in memory when who may go on has changed. Those
// that are not in memory ask when they are.
func (s *supervisor) reckoned(c actor.Context, changed bool) {
	if !changed {
		return
	}
	s.host.held.Store(s.ledger.Held())
	for id := range s.sessions {
		s.deliver(c, id, &budgets{}, fromStore)
	}
}

// spentOut is the answer to new work of a principal that may not go on.
func (h *Host) spentOut(owner string) error {
	if b := h.held.Load().Of(owner); b != nil {
		return budget.Refused(b)
	}
	return nil
}
