package fold

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// Answer is what a caller said while the turn ran: to an item that asked it, or a
// message that became part of the turn.
type Answer struct {
	// At is the number of output items before it.
	At   int32
	Item *event.Item
}

// Leg is one request that a turn answers. A turn has one, until it waits for its
// caller: that ends the leg, and who answers begins the next. Immutable.
type Leg struct {
	ID event.ID `json:"id"`
	// Input is that of the request, of leg 0 the turn's own.
	Input *event.Input `json:"input,omitempty"`
	// From is the index of its first output item, To of the first one behind it; To is
	// -1 while it goes on.
	From int32 `json:"from"`
	To   int32 `json:"to"`
	// Created, Started and Ended are Unix milliseconds; 0 when not yet. Ended is the
	// moment in which the turn began to wait.
	Created int64 `json:"created"`
	Started int64 `json:"started,omitempty"`
	Ended   int64 `json:"ended,omitempty"`
	// First and Last are the numbers of its first and newest event, Steps its steps.
	First int64 `json:"first"`
	Last  int64 `json:"last,omitempty"`
	Steps int32 `json:"steps,omitempty"`
	// Used is what the turn had used in all when the leg ended, as far as its CLI had
	// told by then; nil while it goes on, and when nothing was told.
	Used *event.Usage `json:"used,omitempty"`
}

// Part is the turn's leg of that number as a turn of its own, which is what the
// Responses wire calls a response; false when there is none.
func (t *Turn) Part(number int32) (*Turn, bool) {
	if len(t.Legs) == 0 {
		return t, number == 0
	}
	if number < 0 || int(number) >= len(t.Legs) {
		return nil, false
	}
	l := t.Legs[number]
	p := *t
	p.Legs, p.Answers, p.Subagents = nil, nil, nil // they are the whole turn's
	p.SubagentCount = 0
	p.ID, p.Created, p.Started, p.First = l.ID, l.Created, l.Started, l.First
	p.Forgotten = t.Forgotten || slices.Contains(t.Removed, l.ID)
	if number > 0 {
		p.Input, p.Previous = l.Input, t.Legs[number-1].ID
	}
	from, to := min(int(l.From), len(t.Items)), len(t.Items)
	if l.To >= 0 {
		to = min(int(l.To), len(t.Items))
	}
	p.Items = t.Items[from:to]
	before := t.usedBefore(number)
	switch {
	case l.Ended > 0:
		p.Status, p.Ended, p.Last, p.Steps = Completed, l.Ended, l.Last, l.Steps
		p.End = &event.End{Outcome: event.Completed, Usage: l.Used.Less(before)}
		p.Items = asked(p.Items)
	case t.End != nil && before != nil:
		own := *t.End
		own.Usage = own.Usage.Less(before)
		p.End = &own
	}
	return &p, true
}

// Without is the turn without these legs, as its record says it; false when they were
// the last, and the turn is to be forgotten.
func (t *Turn) Without(legs ...event.ID) (*Turn, bool) {
	less := *t
	less.Removed = append(slices.Clone(t.Removed), legs...)
	for _, l := range t.Legs {
		if !slices.Contains(less.Removed, l.ID) {
			return &less, true
		}
	}
	return nil, false
}

// usedBefore is what the turn had used in all when the leg of that number began.
func (t *Turn) usedBefore(number int32) *event.Usage {
	for i := number - 1; i >= 0; i-- {
		if used := t.Legs[i].Used; used != nil {
			return used
		}
	}
	return nil
}

// asked shows the items that ended a leg as done: to the caller of that leg the call
// is complete, whoever answers it and however.
func asked(items []*event.Item) []*event.Item {
	out := make([]*event.Item, len(items))
	for i, it := range items {
		if it.Type.Asks() && it.Status != event.Done {
			done := *it
			done.Status, done.Error = event.Done, ""
			it = &done
		}
		out[i] = it
	}
	return out
}

// waits ends the newest leg.
func (o *openTurn) waits(ev *event.Event) {
	t := &o.turn
	legs := append([]*Leg(nil), t.Legs...)
	if len(legs) == 0 {
		legs = append(legs, &Leg{ID: t.ID, To: -1, Created: t.Created, Started: t.Started, First: t.First})
	}
	l := *legs[len(legs)-1]
	l.To, l.Ended, l.Last, l.Steps = int32(len(o.items)), ev.At, ev.Seq, t.Steps
	if b, ok := ev.Body.(*event.Pause); ok {
		l.Used = b.Usage
	}
	legs[len(legs)-1] = &l
	t.Legs, t.Status = legs, Waiting
}

// leg begins the next one.
func (o *openTurn) leg(ev *event.Event) {
	b, ok := ev.Body.(*event.Leg)
	if !ok {
		b = &event.Leg{}
	}
	in := &event.Input{
		Number: o.turn.Input.Number, Wire: b.Wire, Echo: b.Echo, Background: b.Background, Forget: b.Forget,
	}
	for _, id := range b.Answers {
		for _, a := range o.turn.Answers {
			if a.Item.ID == id {
				in.Items = append(in.Items, a.Item)
			}
		}
	}
	o.base = int32(len(o.items))
	o.turn.Legs = append(o.turn.Legs[:len(o.turn.Legs):len(o.turn.Legs)], &Leg{
		ID: event.LegID(o.turn.ID, o.number), Input: in, From: o.base, To: -1, Created: ev.At, First: ev.Seq,
	})
	o.turn.Status = Running
}

// resumes notes when the newest leg got its slot.
func (o *openTurn) resumes(ev *event.Event) {
	n := len(o.turn.Legs)
	if n == 0 {
		return
	}
	l := *o.turn.Legs[n-1]
	l.Started = ev.At
	o.turn.Legs = append(append([]*Leg(nil), o.turn.Legs[:n-1]...), &l)
}

// answer takes what a caller said.
func (o *openTurn) answer(ev *event.Event) {
	it, ok := ev.Body.(*event.Item)
	if !ok {
		return
	}
	o.turn.Answers = append(o.turn.Answers[:len(o.turn.Answers):len(o.turn.Answers)], Answer{At: int32(len(o.items)), Item: it})
}

// required lists what the turn asks of its caller.
func (o *openTurn) required() []*event.Item {
	if o.turn.Status != Waiting {
		return nil
	}
	var out []*event.Item
	for _, oi := range o.items {
		if oi.item.Type.Asks() && !oi.done {
			out = append(out, oi.item)
		}
	}
	return out
}
