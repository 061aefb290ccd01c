package fold

import (
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// steer is a message on its way into a running turn. It keeps the place in the
// session's order that a turn of it would have.
type steer struct {
	turn    event.ID // that it is for
	in      *event.Input
	ordinal int64
	latest  event.ID // the newest turn when it was accepted
}

// Steering are the messages on their way into a turn, oldest first. Those of a turn
// that has ended are to become turns of their own, at once.
func (s *State) Steering(turn event.ID) (out []*event.Input) {
	for i := range s.steers {
		if s.steers[i].turn == turn {
			out = append(out, s.steers[i].in)
		}
	}
	return out
}

// steered takes a message for a running turn in, or notes that its CLI has it.
func (s *State) steered(o *openTurn, ev *event.Event) error {
	in, ok := ev.Body.(*event.Input)
	if !ok || in.ID.IsZero() {
		return fmt.Errorf("fold: event %d steers with no input", ev.Seq)
	}
	s.session.LastActive = ev.At
	if in.Taken {
		if _, waited := s.unsteered(in.ID); !waited {
			return nil // it is a turn of its own by now
		}
		answers := slices.Clip(o.turn.Answers)
		for _, it := range in.Items {
			answers = append(answers, Answer{At: int32(len(o.items)), Item: it})
		}
		o.turn.Answers = answers
		return nil
	}
	s.session.Turns++
	s.session.Open++
	s.steers = append(s.steers, steer{turn: ev.Turn, in: in, ordinal: s.session.Turns, latest: s.session.Latest})
	return nil
}

// unsteered takes a message out of those on their way; false when it is none.
func (s *State) unsteered(id event.ID) (steer, bool) {
	for i, one := range s.steers {
		if one.in.ID == id {
			s.session.Open--
			s.steers = append(s.steers[:i:i], s.steers[i+1:]...)
			if len(s.steers) == 0 {
				s.steers = nil
			}
			return one, true
		}
	}
	return steer{}, false
}
