package simulation

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/turn"
)

// question is something that a turn asked.
type question struct {
	session, turn, item event.ID
	approval            bool
}

// Messages about a turn that waits for its caller.
type (
	// answers are what a caller says, to the session and on to its turn.
	answers struct {
		turn event.ID
		in   turn.Answered
	}
	// delivered tells a CLI the answer to a call.
	delivered struct{ call int64 }
)

func (a *answers) calls() (out []event.ID) {
	for _, it := range a.in.Answers {
		out = append(out, it.Call)
	}
	return out
}

// answer is a client's word to what is asked somewhere: to some of it or all, in time,
// late, twice, wrong, or with an end of the turn.
func (w *world) answer() bool {
	var open []question
	for _, id := range w.known {
		s := w.sessions[id]
		if s == nil || s.run == nil {
			continue
		}
		for _, it := range s.state.Session().Required {
			q := question{id, s.run.id, it.ID, it.Type == event.Approval}
			open = append(open, q)
			if !slices.Contains(w.asked, q) {
				w.asked = append(w.asked, q)
			}
		}
	}
	if len(w.asked) == 0 {
		return false
	}
	w.asked = w.asked[max(0, len(w.asked)-12):] // nobody remembers longer
	about := w.asked[w.rng.IntN(len(w.asked))]
	if len(open) > 0 && !w.chance(4) {
		about = open[w.rng.IntN(len(open))]
	}
	m := answers{turn: about.turn}
	for _, q := range w.asked {
		if q.turn != about.turn || q != about && (w.chance(3) || !slices.Contains(open, q) && !w.chance(9)) {
			continue
		}
		it := &event.Item{Type: event.FunctionOutput, Call: q.item, Output: "rain"}
		if q.approval != w.chance(50) {
			it = &event.Item{Type: event.ApprovalAnswer, Call: q.item, Approved: w.chance(2)}
		}
		m.in.Answers = append(m.in.Answers, it)
	}
	if w.chance(3) {
		m.in.Leg = &event.Leg{Wire: "responses"}
	}
	m.in.Conclude, m.in.Cancel = w.chance(20), w.chance(40)
	if !slices.Contains(w.known, about.session) {
		return false
	}
	w.counts["answers"]++
	w.send(client, w.session(about.session).actor, m)
	return true
}

// answer hands answers to the turn that waits.
func (s *session) answer(m answers) {
	if s.broken || s.deleting || s.run == nil || s.run.id != m.turn {
		s.w.counts["answers refused"]++
		return
	}
	s.w.send(s.actor, s.run.actor, m)
}

// park: the running turn gives its slot back, unless too many did.
func (s *session) park(id event.ID) {
	t := s.run
	if s.broken || t == nil || t.id != id || t.parked || s.w.parked >= maxParked && !s.w.faults.parkAll {
		return
	}
	t.parked = true
	s.w.parked++
	s.w.counts["parked"]++
	s.effects(s.fifo.Park(id))
	s.w.judge.slots()
}

// unpark asks for a slot, unless the turn kept its own.
func (s *session) unpark(id event.ID) {
	t := s.run
	switch {
	case s.broken || t == nil || t.id != id:
	case t.parked && !s.w.faults.goOnSlotless:
		s.effects(s.fifo.Unpark(id))
	default:
		t.unpark()
		s.w.send(s.actor, t.actor, turn.Resumed{})
		s.w.judge.slots()
	}
}

func (s *session) resume(id event.ID) {
	if s.run == nil || s.run.id != id {
		s.w.judge.fail("turn %s goes on and is not there", id)
		return
	}
	s.run.unpark()
	s.w.judge.slots()
	s.w.counts["resumed"]++
	s.w.send(s.actor, s.run.actor, turn.Resumed{})
}

// onItsWay reports whether a slot of the turn is between admission and session: a
// grant, or a return.
func (w *world) onItsWay(id event.ID) bool {
	for _, l := range w.ready {
		for _, m := range l.q {
			switch m := m.(type) {
			case granted:
				if m.turn == id {
					return true
				}
			case queue.Return:
				if m.Turn == id {
					return true
				}
			}
		}
	}
	return false
}

// unpark takes the turn out of the count of those without a slot.
func (t *turnActor) unpark() {
	if t.parked {
		t.parked = false
		t.w.parked--
	}
}

// take hands what the caller says to the core.
func (t *turnActor) take(m answers) {
	if t.w.faults.answerEarly {
		t.w.judge.told(t.id, m.calls())
	}
	t.answering = &m
	t.step(m.in)
	t.answering = nil
}

// call asks the caller for something.
func (p *process) call() {
	p.lastCall++
	p.calls = append(p.calls, p.lastCall)
	it := &event.Item{Type: event.FunctionCall, Tool: "weather", Arguments: "{}"}
	if p.w.chance(3) {
		it = &event.Item{Type: event.Approval, Server: "sim", Tool: "shell"}
	}
	p.w.counts["calls"]++
	p.w.send(p.actor, p.t.actor, turn.Called{Call: p.lastCall, Item: it})
}
