package actors

import (
	"maps"
	"time"

	"github.com/agenthost/agenthost/actors/budget"
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
	// askSlot wants a slot for a turn. Reply, some time later: *granted. With prompt
	// the reply comes at once, and is *lined if there is no slot now.
	askSlot struct {
		entry  queue.Entry
		prompt bool
	}
	withdrawSlot struct{ turn event.ID }
	// returnSlot gives a turn's slot back, however the turn ended.
	returnSlot struct{ turn event.ID }
	// room says how much memory the machine has.
	room struct{ available memoryLeft }
	// restful says that the session has nothing to do. Reply: *passivate, unless
	// the supervisor has messages for it.
	restful struct{ session event.ID }
	// crashed says that a session's actor panicked. Reply: *passivate.
	crashed struct{ session event.ID }
	// sessionGone says that a session's actor stopped, in its place behind what
	// that actor sent.
	sessionGone struct{ who *actor.PID }
	// awake says that a passivate came too late.
	awake struct{ session event.ID }
	// drain stops granting; done is closed when nothing runs any more and every
	// session has stored what it folded.
	drain struct{ done chan struct{} }
	// quiesce asks a session to say quiescent once it has.
	quiesce   struct{}
	quiescent struct{ session event.ID }
	// revive takes up a session whose actor crashed.
	revive struct{ session event.ID }
	// halt ends every running turn as failed with server_stopped.
	halt struct{}
	// endStreams closes every session's readers.
	endStreams struct{ reason error }
)

// supervisor owns the registry of active sessions and the turn slots.
type supervisor struct {
	host *Host
	// props are those of all sessions: the library keeps them as long as the actor.
	// born is the session that is just being spawned.
	props    *actor.Props
	born     *session
	admit    *queue.Admission
	sessions map[event.ID]*registration
	most     int                   // of sessions, since its maps were made
	holders  map[event.ID]event.ID // turn -> session, of granted slots
	lined    map[event.ID]int64    // turn -> since when it waits in the line
	byPID    map[string]event.ID
	drained  chan struct{}
	ledger   *budget.Ledger
	// restless are the sessions that a drain still waits for; nil before that.
	restless map[event.ID]bool
	// crashes counts a session's crashes in a row, up to a passivation; each makes
	// the next revival wait longer. revivals are their clocks.
	crashes  map[event.ID]int
	revivals map[event.ID]*timer
	// questions are what the sessions' waiting turns ask.
	questions map[event.ID]*asks
	// crowd are the turns that wait for their caller in a slot, for lack of room.
	crowd []*crowded
	// suspects are sessions that looked stuck.
	suspects map[event.ID]*suspect
	stopping bool
}

type registration struct {
	pid *actor.PID
	// resting says that the actor was told to passivate; messages wait in held
	// until it has stopped or answered awake.
	resting bool
	crashed bool
	held    []any
}

func newSupervisor(h *Host, ledger *budget.Ledger, left memoryLeft) *supervisor {
	admit := queue.NewAdmission(h.cfg.rules())
	admit.SetRoom(h.further(left, 0))
	admit.Hold(h.stats.lowDisk.Load())
	s := &supervisor{
		host:      h,
		admit:     admit,
		sessions:  map[event.ID]*registration{},
		holders:   map[event.ID]event.ID{},
		lined:     map[event.ID]int64{},
		suspects:  map[event.ID]*suspect{},
		byPID:     map[string]event.ID{},
		crashes:   map[event.ID]int{},
		revivals:  map[event.ID]*timer{},
		questions: map[event.ID]*asks{},
		ledger:    ledger,
	}
	s.props = h.props(func() actor.Actor {
		ses := s.born
		s.born = nil
		return ses
	})
	return s
}

