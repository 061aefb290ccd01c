package queue

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// Slots are shared by the time they are held. What a principal has used is the sum of
// that over its turns, running ones included, divided by its weight; the next slot goes
// to who has used least, and of those to the oldest input. Who asks for nothing saves
// nothing: one that begins to wait counts as having used what the one granted last had.
const (
	// startCost is what a grant costs at once, in milliseconds: so that many short
	// turns, or many slots that come free together, are shared too.
	startCost = 1000
	// usedUnit is the unit of used, in parts of a millisecond.
	usedUnit = 1000
	// strangers is how many principals without a turn are remembered, beyond as many as
	// have one.
	strangers = 64
)

// principal is one of those who share the slots.
type principal struct {
	Share
	name    string
	lanes   []lane // by agent
	waiting int
	running int
	used    int64 // up to since
	since   int64
	at      int // index in wanting
}

// lane is a principal's line for one agent.
type lane struct {
	agent string
	line  *line
}

// lane is the index of the agent's, -1 for none.
func (p *principal) lane(agent string) int {
	for i := range p.lanes {
		if p.lanes[i].agent == agent {
			return i
		}
	}
	return -1
}

func (r *Rules) share(name string) Share {
	s := r.Shares[name]
	s.Weight = max(s.Weight, 1)
	if s.Slots <= 0 {
		s.Slots = r.PrincipalSlots
	}
	return s
}

func (p *principal) cost(millis int64) int64 { return millis * usedUnit / int64(p.Weight) }

// usedAt is what it has used by now.
func (p *principal) usedAt(now int64) int64 {
	return p.used + p.cost(int64(p.running)*(now-p.since))
}

// settle brings what it has used up to now.
func (p *principal) settle(now int64) { p.used, p.since = p.usedAt(now), now }

// atLeast takes away what it did not use while it wanted nothing, or could not.
func (p *principal) atLeast(used int64) { p.used = max(p.used, used) }

// principal is the record of who has that name.
func (a *Admission) principal(name string) *principal {
	p := a.principals[name]
	if p == nil {
		if len(a.principals) >= 2*(len(a.waiting)+len(a.holders))+strangers {
			a.forget()
		}
		p = &principal{Share: a.rules.share(name), name: name, since: a.now}
		a.principals[name] = p
	}
	return p
}

// forget drops the principals that have neither a slot nor a line.
func (a *Admission) forget() {
	for name, p := range a.principals {
		if p.waiting == 0 && p.running == 0 {
			delete(a.principals, name)
		}
	}
}

// join puts a place into its principal's line.
func (a *Admission) join(w *place) {
	p := a.principal(w.Principal)
	if p.waiting == 0 {
		p.settle(a.now)
		p.atLeast(a.reached)
		p.at = len(a.wanting)
		a.wanting = append(a.wanting, p)
	}
	at := p.lane(w.Agent)
	if at < 0 {
		at = len(p.lanes)
		p.lanes = append(p.lanes, lane{w.Agent, &line{}})
	}
	heap.Push(p.lanes[at].line, w)
	p.waiting++
}

// unjoin takes a place out of its principal's line.
func (a *Admission) unjoin(w *place) {
	p := a.principals[w.Principal]
	at := p.lane(w.Agent)
	heap.Remove(p.lanes[at].line, w.at)
	if p.lanes[at].line.Len() == 0 {
		p.lanes = slices.Delete(p.lanes, at, at+1)
	}
	if p.waiting--; p.waiting > 0 {
		return
	}
	last := len(a.wanting) - 1
	a.wanting[p.at] = a.wanting[last]
	a.wanting[p.at].at = p.at
	a.wanting[last] = nil
	a.wanting = a.wanting[:last]
	a.rest(p)
}

// hold gives a turn a slot.
func (a *Admission) hold(e Entry) {
	p := a.principal(e.Principal)
	p.settle(a.now)
	a.reached = max(a.reached, p.used)
	p.used += p.cost(startCost)
	p.running++
	a.agents[e.Agent]++
	a.holders[e.Turn] = holder{Entry: e, since: a.now, look: a.look}
}

// release takes a turn's slot.
func (a *Admission) release(turn event.ID) {
	e, ok := a.holders[turn]
	if !ok {
		return
	}
	delete(a.holders, turn)
	if a.room >= 0 && e.look == a.look {
		a.room++
	}
	if a.agents[e.Agent]--; a.agents[e.Agent] == 0 {
		delete(a.agents, e.Agent)
	}
	p := a.principals[e.Principal]
	p.settle(a.now)
	p.running--
	a.rest(p)
}

// rest drops the record of who wants nothing and is not ahead of the others.
func (a *Admission) rest(p *principal) {
	if p.waiting == 0 && p.running == 0 && p.used <= a.reached {
		delete(a.principals, p.name)
	}
}

// next is who is granted next; nil when all who wait are at a bound of their own.
func (a *Admission) next() *place {
	var best *principal
	var who *place
	var least int64
	for _, p := range a.wanting {
		w := a.head(p)
		if w == nil {
			p.settle(a.now)
			p.atLeast(a.reached)
			continue
		}
		used := p.usedAt(a.now)
		if best == nil || cmp.Or(cmp.Compare(used, least), byNumber(w.Entry, who.Entry)) < 0 {
			best, who, least = p, w, used
		}
	}
	return who
}

// head is the oldest place of a principal that may be granted.
func (a *Admission) head(p *principal) *place {
	if p.Slots > 0 && p.running >= p.Slots {
		return nil
	}
	var head *place
	for i := range p.lanes {
		l := &p.lanes[i]
		if most := a.agentSlots(l.agent); most > 0 && a.agents[l.agent] >= most {
			continue
		}
		if w := (*l.line)[0]; head == nil || byNumber(w.Entry, head.Entry) < 0 {
			head = w
		}
	}
	return head
}

func (a *Admission) agentSlots(agent string) int {
	if n := a.rules.Agents[agent]; n > 0 {
		return n
	}
	return a.rules.AgentSlots
}
