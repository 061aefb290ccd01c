package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
)

// ListItems is GET /agents/sessions/{session_id}/items: the items of all turns,
// callers' messages included.
func (w *Wire) ListItems(c *call.Call) {
	s, err := w.session(c)
	if err != nil {
		c.Fail(err)
		return
	}
	p, err := page(c, event.PrefixItem)
	if err != nil {
		c.Fail(err)
		return
	}
	list, more, err := w.engine.Items(c.Context(), c.Principal, s.ID, p)
	answerList(c, list, more, err, listedItem)
}

// ListTurnItems is GET /agents/sessions/{session_id}/turns/{turn_id}/items.
func (w *Wire) ListTurnItems(c *call.Call) {
	s, t, err := w.turn(c)
	if err != nil {
		c.Fail(err)
		return
	}
	p, err := page(c, event.PrefixItem)
	if err != nil {
		c.Fail(err)
		return
	}
	list, more, err := w.engine.TurnItems(c.Context(), c.Principal, s.ID, t.ID, p)
	answerList(c, list, more, err, listedItem)
}

func listedItem(i fold.ItemOf) (string, any) {
	return i.Item.ID.With(event.PrefixItem), itemObject(i.Turn, i.Item)
}
