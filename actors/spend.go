package actors

import (
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// A session whose budget is used up is held: a BudgetHit event says so, its fifo
// asks for no slot, and further input is refused. A budget of the session holds it
// from the turn that reached it; one beyond the session (principal, day) holds it
// only while something of it waits, so that a session at rest depends on nothing
// but itself. The lift is an event too.

// reached is the budget that keeps the session from going on once now is used as
// well; nil when none does.
func (s *session) reached(now *event.Usage) *event.Budget {
	ses := s.state.Session()
	if ses.Settings == nil {
		return nil
	}
	own := s.host.cfg.limits.Budgets.OfSession(ses.Settings, budget.Of(ses.Usage))
	if b := own.Reached(budget.Of(now)); b != nil {
		return b
	}
	return s.host.held.Load().Of(ses.Owner)
}

// due is the BudgetHit that has to be told once now is used as well; nil when none
// does. others says that further turns are open, again that a held session says so
// once more.
func (s *session) due(now *event.Usage, others, again bool) *event.Budget {
	held := s.state.Session().Held
	b := s.reached(now)
	if b != nil && b.Scope != event.SessionScope && !others {
		b = nil
	}
	switch {
	case b != nil && (held == nil || again):
		return b
	case b == nil && held != nil:
		lifted := *held
		lifted.Lifted = true
		return &lifted
	}
	return nil
}

// afterEnd is the BudgetHit that is due behind the end of an open turn. A held
// session says it again with each end, as one that is not held says that it is
// idle.
func (s *session) afterEnd(now *event.Usage) *event.Budget {
	return s.due(now, s.state.Session().Open > 1, true)
}

// weigh folds into g what has changed about the session's budgets. While a turn
// runs nothing does: its end will tell.
func (s *session) weigh(g *group) {
	if s.runs() {
		return
	}
	if b := s.due(nil, s.state.Session().Open > 0, false); b != nil {
		s.hit(g, b)
	}
}

// reckon is weigh with a commit of its own, if there is something to say.
func (s *session) reckon(c actor.Context) {
	if s.runs() || s.due(nil, s.state.Session().Open > 0, false) == nil {
		return
	}
	s.weigh(s.group(nil))
	s.flush(c)
}

// spentOut stops what runs when a budget beyond the session's own is used up, and
// otherwise holds or lets go what waits.
func (s *session) spentOut(c actor.Context) {
	if !s.runs() {
		s.reckon(c)
		return
	}
	if b := s.host.held.Load().Of(s.state.Session().Owner); b != nil && !s.run.spent {
		s.run.spent = true // a second stop would kill it at once
		s.stopTurn(c, budget.Stopped(b))
	}
}

// runs reports whether a turn was started and has not ended; its process may live
// longer.
func (s *session) runs() bool { return s.run != nil && s.state.IsOpen(s.run.turn) }

// hit folds a BudgetHit into g. The fifo stops asking at once; what admission is to
// be told waits for the commit.
func (s *session) hit(g *group, b *event.Budget) {
	s.add(g, event.Event{Kind: event.BudgetHit, Body: b})
	g.durable, g.body = true, true
	effects := s.fifo.Hold()
	if b.Lifted {
		effects = append(effects, s.fifo.Release()...)
	}
	g.then = append(g.then, func(c actor.Context, err error) {
		if err == nil && c != nil {
			s.effects(c, effects)
		}
	})
}

// charge puts what an ended turn used into g, and tells the supervisor once it is
// stored.
func (s *session) charge(g *group, u *event.Usage) {
	a := budget.Of(u)
	if a == (budget.Amount{}) {
		return
	}
	if g.spend == nil {
		g.spend = &store.Spend{Day: budget.Day(s.host.now())}
	}
	sum := budget.Amount{Tokens: g.spend.Tokens, MicroUSD: g.spend.MicroUSD}.Plus(a)
	g.spend.Tokens, g.spend.MicroUSD = sum.Tokens, sum.MicroUSD
	m := &spent{owner: s.state.Session().Owner, day: g.spend.Day, amount: a}
	host, supervisor := s.host, s.supervisor
	g.then = append(g.then, func(_ actor.Context, err error) {
		if err == nil {
			host.root.Send(supervisor, m)
		}
	})
}
