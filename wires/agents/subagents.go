package agents

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// A subagent is what one call set to work, and has one turn: its work. Both have the
// identity of the call's item, under their own prefixes. It is closed when the call
// is done; what it does when another call asks it to go on joins its items, without
// agent.session.subagent.active. What it did is read here only: the session's stream
// tells that it began and ended, beside the call.

// ListSubagents is GET /agents/sessions/{session_id}/subagents.
func (w *Wire) ListSubagents(c *call.Call) {
	s, err := w.session(c)
	if err != nil {
		c.Fail(err)
		return
	}
	p, err := page(c, event.PrefixSubagent)
	if err != nil {
		c.Fail(err)
		return
	}
	list, more, err := w.engine.Subagents(c.Context(), c.Principal, s.ID, p)
	answerList(c, list, more, err, func(sub *fold.Subagent) (string, any) {
		return sub.ID().With(event.PrefixSubagent), subagentObject(s, sub)
	})
}

// GetSubagent is GET /agents/sessions/{session_id}/subagents/{subagent_id}.
func (w *Wire) GetSubagent(c *call.Call) {
	s, sub, err := w.subagent(c)
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, subagentObject(s, sub))
}

// ListSubagentItems is GET .../subagents/{subagent_id}/items.
func (w *Wire) ListSubagentItems(c *call.Call) {
	_, sub, err := w.subagent(c)
	w.listTheirs(c, sub, err)
}

// ListSubagentTurns is GET .../subagents/{subagent_id}/turns.
func (w *Wire) ListSubagentTurns(c *call.Call) {
	s, sub, err := w.subagent(c)
	if err != nil {
		c.Fail(err)
		return
	}
	p, err := page(c, event.PrefixTurn, event.PrefixResponse)
	if err != nil {
		c.Fail(err)
		return
	}
	list := []*fold.Subagent{sub}
	if !p.After.IsZero() {
		if p.After != sub.ID() {
			c.Fail(noSuchPage())
			return
		}
		list = nil
	}
	answerList(c, list, false, nil, func(sub *fold.Subagent) (string, any) {
		return sub.ID().With(event.PrefixTurn), subagentTurn(s, sub)
	})
}

// GetSubagentTurn is GET .../subagents/{subagent_id}/turns/{turn_id}.
func (w *Wire) GetSubagentTurn(c *call.Call) {
	s, sub, err := w.subagentTurn(c)
	if err != nil {
		c.Fail(err)
		return
	}
	c.JSON(200, subagentTurn(s, sub))
}

// ListSubagentTurnItems is GET .../subagents/{subagent_id}/turns/{turn_id}/items.
func (w *Wire) ListSubagentTurnItems(c *call.Call) {
	_, sub, err := w.subagentTurn(c)
	w.listTheirs(c, sub, err)
}

// subagent looks the path's subagent up in the path's session.
func (w *Wire) subagent(c *call.Call) (*fold.Session, *fold.Subagent, error) {
	s, err := w.session(c)
	if err != nil {
		return nil, nil, err
	}
	written := c.Param("subagent_id")
	id, ok := c.ID("subagent_id", event.PrefixSubagent)
	if !ok {
		return nil, nil, notFound(event.SubagentNotFound, "subagent", written)
	}
	sub, err := w.engine.Subagent(c.Context(), c.Principal, s.ID, id)
	if err != nil {
		return nil, nil, missing(err, event.SubagentNotFound, "subagent", written)
	}
	return s, sub, nil
}

// subagentTurn looks the path's turn up: it must be that of the path's subagent.
func (w *Wire) subagentTurn(c *call.Call) (*fold.Session, *fold.Subagent, error) {
	s, sub, err := w.subagent(c)
	if err != nil {
		return nil, nil, err
	}
	if id, ok := c.ID("turn_id", event.PrefixTurn, event.PrefixResponse); !ok || id != sub.ID() {
		return nil, nil, notFound(event.TurnNotFound, "turn", c.Param("turn_id"))
	}
	return s, sub, nil
}

// listTheirs answers with a page of a subagent's items.
func (w *Wire) listTheirs(c *call.Call, sub *fold.Subagent, err error) {
	if err != nil {
		c.Fail(err)
		return
	}
	p, err := page(c, event.PrefixItem)
	if err != nil {
		c.Fail(err)
		return
	}
	list, more, err := itemPage(sub.Items, p)
	answerList(c, list, more, err, func(it *event.Item) (string, any) {
		return it.ID.With(event.PrefixItem), itemObject(sub.ID(), it)
	})
}

// itemPage cuts a page out of items, which are in their order.
func itemPage(items []*event.Item, p spec.Page) (page []*event.Item, more bool, err error) {
	items = slices.Clone(items)
	if p.Desc {
		slices.Reverse(items)
	}
	if !p.After.IsZero() {
		at := slices.IndexFunc(items, func(it *event.Item) bool { return it.ID == p.After })
		if at < 0 {
			return nil, false, noSuchPage()
		}
		items = items[at+1:]
	}
	if p.Limit > 0 && len(items) > p.Limit {
		return items[:p.Limit], true, nil
	}
	return items, false, nil
}
