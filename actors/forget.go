package actors

import (
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// forgetTurn removes a turn's items. It is answered once they are gone for good.
type forgetTurn struct {
	owner string
	turn  event.ID
	reply chan answer[struct{}]
}

// forgetOne removes a turn's items; one that still runs is cancelled first.
func (s *session) forgetOne(c actor.Context, m *forgetTurn) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[struct{}]{err: err}
		return
	}
	if s.state.IsOpen(m.turn) {
		s.forget[m.turn] = append(s.forget[m.turn], m.reply)
		s.cancel(c, m.turn)
		return
	}
	s.amend(c, &amendment{turn: m.turn, reply: m.reply, change: func(g *group, t *fold.Turn) error {
		if t.Forgotten {
			return event.Fail(event.TurnNotFound, "there is no such turn")
		}
		s.forgetIn(g, t)
		return nil
	}})
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
	for _, replies := range s.forget {
		for _, r := range replies {
			r <- answer[struct{}]{err: err}
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
