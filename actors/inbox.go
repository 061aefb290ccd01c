package actors

import (
	"bytes"
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// Question is something that a waiting turn asks of its caller.
type Question struct {
	Session, Turn event.ID
	// Owner is the principal of the session.
	Owner string
	// Item is a FunctionCall or an Approval. Its id names it in an answer.
	Item *event.Item
}

// Messages of the supervisor about what the turns of all sessions ask.
type (
	// asks are the open questions of a session, in place of those it had.
	asks struct {
		session event.ID
		owner   string
		items   []*event.Item
	}
	inbox struct {
		owner string
		reply chan answer[[]Question]
	}
)

// Questions lists what the waiting turns of all sessions of owner ask, grouped by
// session; owner "" is everyone. Post with an Answer answers one.
func (h *Host) Questions(ctx context.Context, owner string) ([]Question, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	m := &inbox{owner: owner, reply: make(chan answer[[]Question], 1)}
	h.root.Send(h.supervisor, m)
	return await(ctx, h, m.reply)
}

func (s *supervisor) asks(m *asks) {
	if len(m.items) == 0 {
		delete(s.questions, m.session)
		return
	}
	s.questions[m.session] = m
}

func (s *supervisor) inbox(m *inbox) {
	var out []Question
	for _, q := range s.questions {
		if m.owner != "" && m.owner != q.owner {
			continue
		}
		for _, it := range q.items {
			out = append(out, Question{Session: q.session, Turn: event.TurnOf(it.ID), Owner: q.owner, Item: it})
		}
	}
	slices.SortStableFunc(out, func(a, b Question) int { return bytes.Compare(a.Session[:], b.Session[:]) })
	m.reply <- answer[[]Question]{value: out}
}

// askAround tells the supervisor what the session asks now.
func (s *session) askAround(c actor.Context) {
	ses := s.state.Session()
	if len(ses.Required) == 0 && !s.asks {
		return
	}
	s.asks = len(ses.Required) > 0
	c.Send(s.supervisor, &asks{session: s.id, owner: ses.Owner, items: ses.Required})
}

// asksNothing takes the session's questions back: who asked them is being ended.
func (s *session) asksNothing(c actor.Context) {
	if s.asks {
		s.asks = false
		c.Send(s.supervisor, &asks{session: s.id})
	}
}
