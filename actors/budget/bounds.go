package budget

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Caps are the host's budgets.
type Caps struct{ Turn, Session, Principal, Day Amount }

// Spent is what was used before a turn.
type Spent struct{ Principal, Day Amount }

// Bounds are budgets with what is used of each.
type Bounds []event.Budget

// add puts in the two budgets of one setting, those that there are.
func (b *Bounds) add(scope event.Scope, name string, limit, used Amount) {
	if limit.Tokens > 0 {
		*b = append(*b, event.Budget{Name: name + "_tokens", Scope: scope, Limit: limit.Tokens, Used: used.Tokens})
	}
	if limit.MicroUSD > 0 {
		*b = append(*b, event.Budget{Name: name + "_usd", Scope: scope, Money: true, Limit: limit.MicroUSD, Used: used.MicroUSD})
	}
}

// OfSession are the budgets of a session that has used that much.
func (c *Caps) OfSession(s *spec.Session, used Amount) Bounds {
	var b Bounds
	if l := s.SpendControl.Limit; l > 0 {
		b = append(b, event.Budget{
			Name: SpendControl, Scope: event.SessionScope, Money: true, Limit: min(l, most/centMicros) * centMicros, Used: used.MicroUSD,
		})
	}
	l := s.Agent.Limits
	b.add(event.SessionScope, agentLimits+"max_session", Amount{l.SessionTokens, MicroUSD(l.SessionUSD)}, used)
	b.add(event.SessionScope, hostLimits+"max_session", c.Session, used)
	return b
}

// OfTurn are all budgets that a turn of the session is under.
func (c *Caps) OfTurn(s *spec.Session, used Amount, spent Spent) Bounds {
	b := c.OfSession(s, used)
	l := s.Agent.Limits
	if l.MaxTokens > 0 {
		b = append(b, event.Budget{Name: agentLimits + "max_tokens", Scope: event.TurnScope, Limit: l.MaxTokens})
	}
	if l.MaxUSD > 0 {
		b = append(b, event.Budget{Name: agentLimits + "max_budget_usd", Scope: event.TurnScope, Money: true, Limit: MicroUSD(l.MaxUSD)})
	}
	b.add(event.TurnScope, hostLimits+"max_turn", c.Turn, Amount{})
	b.add(event.PrincipalScope, hostLimits+"max_principal", c.Principal, spent.Principal)
	b.add(event.DayScope, hostLimits+"max_day", c.Day, spent.Day)
	return b
}

// The names of budgets begin with where they are set.
const (
	SpendControl = "spend_control.limit"
	hostLimits   = "limits."
	agentLimits  = "the agent's limits."
	centMicros   = 10_000
)

// Reached is the first budget that is used up once now is used as well, with what
// is then used of it; nil when none is.
func (b Bounds) Reached(now Amount) *event.Budget {
	for i := range b {
		if one := With(b[i], now); one.Used >= one.Limit {
			return &one
		}
	}
	return nil
}

// With is the budget once now is used as well.
func With(b event.Budget, now Amount) event.Budget {
	more := now.Tokens
	if b.Money {
		more = now.MicroUSD
	}
	b.Used = clamp(clamp(b.Used) + clamp(more))
	return b
}

// MoneyLeft is the budget in money of which the least is left, and how much; nil
// when there is none.
func (b Bounds) MoneyLeft() (tightest *event.Budget, left int64) {
	for i := range b {
		if rest := max(0, b[i].Limit-b[i].Used); b[i].Money && (tightest == nil || rest < left) {
			tightest, left = &b[i], rest
		}
	}
	return tightest, left
}
