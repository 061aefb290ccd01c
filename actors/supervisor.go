package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages the supervisor understands.
type (
	// toSession delivers msg to the session's actor, which is started from the
	// store if it is not there.
	toSession struct {
		session event.ID
		msg     any
	}
	// openSession starts the actor of a session that is being created and hands it
	// msg.
	openSession struct {
		session event.ID
		msg     any
	}
	// askSlot wants a slot for a turn. Reply, some time later: *granted.
	askSlot struct {
		entry queue.Entry
	}
	withdrawSlot struct{ turn event.ID }
	// returnSlot gives a turn's slot back, however the turn ended.
	returnSlot struct{ turn event.ID }
	// room says whether there is memory for a further turn.
	room struct{ ok bool }
	// restful says that the session has nothing to do. Reply: *passivate, unless
	// the supervisor has messages for it.
	restful struct{ session event.ID }
	// sessionGone says that a session's actor stopped, in its place behind what
	// that actor sent.
	sessionGone struct{ who *actor.PID }
	// awake says that a passivate came too late.
	awake struct{ session event.ID }
	// drain stops granting; done is closed when nothing runs any more.
	drain struct{ done chan struct{} }
	// halt ends every running turn as failed with server_stopped.
	halt struct{}
	// endStreams closes every session's readers.
	endStreams struct{ reason error }
)

// supervisor owns the registry of active sessions and the turn slots.
type supervisor struct {
	host     *Host
	admit    *queue.Admission
	sessions map[event.ID]*registration
	holders  map[event.ID]event.ID // turn -> session, of granted slots
	byPID    map[string]event.ID
	drained  chan struct{}
}

type registration struct {
	pid *actor.PID
	// resting says that the actor was told to passivate; messages wait in held
	// until it has stopped or answered awake.
	resting bool
	held    []any
}

func newSupervisor(h *Host) *supervisor {
	return &supervisor{
		host:     h,
		admit:    queue.NewAdmission(h.cfg.limits.MaxConcurrentTurns, h.cfg.limits.MaxWaitingTurns),
		sessions: map[event.ID]*registration{},
		holders:  map[event.ID]event.ID{},
		byPID:    map[string]event.ID{},
	}
}

func (s *supervisor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *toSession:
		s.deliver(c, m.session, m.msg, false)
	case *openSession:
		s.deliver(c, m.session, m.msg, true)
	case *askSlot:
		s.grant(c, s.admit.Ask(m.entry))
	case *withdrawSlot:
		s.admit.Withdraw(m.turn)
	case *returnSlot:
		s.giveBack(c, m.turn)
	case *room:
		s.grant(c, s.admit.SetRoom(m.ok))
	case *restful:
		s.rest(c, m.session)
	case *awake:
		s.stay(c, m.session)
	case *actor.Terminated:
		// It overtook what the session sent before it stopped.
		if id, ok := s.byPID[m.Who.GetId()]; ok {
			s.sessions[id].resting = true
		}
		c.Send(c.Self(), &sessionGone{m.Who})
	case *sessionGone:
		s.gone(c, m.who)
	case *drain:
		s.admit.Stop()
		s.drained = m.done
		s.checkDrained()
	case *halt:
		for _, r := range s.sessions {
			c.Send(r.pid, m)
		}
	case *endStreams:
		for _, r := range s.sessions {
			c.Send(r.pid, m)
		}
	}
	s.publish()
}

func (s *supervisor) deliver(c actor.Context, id event.ID, msg any, fresh bool) {
	r := s.sessions[id]
	if r == nil {
		r = s.activate(c, id, fresh)
	}
	if r.resting {
		r.held = append(r.held, msg)
		return
	}
	c.Send(r.pid, msg)
}

func (s *supervisor) activate(c actor.Context, id event.ID, fresh bool) *registration {
	pid := c.Spawn(s.host.props(func() actor.Actor { return newSession(s.host, id, c.Self(), fresh) }))
	r := &registration{pid: pid}
	s.sessions[id] = r
	s.byPID[pid.GetId()] = id
	return r
}

func (s *supervisor) rest(c actor.Context, id event.ID) {
	if r := s.sessions[id]; r != nil && !r.resting {
		r.resting = true
		c.Send(r.pid, &passivate{})
	}
}

func (s *supervisor) stay(c actor.Context, id event.ID) {
	r := s.sessions[id]
	if r == nil {
		return
	}
	r.resting = false
	for _, m := range r.held {
		c.Send(r.pid, m)
	}
	r.held = nil
}

// gone forgets a stopped session actor, takes back the slots it held, and wakes
// the session again if messages came for it meanwhile.
func (s *supervisor) gone(c actor.Context, who *actor.PID) {
	id, ok := s.byPID[who.GetId()]
	if !ok {
		return
	}
	delete(s.byPID, who.GetId())
	r := s.sessions[id]
	delete(s.sessions, id)
	for turn, session := range s.holders {
		if session == id {
			s.giveBack(c, turn)
		}
	}
	if r == nil {
		return
	}
	for _, m := range r.held {
		s.deliver(c, id, m, false)
	}
}

func (s *supervisor) giveBack(c actor.Context, turn event.ID) {
	delete(s.holders, turn)
	s.grant(c, s.admit.Return(turn))
	s.checkDrained()
}

func (s *supervisor) grant(c actor.Context, grants []queue.Grant) {
	for _, g := range grants {
		s.holders[g.Turn] = g.Session
		s.deliver(c, g.Session, &granted{turn: g.Turn}, false)
	}
}

func (s *supervisor) checkDrained() {
	if s.drained != nil && s.admit.Running() == 0 {
		close(s.drained)
		s.drained = nil
	}
}

// publish shows the counts to those who may not ask an actor.
func (s *supervisor) publish() {
	st := &s.host.stats
	st.running.Store(int64(s.admit.Running()))
	st.waiting.Store(int64(s.admit.Waiting()))
	st.active.Store(int64(len(s.sessions)))
}
