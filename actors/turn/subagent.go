package turn

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// work is what subagents do. Their items are told when they are finished, so
// nothing of theirs is among the turn's own items, its answer or its open tools:
// while a subagent works, it is its call that is open.
type work struct {
	known map[string]*item
	open  []*item // without an event yet, and open calls of further subagents
	// held is each subagent's newest message, which is its report if nothing
	// follows.
	held map[event.ID]*item
}

// theirs takes a fact about what a subagent did.
func (n *normaliser) theirs(f *agent.Fact) {
	call := n.known[f.Parent]
	if call == nil {
		call = n.work.known[f.Parent]
	}
	if call == nil || call.body.Type != event.Subagent {
		n.turn.dropped++
		return
	}
	if call.id.IsZero() {
		n.reopen(call) // it waited for a question, and its subagent is at work already
	}
	it := n.work.known[f.Key]
	if it == nil {
		if it = n.addTheirs(f, call); it == nil {
			return
		}
	} else if it.state != open || it.parent != call.id {
		n.turn.dropped++
		return
	}
	switch f.Kind {
	case agent.FactStart:
		if it.textual() && f.Item != nil && it.text.Len() == 0 {
			n.theirText(it, n.pass(it, valid(f.Item.Text)))
		}
	case agent.FactText, agent.FactReasoning:
		if it.body.Type != textType(f.Kind) {
			n.turn.dropped++
			return
		}
		n.theirText(it, n.pass(it, valid(f.Text)))
	case agent.FactOutput:
		n.append(it, n.pass(it, valid(f.Text)))
	case agent.FactDone:
		n.doneTheirs(it, f.Item, call.state == closed)
	case agent.FactSession, agent.FactNotice, agent.FactUnknown, agent.FactVerdict: // no item's facts
	}
}

func textType(k agent.FactKind) event.ItemType {
	if k == agent.FactReasoning {
		return event.Reasoning
	}
	return event.Message
}

// addTheirs opens an item of a subagent at its first mention.
func (n *normaliser) addTheirs(f *agent.Fact, call *item) *item {
	from := f.Item
	switch f.Kind {
	case agent.FactText, agent.FactReasoning:
		from = &event.Item{Type: textType(f.Kind)}
	case agent.FactOutput:
		from = nil
	}
	if from == nil || !known(from.Type) {
		n.turn.dropped++
		return nil
	}
	it := &item{key: f.Key, parent: call.id, body: event.Item{Type: from.Type, User: from.User, Parent: call.id}}
	if !it.textual() {
		it.learn(from, n.turn.cfg.Adapter, n.limit())
	}
	if it.body.Type != event.Reasoning {
		n.tellHeld(call.id, event.Commentary)
	}
	it.id = n.identity()
	if n.work.known == nil {
		n.work.known, n.work.held = map[string]*item{}, map[event.ID]*item{}
	}
	n.work.known[f.Key] = it
	n.work.open = append(n.work.open, it)
	if it.body.Type == event.Subagent {
		b := it.body
		b.ID, b.Status = it.id, event.InProgress
		n.turn.emit(event.Event{Kind: event.SubagentStarted, Item: it.id, Body: &b})
		n.asked(it)
	}
	return it
}

// asked tells what the call of a subagent asks it: the first of its items.
func (n *normaliser) asked(call *item) {
	if call.body.Prompt == "" {
		return
	}
	n.tell(&event.Item{ID: n.identity(), Type: event.Message, Status: event.Done, User: true, Text: call.body.Prompt, Parent: call.id})
}

func (n *normaliser) tell(b *event.Item) {
	n.turn.emit(event.Event{Kind: event.SubagentItem, Item: b.ID, Body: b})
}

// theirText appends to a text; what passes the limit continues in a further item.
func (n *normaliser) theirText(it *item, s string) {
	limit := n.limit()
	for limit > 0 && len(s) > limit-it.text.Len() {
		at := splitAt(s, limit-it.text.Len())
		it.text.WriteString(s[:at])
		s = s[at:]
		part := it.body
		part.ID, part.Status, part.Text = it.id, event.Done, it.text.String()
		if it.body.Type == event.Message && !it.body.User {
			part.Phase = event.Commentary
		}
		n.tell(&part)
		it.parts = append(it.parts, it.text.String())
		it.text.Reset()
		it.id = n.identity()
	}
	it.text.WriteString(s)
}

// doneTheirs finishes an item of a subagent, late when its call has ended: the
// subagent was asked to go on by another call.
func (n *normaliser) doneTheirs(it *item, from *event.Item, late bool) {
	if from == nil {
		from = &event.Item{}
	}
	it.status = from.Status
	if it.textual() {
		if rest, ok := it.rest(valid(from.Text)); ok {
			if from.Text != "" {
				it.stream = nil // what it holds is in the rest
			}
			n.theirText(it, rest)
		}
	} else {
		it.found(from, n.limit())
		it.result(from, n.limit())
	}
	it.state = finished
	if it.body.Type == event.Message && !it.body.User {
		if late {
			n.closeTheirs(it, event.Commentary)
			return
		}
		n.tellHeld(it.parent, event.Commentary)
		n.work.held[it.parent] = it
		return
	}
	n.closeTheirs(it, event.NoPhase)
}

// closeTheirs tells an item of a subagent.
func (n *normaliser) closeTheirs(it *item, phase event.Phase) {
	if it.body.Type == event.Subagent {
		n.closeWork(it)
	}
	if text := it.flush(); it.textual() {
		n.theirText(it, text)
	} else {
		n.append(it, text)
	}
	b := it.body
	b.ID, b.Status, b.Phase = it.id, it.outcome(), phase
	switch {
	case it.textual():
		b.Text = it.text.String()
	case b.Output == "":
		b.Output = bounded(it.text.String(), 0, it.lost)
	}
	it.state = closed
	it.text.Reset()
	it.parts = nil
	n.work.open = without(n.work.open, it)
	n.tell(&b)
}

// tellHeld tells the message that a subagent's call held back.
func (n *normaliser) tellHeld(call event.ID, phase event.Phase) {
	if it := n.work.held[call]; it != nil {
		delete(n.work.held, call)
		n.closeTheirs(it, phase)
	}
}

// closeWork tells what is open of a subagent whose call ends. Its last message is
// its report if the call was done.
func (n *normaliser) closeWork(call *item) {
	for {
		it := n.firstOpen(call.id)
		if it == nil {
			break
		}
		it.state, it.status = finished, event.Incomplete
		phase := event.NoPhase
		if it.body.Type == event.Message && !it.body.User {
			phase = event.Commentary
		}
		n.closeTheirs(it, phase)
	}
	phase := event.Commentary
	if call.outcome() == event.Done {
		phase = event.FinalAnswer
	}
	n.tellHeld(call.id, phase)
}

// firstOpen is the first unfinished item below a call.
func (n *normaliser) firstOpen(call event.ID) *item {
	for _, it := range n.work.open {
		if it.parent == call && it.state == open {
			return it
		}
	}
	return nil
}

// endWork tells what came after its call had ended and is still open.
func (n *normaliser) endWork() {
	for len(n.work.open) > 0 {
		it := n.work.open[0]
		if it.state == open {
			it.state, it.status = finished, event.Incomplete
		}
		if n.work.held[it.parent] == it {
			delete(n.work.held, it.parent)
		}
		phase := event.NoPhase
		if it.body.Type == event.Message && !it.body.User {
			phase = event.Commentary
		}
		n.closeTheirs(it, phase)
	}
}
