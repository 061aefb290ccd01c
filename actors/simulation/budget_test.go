package simulation

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// raise is a client's update of a session's budget; 0 takes it away.
type raise struct{ tokens int64 }

// budgets are those of the session, with what was used before.
func (s *session) budgets() budget.Bounds {
	ses := s.state.Session()
	if ses.Settings == nil {
		return nil
	}
	return new(budget.Caps).OfTurn(ses.Settings, budget.Of(ses.Usage), budget.Spent{})
}

func (s *session) raise(m raise) {
	if s.broken || s.deleting || s.state.Settings() == nil {
		return
	}
	next := *s.state.Settings()
	next.Agent.Limits.SessionTokens = m.tokens
	g := s.group()
	s.add(g, event.Event{Kind: event.SessionUpdated, Body: &event.Settings{JSON: s.w.settings(&next)}})
	s.weigh(g)
	s.flush()
}

func (w *world) settings(s *spec.Session) []byte {
	raw, err := json.Marshal(s)
	w.must(err)
	return raw
}

// weigh holds or lets go the session when its budgets have changed. What runs is not
// touched: its end tells.
func (s *session) weigh(g *group) {
	if s.run != nil && s.state.IsOpen(s.run.id) {
		return
	}
	b, held := s.budgets().Reached(budget.Amount{}), s.state.Session().Held
	switch {
	case b != nil && held == nil:
		s.hit(g, b)
	case b == nil && held != nil:
		lifted := *held
		lifted.Lifted = true
		s.hit(g, &lifted)
	}
}

// ended folds a turn's last event and, behind it, that a budget is used up.
func (s *session) ended(g *group, ev event.Event) {
	b := s.budgets().Reached(budget.Of(ev.Body.(*event.End).Usage))
	left := s.left(ev.Turn)
	s.add(g, ev)
	for _, in := range left {
		s.release(g, in)
	}
	if b != nil {
		s.hit(g, b)
	}
}

func (s *session) hit(g *group, b *event.Budget) {
	s.w.counts["budgets hit"]++
	s.add(g, event.Event{Kind: event.BudgetHit, Body: b})
	if s.w.faults.heldStarts {
		return
	}
	effects := s.fifo.Hold()
	if b.Lifted {
		s.w.counts["budgets hit"]--
		s.w.counts["budgets lifted"]++
		effects = append(effects, s.fifo.Release()...)
	}
	g.then = append(g.then, func(err error) {
		if err == nil {
			s.effects(effects)
		}
	})
}

// letGo takes the budget away from every session that is held; it reports whether
// there was one.
func (w *world) letGo() (any bool) {
	for _, id := range w.known {
		if s := w.session(id); s.state.Session().Held != nil && !s.broken {
			w.send(client, s.actor, raise{})
			any = true
		}
	}
	return any
}
