package turn

import "github.com/agenthost/agenthost/actors/event"

// steer is a message that is to become part of the turn.
type steer struct {
	id     event.ID
	items  []*event.Item
	handed bool
}

// steer takes a message for the running turn. What is too late for it waits in vain:
// who asked sees the turn end without it.
func (t *Turn) steer(in Steer) {
	switch {
	case in.Input.IsZero() || t.Settled():
	case t.deaf:
		t.do(Unsteered{Input: in.Input})
	default:
		t.steers = append(t.steers, steer{id: in.Input, items: in.Items})
		t.hand()
	}
}

// hand gives the CLI the oldest message, one at a time: when one is refused, those
// behind it must not have gone ahead. A turn that waits for its caller, or has its
// verdict, is given none.
func (t *Turn) hand() {
	if t.state == running && t.verdict == nil && len(t.steers) > 0 && !t.steers[0].handed {
		t.steers[0].handed = true
		t.do(Hand{Input: t.steers[0].id})
	}
}

// steered: the CLI has the message, and it is part of the turn; or it has not, and
// will have no other.
func (t *Turn) steered(in Steered) {
	if t.Settled() || len(t.steers) == 0 || !t.steers[0].handed || t.steers[0].id != in.Input {
		return
	}
	t.active = t.now
	if !in.Taken {
		t.deaf = true
		for _, s := range t.steers {
			t.do(Unsteered{Input: s.id})
		}
		t.steers = nil
		return
	}
	s := t.steers[0]
	t.steers = t.steers[1:]
	if held := t.items.held; held != nil {
		t.items.close(held, event.Commentary) // the agent has something to say to this
	}
	body := &event.Input{ID: s.id, Taken: true}
	for _, it := range s.items {
		own := *it
		own.ID, own.Status = t.items.identity(), event.Done
		body.Items = append(body.Items, &own)
	}
	t.emit(event.Event{Kind: event.InputSteered, Body: body})
	t.hand()
}
