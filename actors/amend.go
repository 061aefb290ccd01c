package actors

import (
	"context"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/asynkron/protoactor-go/actor"
)

// amendment changes what is stored of an ended turn or of a note. A session does
// one at a time: each begins with what the one before it left.
type amendment struct {
	turn event.ID
	// change folds the amendment of the turn as it is stored; an error refuses it.
	change func(g *group, t *fold.Turn) error
	reply  chan answer[struct{}]
}

// amendLoaded brings the turn that an amendment is about.
type amendLoaded struct {
	amendment *amendment
	turn      *fold.Turn
	err       error
}

func (s *session) amend(c actor.Context, a *amendment) {
	if s.amendments = append(s.amendments, a); len(s.amendments) == 1 {
		s.nextAmendment(c)
	}
}

// nextAmendment reads the turn of the oldest amendment, behind everything that is
// on its way to the store.
func (s *session) nextAmendment(c actor.Context) {
	a := s.amendments[0]
	g := s.group(nil)
	g.then = append(g.then, func(c actor.Context, err error) {
		if err != nil {
			s.answerAmendments(err)
			return
		}
		s.reading++
		self, host := c.Self(), s.host
		host.work.Go(func() {
			t, err := host.turnOrNote(context.Background(), "", a.turn)
			host.root.Send(self, &amendLoaded{amendment: a, turn: t, err: err})
		})
	})
	s.flush(c)
}

func (s *session) amendRead(c actor.Context, m *amendLoaded) {
	s.reading--
	a := m.amendment
	if len(s.amendments) == 0 || s.amendments[0] != a {
		s.rest(c) // it was answered meanwhile
		return
	}
	err := m.err
	g := s.group(nil)
	if err == nil {
		err = a.change(g, m.turn)
	}
	if err != nil {
		s.amended(c, err)
		s.flush(c) // the group may have stayed empty
		s.rest(c)
		return
	}
	g.then = append(g.then, func(c actor.Context, err error) {
		if err != nil {
			s.answerAmendments(err)
			return
		}
		s.amended(c, nil)
	})
	s.flush(c)
}

// amended answers the oldest amendment and goes on with the next.
func (s *session) amended(c actor.Context, err error) {
	s.amendments[0].reply <- answer[struct{}]{err: err}
	if s.amendments = s.amendments[1:]; len(s.amendments) > 0 {
		s.nextAmendment(c)
	}
}

// answerAmendments refuses all that wait.
func (s *session) answerAmendments(err error) {
	for _, a := range s.amendments {
		a.reply <- answer[struct{}]{err: err}
	}
	s.amendments = nil
}
