package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
)

// ListTurns is GET /agents/sessions/{session_id}/turns.
func (w *Wire) ListTurns(c *call.Call) {
	s, err := w.session(c)
	if err != nil {
		c.Fail(err)
		return
	}
	p, err := page(c, event.PrefixTurn, event.PrefixResponse)
	if err != nil {
		c.Fail(err)
		return
	}
	list, more, err := w.engine.Turns(c.Context(), c.Principal, s.ID, p)
	answerList(c, list, more, err, func(t *fold.Turn) (string, any) {
		return t.ID.With(event.PrefixTurn), turnObject(s, t)
	})
}

// GetTurn is GET /agents/sessions/{session_id}/turns/{turn_id}.
func (w *Wire) GetTurn(c *call.Call) {
	s, t, err := w.turn(c)
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, turnObject(s, t))
}

// turn looks the path's turn up in the path's session.
func (w *Wire) turn(c *call.Call) (*fold.Session, *fold.Turn, error) {
	s, err := w.session(c)
	if err != nil {
		return nil, nil, err
	}
	written := c.Param("turn_id")
	id, ok := c.ID("turn_id", event.PrefixTurn, event.PrefixResponse)
	if !ok {
		return nil, nil, notFound(event.TurnNotFound, "turn", written)
	}
	t, err := w.engine.Turn(c.Context(), c.Principal, id)
	if err != nil {
		return nil, nil, missing(err, event.TurnNotFound, "turn", written)
	}
	if t.Session != s.ID {
		return nil, nil, notFound(event.TurnNotFound, "turn", written)
	}
	return s, t, nil
}
