package actors

import (
	"slices"

	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about its running turn.
type (
	granted struct {
		turn event.ID
		// spent is what the budgets beyond the session's own have used.
		spent budget.Spent
	}
	// turnEvents are what a turn did next. release is called once they are stored
	// or were refused.
	turnEvents struct {
		turn    event.ID
		events  []event.Event
		release func(error)
		// answers, if any, are what these events take in.
		answers *answers
		// more says that the turn's end follows in a moment, or goOn: they are stored
		// together.
		more bool
	}
	// goOn says that what has more to follow need not wait for it.
	goOn struct{}
	// turnGone says that a turn's actor stopped, in its place behind what that
	// actor sent.
	turnGone struct{ who *actor.PID }
	// turnFinished says that nothing of the turn is left, its process included.
	turnFinished struct{ turn event.ID }
)

// running is the turn whose actor lives.
type running struct {
	turn event.ID
	pid  *actor.PID
	// givenUp says that it was stopped for want of room on the disk.
	givenUp bool
	// parked says that it gave its slot back.
	parked bool
	// counted says that it is one of those that may wait without a slot, crowded that
	// it waits in its slot because they are too many.
	counted, crowded bool
	// spent says that it was told to stop at a budget, deaf that its CLI refused a
	// message.
	spent, deaf bool
}

func (s *session) effects(c actor.Context, effects []queue.SessionEffect) {
	for _, e := range effects {
		switch e := e.(type) {
		case queue.Ask:
			c.Send(s.supervisor, &askSlot{queue.Entry{
				Session: s.id, Turn: e.Turn, Number: e.Number,
				Principal: s.state.Session().Owner, Agent: s.host.boundAgent(&s.state.Settings().Agent),
			}, s.hasty == e.Turn})
		case queue.Withdraw:
			c.Send(s.supervisor, &withdrawSlot{e.Turn})
		case queue.Return:
			c.Send(s.supervisor, &returnSlot{e.Turn})
		case queue.Start:
			s.start(c, e.Turn)
		case queue.Resume:
			s.resume(c, e)
		}
	}
}

// start runs a turn in its slot. After a halt the slot goes back and the turn
// stays queued in the store.
func (s *session) start(c actor.Context, id event.ID) {
	t, ok := s.state.Turn(id)
	if !ok || s.halted {
		s.effects(c, s.fifo.Done(id))
		c.Send(s.supervisor, &returnSlot{id})
		return
	}
	t.Settings = s.state.Settings() // an update since the acceptance counts
	s.brief(t)
	ses := s.state.Session()
	self := c.Self()
	bounds := s.host.cfg.limits.Budgets.OfTurn(t.Settings, budget.Of(ses.Usage), s.spent)
	pid := c.Spawn(s.host.props(func() actor.Actor { return newTurn(s.host, self, &ses, t, bounds) }))
	s.run = &running{turn: id, pid: pid}
	s.hurry(c)
}

// hurry tells the running turn that others wait, so that a process that lingers
// after its answer is not given all its time.
func (s *session) hurry(c actor.Context) {
	if s.run != nil && s.fifo.Waiting() > 0 {
		c.Send(s.run.pid, &hurry{})
	}
}

// took folds what the running turn did.
func (s *session) took(c actor.Context, m *turnEvents) {
	if s.run == nil || s.run.turn != m.turn {
		m.release(nil)
		return
	}
	if !s.state.IsOpen(m.turn) {
		m.release(nil) // nothing follows a turn's end
		return
	}
	var key *store.Key
	if m.answers != nil {
		key = m.answers.key
	}
	g := s.group(key)
	before, now := s.state.Session().Head, s.host.now().UnixMilli()
	g.batch.Events = slices.Grow(g.batch.Events, len(m.events))
	for _, ev := range m.events {
		ev.Turn = m.turn
		if end, ok := ev.Body.(*event.End); ok {
			s.end(g, ev, end)
			continue
		}
		s.addAt(g, ev, now)
		switch ev.Kind {
		case event.ItemDone, event.TurnStarted, event.CallAnswered, event.SubagentItem, event.InputSteered:
			g.durable = true
		case event.TurnWaiting, event.LegStarted:
			g.durable, g.body = true, true
		}
	}
	if m.answers != nil {
		s.answered(g, m, before)
	}
	s.askAround(c)
	g.then = append(g.then, func(_ actor.Context, err error) { m.release(err) })
	if !m.more {
		s.flush(c)
	}
	s.requeue(c)
}

// answered prepares the reply to who answered, for when it is stored.
func (s *session) answered(g *group, m *turnEvents, before int64) {
	p := &Posted{Session: s.state.Session(), Before: before}
	if t, ok := s.state.Turn(m.turn); ok {
		p.Turns = append(p.Turns, t)
	}
	answerOf(m.answers.key, p)
	g.body = true
	told := m.answers
	s.asking = slices.DeleteFunc(s.asking, func(a *answers) bool { return a == m.answers })
	g.then = append(g.then, func(_ actor.Context, err error) { told.tell(p, err) })
}

// settle ends a turn that has no actor: its open items, then the turn.
func (s *session) settle(g *group, id event.ID, end *event.End) {
	t, ok := s.state.Turn(id)
	if !ok {
		return
	}
	for _, sub := range t.Subagents {
		if sub.Closed == 0 && !sub.Call.Parent.IsZero() {
			cut := *sub.Call
			cut.Status = event.Incomplete
			s.add(g, event.Event{Kind: event.SubagentItem, Turn: id, Item: cut.ID, Body: &cut})
		}
	}
	for _, it := range t.Items {
		if it.Status != event.InProgress {
			continue
		}
		cut := *it
		cut.Status = event.Incomplete
		s.add(g, event.Event{Kind: event.ItemDone, Turn: id, Item: it.ID, Body: &cut})
	}
	s.end(g, event.Event{Kind: event.TurnEnded, Turn: id}, end)
	if t.Status == fold.Running {
		host := s.host
		host.work.Go(func() { host.disown(id) })
	}
}

// end folds a turn's last event, and at once that it is forgotten if somebody
// asked for that: a crash in between would leave what was to be removed.
func (s *session) end(g *group, ev event.Event, end *event.End) {
	hit := s.afterEnd(end.Usage)
	left := s.state.Steering(ev.Turn) // not taken: turns of their own
	end.Idle = s.state.Session().Open == 1 && hit == nil
	ev.Body = end
	v := s.add(g, ev)
	defer func() { // behind what is forgotten
		for _, in := range left {
			s.release(g, in)
		}
		if hit != nil {
			s.hit(g, hit)
		}
	}()
	g.durable, g.body = true, true
	s.charge(g, end.Usage)
	g.then = append(g.then, func(_ actor.Context, err error) {
		if err == nil {
			s.host.ended(v)
		}
	})
	asked := s.forget[ev.Turn]
	delete(s.forget, ev.Turn)
	var replies []chan answer[struct{}]
	for _, m := range asked {
		replies = append(replies, m.reply)
	}
	switch {
	case forgetful(v.Turn):
		s.forgetIn(g, v.Turn, replies...)
	case len(asked) > 0:
		s.forgetLegs(g, v.Turn, asked, replies...)
	default:
		s.record(g, v.Turn, store.TurnEnded)
	}
}

// forgetful reports whether a request that the turn answered asked not to be stored.
func forgetful(t *fold.Turn) bool {
	forget := t.Input.Forget
	for _, l := range t.Legs {
		forget = forget || l.Input != nil && l.Input.Forget
	}
	return forget
}

// finished: the turn's process is gone, its slot and place are free.
func (s *session) finished(c actor.Context, turn event.ID) {
	if s.run == nil || s.run.turn != turn {
		return
	}
	if s.storing() {
		// Its last events first: a drained host has stored everything.
		g := s.group(nil)
		g.then = append(g.then, func(c actor.Context, _ error) {
			if c != nil { // nil: this actor is stopping, and its parent takes the slot back
				s.free(c, turn)
			}
		})
		return
	}
	s.free(c, turn)
}

func (s *session) free(c actor.Context, turn event.ID) {
	if s.run == nil || s.run.turn != turn {
		return
	}
	s.unpark()
	s.unasked(event.Fail(event.CallAnsweredAlready, "the turn ended before the answer reached it"))
	s.run = nil
	// The session's next ask goes first: its place in the host's line is by
	// acceptance, and the slot may be its own.
	s.effects(c, s.fifo.Done(turn))
	c.Send(s.supervisor, &returnSlot{turn})
	s.erase(c)
	s.reload(c)
	s.quiet(c)
	s.rest(c)
}

// turnGone: a turn's actor stopped. Without turnFinished it crashed.
func (s *session) turnGone(c actor.Context, who *actor.PID) {
	if s.run == nil || s.run.pid.GetId() != who.GetId() {
		return
	}
	turn := s.run.turn
	if s.failure == nil {
		g := s.group(nil)
		s.settle(g, turn, &event.End{Outcome: event.Failed, Failure: internalEnd()})
		s.asksNothing(c)
		s.flush(c)
		s.requeue(c)
	}
	s.finished(c, turn)
}
