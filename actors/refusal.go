package actors

import "github.com/agenthost/agenthost/actors/fold"

// refused answers a message that wants an answer with a refusal; it reports
// whether m was one.
func (s *session) refused(m any, err error) bool {
	switch m := m.(type) {
	case *open:
		m.reply <- answer[*Posted]{err: err}
	case *post:
		m.reply <- answer[*Posted]{err: err}
	case *update:
		m.reply <- answer[*fold.Session]{err: err}
	case *cancelTurn:
		m.reply <- answer[*fold.Turn]{err: err}
	case *showTurn:
		m.reply <- answer[*fold.Turn]{err: err}
	case *forgetTurn:
		m.reply <- answer[struct{}]{err: err}
	case *postItems:
		m.reply <- answer[*Posted]{err: err}
	case *removeItem:
		m.reply <- answer[struct{}]{err: err}
	case *amendLoaded:
		s.reading--
		s.answerAmendments(err)
	case *remove:
		m.reply <- answer[struct{}]{err: err}
	case *evict:
		m.reply <- answer[struct{}]{err: err}
	case *subscribe:
		m.reply <- answer[*Subscription]{err: err}
	default:
		return false
	}
	return true
}

// refuseWaiting answers what came while loading.
func (s *session) refuseWaiting(err error) {
	for _, m := range s.waiting {
		s.refused(m, err)
	}
	s.waiting = nil
}

// abandon answers everyone who still waits.
func (s *session) abandon(err error) {
	s.refuseWaiting(err)
	s.answerRemovals(err)
	s.answerForgets(err)
	s.answerAmendments(err)
	groups := s.next
	if s.flight != nil {
		groups = append([]*group{s.flight}, groups...)
	}
	s.flight, s.next = nil, nil
	for _, g := range groups {
		for _, f := range g.then {
			f(nil, err)
		}
	}
}
