package actors

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/asynkron/protoactor-go/actor"
)

// update changes the settings of turns that have not started.
type update struct {
	owner  string
	change *spec.Update
	reply  chan answer[*fold.Session]
}

func (s *session) update(c actor.Context, m *update) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*fold.Session]{err: err}
		return
	}
	next := m.change.Apply(s.state.Settings())
	raw, err := json.Marshal(next)
	if err != nil {
		m.reply <- answer[*fold.Session]{err: event.Fail(event.InvalidRequest, "the settings cannot be stored: "+err.Error())}
		return
	}
	g := s.group(nil)
	s.add(g, event.Event{Kind: event.SessionUpdated, Body: &event.Settings{JSON: raw}})
	g.spec, g.body, g.durable = raw, true, true
	s.weigh(g)
	now := s.state.Session()
	g.then = append(g.then, func(_ actor.Context, err error) {
		if err != nil {
			m.reply <- answer[*fold.Session]{err: err}
			return
		}
		m.reply <- answer[*fold.Session]{value: &now}
	})
	s.flush(c)
}
