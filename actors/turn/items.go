package turn

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// normaliser makes events of facts: it opens items at their first mention, names
// them, keeps their texts, and closes each exactly once.
type normaliser struct {
	turn  *Turn
	known map[string]*item
	last  *item // of the newest fact: most pieces continue it
	// open are the items without an ItemDone, by index; the held message too.
	open []*item
	// held is the finished message whose phase is not known yet. It is always the
	// newest message.
	held   *item
	newest *item // the message opened last
	// said is the newest closed message's text, or its first part with saidMore.
	said     string
	saidMore bool
	native   string
	count    uint32
	// deferred are tools whose ItemStarted waits for the question that may precede it.
	deferred []*item
	work     work // of subagents
	// delegated says that a subagent began or reported since the newest verdict, reports
	// that one did before it, or works: the CLI goes on with what it reports.
	delegated, reports bool
	// suspended are the items that the wait cut off, until they go on: their tools run.
	suspended []*item
}

// take makes events of any fact but a verdict.
func (n *normaliser) take(f *agent.Fact) {
	f = n.veiled(f)
	if f.Parent != "" {
		n.theirs(f)
		return
	}
	switch f.Kind {
	case agent.FactSession:
		n.session(valid(f.Text))
	case agent.FactStart:
		n.started(f)
	case agent.FactText:
		n.piece(f, event.Message)
	case agent.FactReasoning:
		n.piece(f, event.Reasoning)
	case agent.FactOutput:
		n.output(f)
	case agent.FactDone:
		n.done(f)
	case agent.FactNotice:
		n.turn.emit(event.Event{Kind: event.Notice, Text: bounded(valid(f.Text), n.limit(), 0)})
	case agent.FactUnknown:
		n.turn.emit(event.Event{Kind: event.Unknown, Text: bounded(valid(f.Text), n.limit(), 0)})
	case agent.FactVerdict: // the turn's own business
	}
}

func (n *normaliser) limit() int { return n.turn.cfg.MaxItemBytes }

// session tells the CLI's own session id when it is new.
func (n *normaliser) session(id string) {
	if id == "" || id == n.native {
		return
	}
	n.native = id
	n.turn.emit(event.Event{Kind: event.NativeSession, Text: id})
}

func (n *normaliser) started(f *agent.Fact) {
	it := n.find(f.Key)
	switch {
	case f.Item == nil:
		return
	case it == nil:
		if it = n.add(f.Key, f.Item); it != nil && it.textual() {
			n.text(it, n.pass(it, valid(f.Item.Text)))
		}
	case it.state == open && !it.textual():
		it.found(f.Item, n.limit())
	}
}

func (n *normaliser) piece(f *agent.Fact, as event.ItemType) {
	it := n.find(f.Key)
	if it == nil {
		it = n.add(f.Key, &event.Item{Type: as})
	}
	if it.state != open || it.body.Type != as {
		n.turn.dropped++
		return
	}
	if f.Text == "" {
		return
	}
	n.reopen(it)
	n.text(it, n.pass(it, valid(f.Text)))
}

func (n *normaliser) output(f *agent.Fact) {
	it := n.find(f.Key)
	if it == nil || it.state != open || it.textual() {
		if it == nil || !it.hosts {
			n.turn.dropped++
		}
		return
	}
	n.reopen(it)
	n.outputs(it, n.pass(it, valid(f.Text)))
}

// outputs tells a piece of a tool's output.
func (n *normaliser) outputs(it *item, text string) {
	if text = n.append(it, text); text == "" {
		return
	}
	if it.body.Type == event.Command {
		n.turn.emit(event.Event{Kind: event.OutputDelta, Item: it.id, Text: text})
	}
}

// append adds to a tool's output what of text fits into it, and gives that.
func (n *normaliser) append(it *item, text string) string {
	if limit := n.limit(); limit > 0 {
		at := splitAt(text, max(0, limit-it.text.Len()))
		if it.lost > 0 {
			at = 0 // what follows a cut would not join
		}
		it.lost += int64(len(text) - at)
		text = text[:at]
	}
	it.text.WriteString(text)
	return text
}

