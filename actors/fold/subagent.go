package fold

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// Subagent is an agent that a turn's own agent, or another subagent, set to work
// by one call, as of one event. Immutable like Turn. Its identity is that of the
// call's item, which leads back to the turn (event.TurnOf).
type Subagent struct {
	// Call is the item that set it to work: one of the turn's items, or of another
	// subagent's when it has a Parent.
	Call *event.Item
	// Turn is the turn it works in.
	Turn event.ID
	// Opened and Closed are Unix milliseconds; Closed is 0 while it works.
	Opened, Closed int64
	// Items are what it was asked and what it did, in the order it was told. Only
	// its own calls of further subagents appear before they are done.
	Items []*event.Item
}

// ID is the subagent's identity.
func (s *Subagent) ID() event.ID { return s.Call.ID }

// FindSubagent is the turn's subagent of that identity, nil without one.
func (t *Turn) FindSubagent(id event.ID) *Subagent {
	for _, s := range t.Subagents {
		if s.ID() == id {
			return s
		}
	}
	return nil
}

// subagent takes an event about a subagent in. It gives the subagent as of the
// event when it began or ended by it, else nil. What was handed out before is
// not written to: a subagent that changes is replaced.
func (o *openTurn) subagent(ev *event.Event) *Subagent {
	it, ok := ev.Body.(*event.Item)
	if !ok {
		return nil
	}
	if !it.Parent.IsZero() {
		i, known := o.subAt[it.Parent]
		if !known {
			return nil // of a damaged journal
		}
		o.subs[i] = o.subs[i].with(it)
	}
	if it.Type != event.Subagent {
		return nil
	}
	i, known := o.subAt[it.ID]
	if !known {
		if o.subAt == nil {
			o.subAt = map[event.ID]int{}
		}
		i = len(o.subs)
		o.subAt[it.ID] = i
		o.subs = append(o.subs, &Subagent{Turn: o.turn.ID, Opened: ev.At})
		o.turn.SubagentCount = len(o.subs)
	}
	s := *o.subs[i]
	s.Call = it
	if ev.Kind == event.ItemDone || ev.Kind == event.SubagentItem {
		s.Closed = ev.At
	}
	o.subs[i] = &s
	return &s
}

// with is s with an item more, or with a call of its own as it is now.
func (s *Subagent) with(it *event.Item) *Subagent {
	c := *s
	if it.Type == event.Subagent {
		for i, have := range c.Items {
			if have.ID == it.ID {
				c.Items = slices.Clone(c.Items)
				c.Items[i] = it
				return &c
			}
		}
	}
	c.Items = append(c.Items, it) // readers of s do not look behind its end
	return &c
}
