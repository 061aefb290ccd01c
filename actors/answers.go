package actors

import (
	"context"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages about a turn that waits for its caller.
type (
	// answers are what a caller says to it. The session hands them to the turn's
	// actor, whose events bring them back; the reply follows their commit.
	answers struct {
		in    turn.Answered
		key   *store.Key
		reply chan answer[*Posted]
	}
	// park says that the turn gives its slot back, unpark that it wants one again,
	// resumed that it has one.
	park    struct{ turn event.ID }
	unpark  struct{ turn event.ID }
	resumed struct{}
	// crowded says to the supervisor that a turn waits in its slot because as many as
	// may wait without one, uncrowded that there is one less: who waits in a slot is
	// told to park again.
	crowded struct {
		turn event.ID
		pid  *actor.PID
	}
	uncrowded struct{}
	parkLate  struct{ turn event.ID }
)

// tell answers who sent them, unless that was done: their turn and their session
// may both have to.
func (m *answers) tell(p *Posted, err error) {
	select {
	case m.reply <- answer[*Posted]{value: p, err: err}:
	default:
	}
}

// answerable refuses answers to what does not wait, in words that tell an unknown
// call from one that was answered. A call that waits may still be answered by
// another or time out before these come.
func (h *Host) answerable(ctx context.Context, owner string, session event.ID, actions []spec.Action) error {
	of := event.ID{}
	for _, a := range actions {
		if a.Answer == nil {
			return event.Fail(event.InvalidRequest, "answers to calls cannot be mixed with other input; send them by themselves")
		}
		id := event.TurnOf(a.Answer.Item)
		if !of.IsZero() && id != of {
			return event.Fail(event.InvalidRequest, "answers to calls of different turns cannot be sent together")
		}
		of = id
	}
	t, err := h.Turn(ctx, owner, of)
	if err != nil && event.CodeOf(err) != event.TurnNotFound {
		return err
	}
	for _, a := range actions {
		if err != nil || !session.IsZero() && t.Session != session {
			return unknownCall(a.Answer.Item)
		}
		known := false
		for _, it := range t.Items {
			if it.ID != a.Answer.Item || !it.Type.Asks() {
				continue
			}
			if known = true; it.Status != event.InProgress || t.Status.Ended() {
				return event.Fail(event.CallAnsweredAlready, "the call "+callName(it.ID)+" no longer waits for an answer: it was answered, it timed out, or its turn ended")
			}
		}
		if !known {
			return unknownCall(a.Answer.Item)
		}
	}
	return nil
}

func unknownCall(id event.ID) error {
	return event.Fail(event.CallUnknown, "no call with the id "+callName(id)+" waits for an answer")
}

func callName(id event.ID) string { return id.With(event.PrefixCall) }

// answerTurn hands answers to the turn that waits.
func (s *session) answerTurn(c actor.Context, m *post) {
	first := m.actions[0].Answer
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*Posted]{err: err}
		return
	}
	if s.run == nil || s.run.turn != event.TurnOf(first.Item) {
		m.reply <- answer[*Posted]{err: event.Fail(event.CallAnsweredAlready, "the turn of this call no longer waits for an answer")}
		return
	}
	out := &answers{key: m.key, reply: m.reply}
	for _, a := range m.actions {
		out.in.Answers = append(out.in.Answers, itemOf(a.Answer))
		out.in.Cancel = out.in.Cancel || a.Answer.Cancel
	}
	if l := first.Leg; l != nil {
		out.in.Leg = &event.Leg{Wire: "responses", Echo: l.Echo, Background: l.Background, Forget: l.Forget}
		out.in.Conclude = l.Conclude
	}
	c.Send(s.run.pid, out)
	s.asking = append(s.asking, out)
}

// itemOf is the item of an answer, as far as the turn does not set it.
func itemOf(a *spec.Answer) *event.Item {
	it := &event.Item{
		Type: event.FunctionOutput, Call: a.Item, Output: a.Output, Parts: a.Parts, Error: a.Error,
		Approved: a.Approve, Text: a.Reason,
	}
	switch {
	case a.Permission:
		it.Type = event.ApprovalAnswer
	case a.Failed:
		it.Status = event.ItemFailed
	}
	return it
}

// unasked tells who still waits for a turn's word on their answers that the turn is
// gone.
func (s *session) unasked(err error) {
	for _, m := range s.asking {
		m.tell(nil, err)
	}
	s.asking = nil
}

// parked: the running turn waits for its caller. Past the bound it keeps its slot
// until another was answered, so that there are never more processes than slots and
// that many.
func (s *session) parked(c actor.Context, turn event.ID) {
	if s.run == nil || s.run.turn != turn || s.run.parked {
		return
	}
	if s.host.stats.parked.Add(1) > int64(s.host.cfg.limits.MaxWaitingProcesses) {
		s.host.stats.parked.Add(-1)
		s.run.crowded = true
		c.Send(s.supervisor, &crowded{turn: turn, pid: c.Self()})
		return
	}
	s.run.parked, s.run.counted, s.run.crowded = true, true, false
	s.effects(c, s.fifo.Park(turn))
}

// parkLate: there may be room for the turn that waits in its slot.
func (s *session) parkLate(c actor.Context, turn event.ID) {
	if s.run != nil && s.run.turn == turn && s.run.crowded {
		s.parked(c, turn)
	}
}

// unparked asks for a slot, unless the turn kept its own. It waits for its caller no
// more, so another may wait in its place and give it the slot that it needs.
func (s *session) unparked(c actor.Context, turn event.ID) {
	switch {
	case s.run == nil || s.run.turn != turn:
	case s.run.parked:
		s.effects(c, s.fifo.Unpark(turn))
		s.uncount()
	default:
		s.run.crowded = false
		c.Send(s.run.pid, &resumed{})
	}
}

// resume goes on with the running turn in the slot that was granted.
func (s *session) resume(c actor.Context, e queue.Resume) {
	if s.run == nil || s.run.turn != e.Turn {
		c.Send(s.supervisor, &returnSlot{e.Turn})
		return
	}
	s.unpark()
	c.Send(s.run.pid, &resumed{})
}

// unpark: the running turn has a slot again, or has ended.
func (s *session) unpark() {
	if s.run != nil {
		s.uncount()
		s.run.parked, s.run.crowded = false, false
	}
}

// uncount takes the running turn out of the count of those that wait.
func (s *session) uncount() {
	if s.run.counted {
		s.run.counted = false
		s.host.stats.parked.Add(-1)
		s.host.root.Send(s.supervisor, &uncrowded{})
	}
}

// squeezed holds a turn that waits in its slot, unless there is room by now.
func (s *supervisor) squeezed(c actor.Context, m *crowded) {
	s.crowd = append(s.crowd, m)
	if s.host.stats.parked.Load() < int64(s.host.cfg.limits.MaxWaitingProcesses) {
		s.uncrowd(c)
	}
}

// uncrowd tells all that wait in their slots to park; who finds no room comes back.
func (s *supervisor) uncrowd(c actor.Context) {
	for _, m := range s.crowd {
		c.Send(m.pid, &parkLate{m.turn})
	}
	s.crowd = nil
}