func (n *normaliser) done(f *agent.Fact) {
	it := n.find(f.Key)
	if it == nil {
		if it = n.add(f.Key, f.Item); it == nil {
			return
		}
	}
	if it.state != open {
		return
	}
	from := f.Item
	if from == nil {
		from = &event.Item{}
	}
	if it.cut && it.textual() {
		if rest, ok := it.rest(valid(from.Text)); !ok || rest == "" {
			n.resume(it)
			it.state, it.parts = closed, nil // all of it was said before the wait
			return
		}
	}
	n.reopen(it)
	text := valid(from.Text)
	rest, whole := it.rest(text)
	if whole && from.Text != "" && it.textual() {
		it.stream = nil // what it holds is in the rest
	} else {
		n.unheld(it)
	}
	it.state = finished
	it.status = from.Status
	if !it.textual() {
		it.found(from, n.limit())
		it.result(from, n.limit())
		n.close(it, event.NoPhase)
		return
	}
	if whole {
		n.text(it, rest)
		if len(it.parts) == 0 {
			it.whole = text // no need to join it again
		}
	}
	switch {
	case it.body.Type == event.Reasoning:
		n.close(it, event.NoPhase)
	case it == n.newest:
		n.held = it
	default: // another message began meanwhile
		n.close(it, event.Commentary)
	}
}

// find is the item of a key, nil when it was never mentioned.
func (n *normaliser) find(key string) *item {
	if n.last != nil && n.last.key == key {
		return n.last
	}
	it := n.known[key]
	if it != nil {
		n.last = it
	}
	return it
}

// add opens an item at its first mention; nil when from is nothing we know.
func (n *normaliser) add(key string, from *event.Item) *item {
	if from == nil || !known(from.Type) {
		n.turn.dropped++
		return nil
	}
	it := &item{key: key, body: event.Item{Type: from.Type}}
	n.known[key] = it
	n.last = it
	if it.hosts = from.Type == event.ToolCall && from.Server == n.turn.cfg.HostServer && from.Server != ""; it.hosts {
		it.state = closed // it is told as a call
		return it
	}
	if it.textual() {
		n.startDeferred()
	} else {
		it.learn(from, n.turn.cfg.Adapter, n.limit())
		if n.turn.cfg.Asks && n.turn.state == running {
			it.cut = true
			n.deferred = append(n.deferred, it)
			n.turn.gather()
			return it
		}
	}
	n.start(it)
	return it
}

// known reports whether an item of the type is one that a CLI's output tells of.
func known(t event.ItemType) bool { return t >= event.Message && t <= event.Subagent }

// startDeferred begins the items that waited.
func (n *normaliser) startDeferred() {
	for len(n.deferred) > 0 {
		n.reopen(n.deferred[0])
	}
}

// reopen begins an item whose start waited, or one again that was cut off when the
// turn began to wait.
func (n *normaliser) reopen(it *item) {
	if !it.cut || it.state != open {
		return
	}
	n.resume(it)
	n.start(it)
}

// resume takes the item out of those that wait or were cut off.
func (n *normaliser) resume(it *item) {
	it.cut = false
	n.deferred = without(n.deferred, it)
	n.suspended = without(n.suspended, it)
}

// suspend closes what is open, because the leg ends. What goes on in the next leg
// does so in a further item.
func (n *normaliser) suspend() {
	for len(n.open) > 0 {
		it := n.open[0]
		if it.state != open { // the held message
			n.close(it, event.Commentary)
			continue
		}
		n.unheld(it)
		parts, status := append(it.parts, it.text.String()), it.status
		it.status = event.Incomplete
		if it.textual() {
			it.status = event.Done
		}
		n.close(it, event.Commentary)
		it.state, it.status, it.cut = open, status, true
		n.suspended = append(n.suspended, it)
		if it.textual() {
			it.parts = parts
		}
	}
}

// identity is the next item's id.
func (n *normaliser) identity() event.ID {
	id := event.ItemID(n.turn.cfg.Turn, n.turn.cfg.FirstOutput+n.count)
	n.count++
	return id
}

// start gives the item its next identity. A message or a tool makes the held
// message commentary; reasoning may still precede the final answer's end.
func (n *normaliser) start(it *item) {
	if it.body.Type != event.Reasoning && n.held != nil {
		n.close(n.held, event.Commentary)
	}
	it.id = n.identity()
	it.late = n.turn.verdict != nil
	n.open = append(n.open, it)
	if it.body.Type == event.Message {
		n.newest = it
	}
	b := it.body
	b.ID, b.Status = it.id, event.InProgress
	n.turn.emit(event.Event{Kind: event.ItemStarted, Item: it.id, Body: &b})
	if b.Type == event.Subagent {
		n.delegated = true
		n.asked(it)
	}
}

// text appends to a message or reasoning; what passes the limit continues in a
// further item.
func (n *normaliser) text(it *item, s string) {
	limit := n.limit()
	for limit > 0 && len(s) > limit-it.text.Len() {
		at := splitAt(s, limit-it.text.Len())
		n.delta(it, s[:at])
		s = s[at:]
		n.next(it)
	}
	n.delta(it, s)
}

