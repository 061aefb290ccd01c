package actors

import (
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// forgetTurn removes the items of a turn's leg, with the last one the turn's. It is
// answered once they are gone for good.
type forgetTurn struct {
	owner string
	turn  event.ID
	leg   event.ID // the turn's own id of the first
	reply chan answer[struct{}]
}

// forgetOne removes a turn's items; one that still runs is cancelled first.
func (s *session) forgetOne(c actor.Context, m *forgetTurn) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[struct{}]{err: err}
		return
	}
	if t, ok := s.state.Turn(m.turn); ok {
		if err := newestLeg(t, m.leg); err != nil {
			m.reply <- answer[struct{}]{err: err}
			return
		}
		if s.forget == nil {
			s.forget = map[event.ID][]*forgetTurn{}
		}
		s.forget[m.turn] = append(s.forget[m.turn], m)
		s.cancel(c, m.turn)
		return
	}
	s.amend(c, &amendment{turn: m.turn, reply: m.reply, change: func(g *group, t *fold.Turn) error {
		_, number, _ := event.LegOf(m.leg)
		if part, ok := t.Part(number); !ok || part.Forgotten {
			return event.Fail(event.TurnNotFound, "there is no such turn")
		}
		s.forgetLegs(g, t, []*forgetTurn{m})
		return nil
	}})
}

// newestLeg refuses to remove what is behind a turn that goes on: to cancel it is not
// what was asked.
func newestLeg(t *fold.Turn, leg event.ID) error {
	n := len(t.Legs)
	switch _, number, _ := event.LegOf(leg); {
	case int(number) >= max(n, 1):
		return event.Fail(event.TurnNotFound, "there is no such turn")
	case int(number) < n-1:
		return event.Fail(event.ItemInUse, "the turn of this response goes on as "+t.Legs[n-1].ID.With(event.PrefixResponse)+"; delete this one when that has ended, or cancel that first")
	}
	return nil
}

// forgetLegs folds that the items of an ended turn's legs are removed.
func (s *session) forgetLegs(g *group, t *fold.Turn, asked []*forgetTurn, replies ...chan answer[struct{}]) {
	legs := make([]event.ID, 0, len(asked))
	for _, m := range asked {
		if !slices.Contains(legs, m.leg) {
			legs = append(legs, m.leg)
		}
	}
	less, some := t.Without(legs...)
	if !some {
		s.forgetIn(g, t, replies...)
		return
	}
	for _, leg := range legs {
		s.add(g, event.Event{Kind: event.ItemRemoved, Turn: t.ID, Item: leg})
	}
	s.record(g, less, store.TurnEnded)
	g.durable, g.body = true, true
	s.forgotten(g, replies)
}

// forgetIn folds that an ended turn's items are removed. Readers that are there
// still see them; those that come later do not.
func (s *session) forgetIn(g *group, t *fold.Turn, replies ...chan answer[struct{}]) {
	ev := event.Event{Kind: event.TurnForgotten, Turn: t.ID}
	s.add(g, ev)
	seq := s.state.Session().Head
	gone := *t
	gone.Forgotten, gone.Items, gone.Subagents, gone.SubagentCount, gone.Last = true, nil, nil, 0, seq
	s.record(g, &gone, store.TurnForgotten)
	g.durable = true
	g.forgotten = append(g.forgotten, seq)
	s.forgotten(g, replies)
}

// forgotten answers who waits for the removal, once it is stored.
func (s *session) forgotten(g *group, replies []chan answer[struct{}]) {
	if len(replies) == 0 {
		return
	}
	g.then = append(g.then, func(_ actor.Context, err error) {
		for _, r := range replies {
			r <- answer[struct{}]{err: err}
		}
	})
}

// answerForgets refuses those who wait for a turn's end.
func (s *session) answerForgets(err error) {
	for _, asked := range s.forget {
		for _, m := range asked {
			m.reply <- answer[struct{}]{err: err}
		}
	}
	clear(s.forget)
}

// claim lets the poster of a turn that is to be forgotten read it once: it can
// subscribe only after its post was answered, and a fast turn is over by then.
type claim struct {
	after int64
	until time.Time
}

const claimLife = 30 * time.Second

func (s *session) claim(after int64) {
	now := s.host.now()
	live := s.claims[:0]
	for _, c := range s.claims {
		if c.until.After(now) {
			live = append(live, c)
		}
	}
	s.claims = append(live, claim{after: after, until: now.Add(claimLife)})
}

// claimed takes the claim on a cursor, if there is one.
func (s *session) claimed(after int64) bool {
	now := s.host.now()
	for i, c := range s.claims {
		if c.after == after && c.until.After(now) {
			s.claims = append(s.claims[:i], s.claims[i+1:]...)
			return true
		}
	}
	return false
}
