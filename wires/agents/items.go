package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
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
	list, more, err := shown(p, func(p spec.Page) ([]fold.ItemOf, bool, error) {
		return w.engine.Items(c.Context(), c.Principal, s.ID, p)
	})
	answerList(c, list, more, err, listedItem)
}

// shown is a page of the items that this wire has. Others are left out and made up
// for by those that follow, because SDKs take a short page for the last one.
func shown(p spec.Page, read func(spec.Page) ([]fold.ItemOf, bool, error)) (out []fold.ItemOf, more bool, err error) {
	limit := p.Limit
	for {
		list, further, err := read(p)
		if err != nil {
			return nil, false, err
		}
		for _, it := range list {
			switch {
			case !shows(it.Item):
			case len(out) == limit:
				return out, true, nil
			default:
				out = append(out, it)
			}
		}
		if !further || len(list) == 0 || len(out) == limit {
			return out, further, nil
		}
		p.After = list[len(list)-1].Item.ID
	}
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
	list, more, err := shown(p, func(p spec.Page) ([]fold.ItemOf, bool, error) {
		return w.engine.TurnItems(c.Context(), c.Principal, s.ID, t.ID, p)
	})
	answerList(c, list, more, err, listedItem)
}

func listedItem(i fold.ItemOf) (string, any) {
	return i.Item.ID.With(event.PrefixItem), itemObject(i.Turn, i.Item)
}
