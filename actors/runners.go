package actors

import (
	"slices"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a runner to the pool.
type (
	// departed says that a turn has nothing left at its runner.
	departed struct {
		runner *actor.PID
		turn   event.ID
	}
	// retired says that a runner takes no further turns; the turns among them it was
	// given and did not take.
	retired struct {
		runner *actor.PID
		seeks  []*seek
	}
	// runnerGone says that a runner's actor stopped, in its place behind what that
	// actor sent.
	runnerGone struct{ who *actor.PID }
	// retire asks a runner to take no further turns and to end.
	retire struct{}
)

// runners is the pool of long-lived CLI processes: it gives each turn a runner of
// its key that has room, or a new one. It is the parent of all of them.
type runners struct {
	host  *Host
	byKey map[string][]*ward
	// at says where each turn is.
	at map[event.ID]*stay
	// bound are the newest runners of sessions that have theirs alone.
	bound map[event.ID]*ward
	// idle are the runners without turns, the longest first.
	idle     []*ward
	stopping bool
}

// ward is a runner as the pool knows it.
type ward struct {
	key   string
	pid   *actor.PID
	room  int // how many turns it takes at once
	turns int
	// lately are sessions whose conversation it may still have at hand.
	lately map[event.ID]bool
	// session is the only one that a bound runner serves; zero for others.
	session event.ID
}

// stay is a turn at a runner.
type stay struct {
	at       *ward
	seek     *seek
	forsaken bool
}

func newRunners(h *Host) *runners {
	return &runners{host: h, byKey: map[string][]*ward{}, at: map[event.ID]*stay{}, bound: map[event.ID]*ward{}}
}

func (r *runners) Receive(c actor.Context) {
	if r.stopping {
		return // the runners stop too, and nothing may be started in their place
	}
	switch m := c.Message().(type) {
	case *actor.Stopping:
		r.stopping = true
	case *seek:
		r.seek(c, m)
	case *dismiss:
		if s := r.at[m.turn]; s != nil {
			c.Send(s.at.pid, m)
		}
	case *steering:
		if s := r.at[m.turn]; s != nil {
			c.Send(s.at.pid, m)
			return
		}
		c.Send(m.pid, &steered{agent.Steered{Input: m.s.Input, Why: "the turn has no runner"}})
	case *forsake:
		if s := r.at[m.turn]; s != nil {
			s.forsaken = true
			c.Send(s.at.pid, m)
		}
	case *departed:
		r.departed(c, m)
	case *retired:
		r.retired(c, m)
	case *actor.Terminated:
		c.Send(c.Self(), &runnerGone{m.Who}) // it overtook what the runner sent before
	case *runnerGone:
		r.gone(c, m.who)
	}
}

// gone: a runner's actor stopped. What was sent to it meanwhile is lost.
func (r *runners) gone(c actor.Context, who *actor.PID) {
	r.retired(c, &retired{runner: who})
	var lost []*seek
	for _, s := range r.at {
		if s.at.pid.GetId() == who.GetId() {
			lost = append(lost, s.seek)
		}
	}
	for _, s := range lost {
		r.seek(c, s)
	}
}

// maxTries bounds how many runners a turn is offered: each of them was just ending.
const maxTries = 5

func (r *runners) seek(c actor.Context, m *seek) {
	if s := r.at[m.turn]; s != nil && s.forsaken {
		delete(r.at, m.turn)
		return
	}
	if m.tries++; m.tries > maxTries {
		delete(r.at, m.turn)
		c.Send(m.pid, &spawnFailed{event.Fail(event.CLICrashed, "no long-lived process of "+m.job.adapter+" stays alive; see the server's log, or use driver exec")})
		return
	}
	w := r.room(m.job.berth.key, m.job.berth.request.Session)
	if w == nil {
		w = r.start(c, m.job.berth)
	}
	w.turns++
	w.serves(m.job.berth.request.Session)
	for _, other := range r.byKey[w.key] {
		if other != w {
			delete(other.lately, m.job.berth.request.Session)
		}
	}
	if i := slices.Index(r.idle, w); i >= 0 {
		r.idle = slices.Delete(r.idle, i, i+1)
	}
	r.at[m.turn] = &stay{at: w, seek: m}
	c.Send(w.pid, m)
}

// room finds the runner of the key that served the session last, else the fullest that
// has a place: the others can end.
func (r *runners) room(key string, session event.ID) (best *ward) {
	for _, w := range r.byKey[key] {
		if w.turns < w.room && w.lately[session] {
			return w
		}
		if w.turns < w.room && (best == nil || w.turns > best.turns) {
			best = w
		}
	}
	return best
}

// maxLately bounds the sessions that a runner is remembered for.
const maxLately = 64

func (w *ward) serves(session event.ID) {
	if w.lately == nil {
		w.lately = map[event.ID]bool{}
	}
	for id := range w.lately { // which one does not matter
		if len(w.lately) < maxLately {
			break
		}
		delete(w.lately, id)
	}
	w.lately[session] = true
}

func (r *runners) start(c actor.Context, b *berth) *ward {
	host, self := r.host, c.Self()
	w := &ward{key: b.key, room: b.runner.Threads}
	w.pid = c.Spawn(host.props(func() actor.Actor { return newRunner(host, self, b) }))
	if b.runner.Bound {
		w.session = b.request.Session
		if before := r.bound[w.session]; before != nil { // it will not know what is said now
			r.forget(before)
			c.Send(before.pid, &retire{})
		}
		r.bound[w.session] = w
	}
	r.byKey[b.key] = append(r.byKey[b.key], w)
	host.stats.runners.Add(1)
	return w
}

// forget leaves a runner out of what is offered.
func (r *runners) forget(w *ward) {
	list := r.byKey[w.key]
	if i := slices.Index(list, w); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if r.byKey[w.key] = list; len(list) == 0 {
		delete(r.byKey, w.key)
	}
	if i := slices.Index(r.idle, w); i >= 0 {
		r.idle = slices.Delete(r.idle, i, i+1)
	}
	if r.bound[w.session] == w {
		delete(r.bound, w.session)
	}
}

func (r *runners) departed(c actor.Context, m *departed) {
	s := r.at[m.turn]
	if s == nil || s.at.pid.GetId() != m.runner.GetId() {
		return
	}
	delete(r.at, m.turn)
	w := s.at
	if w.turns--; w.turns == 0 && slices.Contains(r.byKey[w.key], w) {
		r.idle = append(r.idle, w)
	}
	for len(r.idle) > r.host.cfg.limits.Runners.MaxIdle {
		w := r.idle[0]
		r.forget(w)
		c.Send(w.pid, &retire{})
	}
}

// retired looks for another place for the turns that a runner did not take.
func (r *runners) retired(c actor.Context, m *retired) {
	for _, list := range r.byKey {
		for _, w := range list {
			if w.pid.GetId() == m.runner.GetId() {
				r.forget(w)
				break
			}
		}
	}
	for _, s := range m.seeks {
		r.seek(c, s)
	}
}
