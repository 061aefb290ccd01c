package codex

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

var _ agent.Steerer = (*protocol)(nil)

// added is a message for a running turn. Codex gives the model a message at once: it cuts
// the answer that is being made, tells the message as an item with the name that it was
// given, and asks the model again.
type added struct {
	id                  event.ID
	r                   *agent.Request
	asked, acknowledged bool
}

// Steer adds a message to a turn, as soon as Codex has told the turn's id.
func (p *protocol) Steer(id event.ID, m *agent.Steering, out *agent.Talk) {
	s := p.turns[id]
	if s == nil || s.ended || s.cancelled {
		said := out.Turn(id)
		said.Steered = append(said.Steered, agent.Steered{Input: m.Input, Why: "the turn is over"})
		return
	}
	s.added = append(s.added, &added{id: m.Input, r: m.Request})
	p.steer(s, out)
}

// steer sends what waits for the turn's id.
func (p *protocol) steer(s *served, out *agent.Talk) {
	if s.turn == "" || s.ended {
		return
	}
	for _, m := range s.added {
		if m.asked {
			continue
		}
		m.asked = true
		p.request(call{what: steer, turn: s, added: m}, "turn/steer", map[string]any{
			"threadId": s.thread, "expectedTurnId": s.turn, "clientUserMessageId": m.id.Hex(), "input": userInput(m.r.Prompt, m.r.Images),
		}, out)
	}
}

// steered: Codex has put the message into the turn, or says why not.
func (p *protocol) steered(c call, failed bool, why string, out *agent.Talk) {
	if !failed {
		c.added.acknowledged = true
		return
	}
	c.turn.became(c.added, agent.Steered{Why: why}, out.Turn(c.turn.id))
}

// shown: Codex tells a message of the user's.
func (s *served) shown(name string, said *agent.Said) {
	for _, m := range s.added {
		if m.asked && m.id.Hex() == name {
			s.became(m, agent.Steered{Taken: true}, said)
			return
		}
	}
}

// became tells once what became of a message.
func (s *served) became(m *added, what agent.Steered, said *agent.Said) {
	for i, one := range s.added {
		if one == m {
			s.added = append(s.added[:i:i], s.added[i+1:]...)
			what.Input = m.id
			said.Steered = append(said.Steered, what)
			return
		}
	}
}

// finished: the turn was completed, with everything that Codex acknowledged. Of a turn
// that ended otherwise it dropped what it had not told.
func (s *served) finished(said *agent.Said) {
	for _, m := range append([]*added(nil), s.added...) {
		if m.acknowledged {
			s.became(m, agent.Steered{Taken: true}, said)
		}
	}
}