func (n *normaliser) delta(it *item, s string) {
	if s == "" {
		return
	}
	it.text.WriteString(s)
	kind := event.TextDelta
	if it.body.Type == event.Reasoning {
		kind = event.ReasoningDelta
	}
	n.turn.emit(event.Event{Kind: kind, Item: it.id, Text: s})
}

// next closes a full part of a long text and opens the one that continues it.
func (n *normaliser) next(it *item) {
	st, status, stream := it.state, it.status, it.stream
	it.stream = nil // it goes on in the next part
	parts := append(it.parts, it.text.String())
	it.status = event.Done
	n.close(it, event.Commentary)
	it.parts = parts
	it.state, it.status, it.stream = st, status, stream
	n.start(it)
}

// close emits the item's ItemDone.
func (n *normaliser) close(it *item, phase event.Phase) {
	n.unheld(it)
	if it.body.Type == event.Subagent {
		n.delegated = true
		n.closeWork(it)
	}
	b := it.body
	b.ID, b.Status = it.id, it.outcome()
	switch {
	case it.body.Type == event.Message:
		b.Text, b.Phase = it.joined(), phase
		n.said, n.saidMore = b.Text, false
		if len(it.parts) > 0 {
			n.said, n.saidMore = it.parts[0], true
		}
	case it.body.Type == event.Reasoning:
		b.Text = it.joined()
	case b.Output == "":
		b.Output = bounded(it.text.String(), 0, it.lost)
	}
	it.state, it.whole = closed, ""
	it.text.Reset()
	it.parts = nil
	if n.held == it {
		n.held = nil
	}
	n.open = without(n.open, it)
	n.turn.emit(event.Event{Kind: event.ItemDone, Item: it.id, Body: &b})
}

// end closes everything that is open. A completed turn ends with a message: the
// newest one if its phase is still open, else one of its own with the verdict's
// text.
func (n *normaliser) end(completed bool, text string) {
	n.startDeferred()
	var answer *item
	if m := n.newest; completed && m != nil && m.state != closed && !m.cut {
		answer = m
		if m.state == open {
			m.state, m.status = finished, event.Done
		}
		n.unheld(m)
		if m.text.Len() == 0 && len(m.parts) == 0 {
			n.text(m, valid(text))
		}
	}
	for len(n.open) > 0 {
		it := n.open[0]
		if it.state == open {
			it.state, it.status = finished, event.Incomplete
		}
		phase := event.Commentary
		if it == answer {
			phase = event.FinalAnswer
		}
		n.close(it, phase)
	}
	n.endWork()
	switch {
	case completed && answer == nil:
		n.answer(n.unsaid(text), event.FinalAnswer)
	case !completed && n.newest == nil && text != "":
		n.answer(valid(text), event.Commentary)
	}
}

// without is list without it, in place.
func without(list []*item, it *item) []*item {
	for i, o := range list {
		if o == it {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// answer makes a message that no fact opened.
func (n *normaliser) answer(text string, phase event.Phase) {
	it := &item{body: event.Item{Type: event.Message}, state: finished, status: event.Done}
	n.start(it)
	n.text(it, text)
	n.close(it, phase)
}

// unsaid is a verdict's text, or nothing when the newest message began with it:
// some CLIs repeat their answer, or its first part.
func (n *normaliser) unsaid(text string) string {
	text = valid(text)
	said, want := strings.TrimSpace(n.said), strings.TrimSpace(text)
	if said != "" && (strings.HasPrefix(said, want) || n.saidMore && strings.HasPrefix(want, said)) {
		return ""
	}
	return text
}

// verdictCame forgets what was open before the verdict.
func (n *normaliser) verdictCame() {
	n.reports, n.delegated = n.delegated, false
	for _, list := range [...][]*item{n.open, n.suspended} {
		for _, it := range list {
			it.late = false
			n.reports = n.reports || it.body.Type == event.Subagent
		}
	}
}

// wentOn reports whether something that began after the verdict is unfinished.
func (n *normaliser) wentOn() bool {
	for _, list := range [...][]*item{n.open, n.suspended} {
		for _, it := range list {
			if it.late && it.state == open {
				return true
			}
		}
	}
	return false
}

// openTool is the tool that has been running longest, nil without one.
func (n *normaliser) openTool() *item {
	for _, list := range [...][]*item{n.suspended, n.open} {
		for _, it := range list {
			if !it.textual() {
				return it
			}
		}
	}
	return nil
}

// stillRunning names the open tool for a timeout's message.
func (n *normaliser) stillRunning() string {
	it := n.openTool()
	if it == nil {
		return "with no tool running"
	}
	return fmt.Sprintf("while %s was running", it.describe())
}