func (s *supervisor) Receive(c actor.Context) {
	if s.stopping {
		return // the sessions stop too, and nothing may be started in their place
	}
	s.admit.At(s.host.uptime())
	switch m := c.Message().(type) {
	case *actor.Stopping:
		s.stopping = true
		for _, t := range s.revivals {
			t.stop()
		}
	case *toSession:
		s.deliver(c, m.session, m.msg, fromStore)
	case *openSession:
		s.deliver(c, m.session, m.msg, created)
	case *spent:
		s.spent(c, m)
	case *today:
		s.reckoned(c, s.ledger.Roll(budget.Day(s.host.now())))
	case *askSlot:
		s.ask(c, m)
	case *withdrawSlot:
		s.unlined(m.turn)
		s.admit.Withdraw(m.turn)
	case *returnSlot:
		s.giveBack(c, m.turn)
	case *crowded:
		s.squeezed(c, m)
	case *uncrowded:
		s.uncrowd(c)
	case *asks:
		s.asks(m)
	case *inbox:
		s.inbox(m)
	case *room:
		s.grant(c, s.admit.SetRoom(s.host.further(m.available, s.admit.Younger(s.host.cfg.memory.ramp.Milliseconds()))))
	case *reshare:
		s.grant(c, s.admit.Reshare(m.shares))
	case *disk:
		s.disked(c, m.low)
	case *showLine:
		m.reply <- answer[*lineup]{value: s.showLine()}
		return // nothing has changed
	case *inspection:
		s.inspect(c, m)
		return
	case *inspected:
		s.inspected(m)
		return
	case *restful:
		s.rest(c, m.session)
	case *awake:
		s.stay(c, m.session)
	case *actor.Terminated:
		// It overtook what the session sent before it stopped.
		if id, ok := s.byPID[m.Who.GetId()]; ok {
			r := s.sessions[id]
			r.crashed = r.crashed || !r.resting
			r.resting = true
		}
		c.Send(c.Self(), &sessionGone{m.Who})
	case *crashed:
		if r := s.sessions[m.session]; r != nil && !r.crashed {
			r.crashed, r.resting = true, true
			c.Send(r.pid, &passivate{})
		}
	case *sessionGone:
		s.gone(c, m.who)
	case *revive:
		delete(s.revivals, m.session)
		s.deliver(c, m.session, &wake{}, fromStore)
	case *drain:
		s.admit.Stop()
		s.drained = m.done
		s.checkDrained(c)
	case *quiescent:
		s.settled(m.session)
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

func (s *supervisor) deliver(c actor.Context, id event.ID, msg any, from origin) {
	r := s.sessions[id]
	if r == nil {
		r = s.activate(c, id, from)
	}
	if r.resting {
		r.held = append(r.held, msg)
		return
	}
	c.Send(r.pid, msg)
}

func (s *supervisor) activate(c actor.Context, id event.ID, from origin) *registration {
	if from == fromStore && s.crashes[id] > 0 {
		from = afterCrash
	}
	s.born = newSession(s.host, id, c.Self(), from)
	pid := c.Spawn(s.props)
	r := &registration{pid: pid}
	s.sessions[id] = r
	s.byPID[pid.GetId()] = id
	s.most = max(s.most, len(s.sessions))
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

// gone forgets a stopped session actor, takes back the slots it held and asked
// for, and wakes the session again if messages came for it meanwhile or if it
// crashed: its queued turns wait for nothing else.
func (s *supervisor) gone(c actor.Context, who *actor.PID) {
	id, ok := s.byPID[who.GetId()]
	if !ok {
		return
	}
	r := s.sessions[id]
	delete(s.byPID, who.GetId())
	delete(s.sessions, id)
	s.compact()
	delete(s.questions, id)
	delete(s.suspects, id)
	for turn, session := range s.holders {
		if session == id {
			delete(s.holders, turn)
		}
	}
	if r.crashed {
		s.reviveLater(c, id)
	} else {
		delete(s.crashes, id)
	}
	s.grant(c, s.admit.Leave(id))
	for turn := range s.lined {
		if !s.admit.Has(turn) {
			s.unlined(turn)
		}
	}
	for _, m := range r.held {
		s.deliver(c, id, m, fromStore)
	}
	s.settled(id)
	s.checkDrained(c)
}

// roomy is how many sessions the maps may have room for before it matters.
const roomy = 1024

// compact makes the maps of sessions anew when they had many more in them than they
// have: a map never gives its room back.
func (s *supervisor) compact() {
	if s.most <= roomy || len(s.sessions) > s.most/4 {
		return
	}
	sessions, byPID := make(map[event.ID]*registration, len(s.sessions)), make(map[string]event.ID, len(s.byPID))
	maps.Copy(sessions, s.sessions)
	maps.Copy(byPID, s.byPID)
	s.sessions, s.byPID, s.most = sessions, byPID, len(sessions)
}

// A crashed session is revived after a moment that doubles with every crash.
const (
	revivePause    = 100 * time.Millisecond
	reviveMaxShift = 9
)

func (s *supervisor) reviveLater(c actor.Context, id event.ID) {
	n := s.crashes[id]
	s.crashes[id] = n + 1
	t := s.revivals[id]
	if t == nil {
		t = &timer{}
		s.revivals[id] = t
	}
	t.arm(c, revivePause<<min(n, reviveMaxShift), func(int) any { return &revive{id} })
}

func (s *supervisor) giveBack(c actor.Context, turn event.ID) {
	if held, ok := s.admit.HeldFor(turn); ok {
		s.took(held)
	}
	s.unlined(turn)
	delete(s.holders, turn)
	s.grant(c, s.admit.Return(turn))
	s.checkDrained(c)
}

func (s *supervisor) grant(c actor.Context, grants []queue.Grant) {
	for _, g := range grants {
		s.holders[g.Turn] = g.Session
		s.unlined(g.Turn)
		s.deliver(c, g.Session, &granted{turn: g.Turn, spent: s.ledger.Spent(g.Principal)}, fromStore)
	}
}

// checkDrained goes on with a drain once no slot is in use: every session is asked
// to store what it has.
func (s *supervisor) checkDrained(c actor.Context) {
	if s.drained == nil || s.restless != nil || s.admit.Running() > 0 {
		return
	}
	s.restless = map[event.ID]bool{}
	for id, r := range s.sessions {
		s.restless[id] = true
		c.Send(r.pid, &quiesce{})
	}
	s.settled(event.ID{})
}

// settled: the session has stored everything, or is gone.
func (s *supervisor) settled(id event.ID) {
	if s.restless == nil || s.drained == nil {
		return
	}
	delete(s.restless, id)
	if len(s.restless) == 0 {
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
	st.line.Add(1)
}
