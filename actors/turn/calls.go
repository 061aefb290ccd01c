package turn

import (
	"fmt"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// call is something that the CLI asks of the caller.
type call struct {
	number int64
	item   *event.Item // with its id once it is shown
	// answer is what the CLI will be told; nil while the call is open.
	answer *event.Item
	left   bool // the CLI no longer waits for it
}

func (c *call) open() bool { return c.answer == nil && !c.left }

// called takes a call in. It is shown once no other has come for a moment: calls of
// one breath are answered together.
func (t *Turn) called(in Called) {
	if in.Item == nil || !in.Item.Type.Asks() {
		t.dropped++
		return
	}
	own := *in.Item
	if t.veil != nil { // what it calls may need a token that is no secret of ours
		own = *veiledItem(in.Item, t.veil.Known)
	}
	own.Tool, own.Server, own.Text = valid(own.Tool), valid(own.Server), bounded(valid(own.Text), t.cfg.MaxItemBytes, 0)
	own.Arguments = arguments(own.Arguments, t.cfg.MaxItemBytes)
	t.active = t.now
	t.pending = append(t.pending, &call{number: in.Call, item: &own})
	if t.state == running {
		t.gather()
	}
}

func (t *Turn) gather() { t.arm(CallTimer, max(t.cfg.Gather, time.Millisecond)) }

// gathered is the end of that moment.
func (t *Turn) gathered() {
	if len(t.pending) == 0 {
		t.items.startDeferred()
		return
	}
	if t.legs >= event.MaxLegs {
		t.strike(event.Fail(event.TurnLimit, fmt.Sprintf("%s called the caller's functions more than %d times in one turn", t.name(), event.MaxLegs)))
		return
	}
	t.disarm(IdleTimer, SettleTimer, TurnTimer)
	t.turnLeft = max(time.Duration(t.turnEnds-t.now)*time.Millisecond, time.Millisecond)
	t.items.suspend()
	for _, c := range t.pending {
		c.item.ID, c.item.Status = t.items.identity(), event.InProgress
		t.emit(event.Event{Kind: event.ItemStarted, Item: c.item.ID, Body: c.item})
	}
	t.calls, t.pending = t.pending, nil
	t.emit(event.Event{Kind: event.TurnWaiting, Body: t.pause()})
	t.arm(WaitTimer, t.cfg.ToolTimeout)
	t.state = waiting
	t.do(Wait{})
}

// pause says how the turn stands for the response that its wait ends. Nothing to say
// is no body, as before there was one.
func (t *Turn) pause() event.Body {
	if t.used == nil {
		return nil
	}
	used := *t.used
	return &event.Pause{Usage: &used}
}

// callLeft: the CLI gave a call up.
func (t *Turn) callLeft(in CallLeft) {
	for i, c := range t.pending {
		if c.number == in.Call {
			t.pending = append(t.pending[:i], t.pending[i+1:]...)
			return
		}
	}
	for _, c := range t.calls {
		if c.number == in.Call && c.open() {
			c.left = true
			t.closeCall(c, event.Incomplete, t.name()+" no longer waits for it")
			t.answeredAll(&event.Leg{})
			return
		}
	}
}

// answered takes the caller's answers, all or none.
func (t *Turn) answered(in Answered) {
	if f := t.refusal(&in); f != nil {
		t.do(Refuse{Failure: f})
		return
	}
	leg := &event.Leg{}
	if in.Leg != nil {
		own := *in.Leg
		leg = &own
	}
	for _, a := range in.Answers {
		c := t.find(a.Call)
		t.answer(c, a)
	}
	switch {
	case in.Cancel:
		t.decide(event.Cancelled, nil)
		t.stop()
	case in.Conclude:
		t.decide(event.Completed, nil)
		t.stop()
	default:
		t.answeredAll(leg)
	}
}

func (t *Turn) refusal(in *Answered) *event.Failure {
	seen := map[event.ID]bool{}
	for _, a := range in.Answers {
		c := t.find(a.Call)
		switch {
		case c == nil:
			return event.Fail(event.CallUnknown, "no call with this id waits for an answer")
		case !c.open() || seen[a.Call]:
			return event.Fail(event.CallAnsweredAlready, "this call has been answered or has timed out")
		case (c.item.Type == event.Approval) != (a.Type == event.ApprovalAnswer):
			return event.Fail(event.InvalidRequest, "an approval is answered by an approval's answer and a function call by its output")
		}
		seen[a.Call] = true
	}
	if in.Leg == nil && !in.Conclude {
		return nil
	}
	for _, c := range t.calls {
		if c.open() && !seen[c.item.ID] {
			return event.Fail(event.InvalidRequest, "every open call of the response must be answered at once; there is no answer to "+c.item.ID.With(event.PrefixCall))
		}
	}
	return nil
}

func (t *Turn) find(id event.ID) *call {
	for _, c := range t.calls {
		if c.item.ID == id {
			return c
		}
	}
	return nil
}

// answer closes a call and keeps what the CLI will be told.
func (t *Turn) answer(c *call, from *event.Item) {
	own := *from
	own.ID, own.Status = event.AnswerID(t.cfg.Turn, c.item.ID), event.Done
	own.Output, own.Error, own.Text = valid(own.Output), valid(own.Error), valid(own.Text)
	status := event.Done
	if from.Status == event.ItemFailed {
		status, own.Status = event.ItemFailed, event.ItemFailed
	}
	c.answer = &own
	t.closeCall(c, status, own.Error)
	t.emit(event.Event{Kind: event.CallAnswered, Item: own.ID, Body: &own})
}

func (t *Turn) closeCall(c *call, status event.Status, why string) {
	done := *c.item
	done.Status, done.Error = status, why
	t.emit(event.Event{Kind: event.ItemDone, Item: done.ID, Body: &done})
}

// answeredAll goes on when nothing is open any more: with a slot, which the turn
// gave back. The leg has all answers of the wait, whoever gave them.
func (t *Turn) answeredAll(leg *event.Leg) {
	for _, c := range t.calls {
		if c.open() {
			return
		}
	}
	t.disarm(WaitTimer)
	t.legs++
	leg.Number, leg.Answers = t.legs, nil
	for _, c := range t.calls {
		if c.answer != nil {
			leg.Answers = append(leg.Answers, c.answer.ID)
		}
	}
	t.emit(event.Event{Kind: event.LegStarted, Body: leg})
	t.state = resuming
	t.do(Continue{})
}

// unanswered is the end of the caller's time: its calls fail and the agent goes on.
func (t *Turn) unanswered() {
	why := fmt.Sprintf("%s: the caller gave no answer within %s", event.ToolTimeout, t.cfg.ToolTimeout)
	for _, c := range t.calls {
		if !c.open() {
			continue
		}
		a := &event.Item{Type: event.FunctionOutput, Status: event.ItemFailed, Call: c.item.ID, Error: why}
		if c.item.Type == event.Approval {
			a = &event.Item{Type: event.ApprovalAnswer, Call: c.item.ID, Text: why}
		}
		t.answer(c, a)
	}
	t.answeredAll(&event.Leg{})
}

// resumed: the turn has a slot again.
func (t *Turn) resumed() {
	t.state = running
	t.emit(event.Event{Kind: event.TurnResumed})
	t.items.startDeferred()
	for _, c := range t.calls {
		if c.answer != nil {
			t.do(Deliver{Call: c.number, Answer: c.answer})
		}
	}
	t.calls = nil
	t.active = t.now
	if t.turnEnds > 0 {
		t.turnEnds = t.now + t.turnLeft.Milliseconds()
		t.arm(TurnTimer, t.turnLeft)
	}
	t.arm(IdleTimer, t.cfg.IdleTimeout)
	t.hand()
	if len(t.pending) > 0 {
		t.gather()
	}
}

// waiting: something is asked of the caller. Left by its answers, the end of its
// time, the CLI's exit, or an end of ours.
func (t *Turn) waiting(in Input) {
	switch in := in.(type) {
	case Answered:
		t.answered(in)
	case CallLeft:
		t.callLeft(in)
	case Elapsed:
		if !t.fired(in.Timer) {
			return
		}
		switch in.Timer {
		case WaitTimer:
			t.unanswered()
		case SettleTimer:
			t.elapsed(in.Timer)
		case TurnTimer, IdleTimer, LingerTimer, CallTimer: // not armed while waiting
		}
	default:
		t.paused(in)
	}
}

// resuming: all is answered, a slot is asked for. Left like waiting, or by Resumed.
func (t *Turn) resuming(in Input) {
	switch in := in.(type) {
	case Resumed:
		t.resumed()
	case Answered:
		t.do(Refuse{Failure: event.Fail(event.CallAnsweredAlready, "this call has been answered or has timed out")})
	case CallLeft:
		t.callLeft(in)
	case Elapsed:
		if t.fired(in.Timer) && in.Timer == SettleTimer {
			t.elapsed(in.Timer)
		}
	default:
		t.paused(in)
	}
}

// paused is what waiting and resuming share.
func (t *Turn) paused(in Input) {
	switch in := in.(type) {
	case Output:
		t.output(in)
	case LineDropped:
		t.lineDropped(in)
	case Used:
		t.weigh(in)
	case OutputLimit:
		t.unread = true
		t.strike(outputLimit(t.name(), in.Limit))
	case Called:
		t.called(in)
	case Exited:
		t.exit(in)
	case Gone:
		t.exit(Exited{Exit: agent.Exit{Code: -1}})
		t.finish()
	case Cancel:
		t.decide(event.Cancelled, nil)
		t.stop()
	case Stop:
		t.decide(event.Failed, stopFailure(in.Failure))
		t.stop()
	default:
		t.drop(in)
	}
}

// closeCalls closes what was asked and not answered when the turn ends.
func (t *Turn) closeCalls() {
	for _, c := range t.calls {
		if c.open() {
			t.closeCall(c, event.Incomplete, "the turn ended before it was answered")
		}
	}
	t.calls, t.pending = nil, nil
}
