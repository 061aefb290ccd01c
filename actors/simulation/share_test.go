package simulation

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/queue"
)

// Sessions belong to three principals and run one of two agents; some of these have
// bounds of their own.
var (
	owners   = []string{"ann", "ben", "cid"}
	kindsOf  = []string{"x", "y"}
	boundBen = 2
	boundY   = 2
)

// patience is after how many grants to others one who waits starves. Each of them
// holds its slot for a while, so who waits at a bound is not passed over for long.
const patience = 400

func rules(f faults) queue.Rules {
	r := queue.Rules{
		Slots:  slots,
		Shares: map[string]queue.Share{"ann": {Weight: 3}, "ben": {Slots: boundBen}},
		Agents: map[string]int{"y": boundY},
	}
	if f.extraSlot {
		r.Slots++
	}
	if f.unbounded {
		r.Shares, r.Agents = nil, nil
	}
	return r
}

func agentOf(session event.ID) string { return kindsOf[int(session[7])%len(kindsOf)] }

// entry is what a session asks admission with.
func (s *session) entry(e queue.Ask) queue.Entry {
	return queue.Entry{
		Session: s.id, Turn: e.Turn, Number: e.Number,
		Principal: s.state.Session().Owner, Agent: agentOf(s.id),
	}
}

// asked: an entry has reached admission.
func (w *world) line(e queue.Entry) {
	if w.faults.starve && e.Principal == "cid" && w.admit.Waiting() > 0 {
		w.judge.waits(e)
		w.send(supervisor, supervisor, e) // when nobody else wants anything
		return
	}
	if w.faults.newestFirst {
		e.Number = -e.Number
	}
	w.judge.waits(e)
	w.grant(w.admit.Ask(e))
}

// waits: a turn is in the line.
func (j *judge) waits(e queue.Entry) {
	if _, ok := j.passed[e.Turn]; !ok {
		j.passed[e.Turn] = 0
	}
}

// fair judges a grant: nobody older of the same principal and agent waits, and nobody
// is passed over for ever.
func (j *judge) fair(g queue.Grant, line []queue.Entry) {
	var own queue.Entry
	for _, e := range j.w.admit.Holders() {
		if e.Turn == g.Turn {
			own = e
		}
	}
	number := func(turn event.ID) int64 {
		if t := j.turns[turn]; t != nil {
			return t.number
		}
		return 0
	}
	delete(j.passed, g.Turn)
	for _, e := range line {
		if e.Principal == own.Principal && e.Agent == own.Agent && number(e.Turn) < number(own.Turn) && number(e.Turn) > 0 {
			j.fail("turn %s of %s is granted before turn %s", own.Turn, own.Principal, e.Turn)
		}
	}
	for turn := range j.passed {
		if j.passed[turn]++; j.passed[turn] > patience {
			j.fail("turn %s starves: %d others were granted a slot", turn, patience)
		}
	}
}

// shared judges the slots after anything that happened to them: no bound is passed,
// and none is free that somebody who waits may have.
func (j *judge) shared() {
	a := j.w.admit
	principals, agents := map[string]int{}, map[string]int{}
	for _, e := range a.Holders() {
		principals[e.Principal]++
		agents[e.Agent]++
	}
	if principals["ben"] > boundBen || agents["y"] > boundY {
		j.fail("past a bound: %v, %v", principals, agents)
	}
	if j.w.draining || a.Running() >= slots || a.Waiting() == 0 {
		return
	}
	for _, e := range a.Line(0) {
		if (e.Principal != "ben" || principals["ben"] < boundBen) && (e.Agent != "y" || agents["y"] < boundY) {
			j.fail("turn %s waits, and %d of %d slots are in use", e.Turn, a.Running(), slots)
		}
	}
}

// live holds that a session in progress has a turn that lives, or one in the line: or
// it would be in progress for ever.
func (j *judge) live() {
	for _, id := range j.w.known {
		s := j.w.sessions[id]
		if s == nil || s.broken || s.deleting || s.flight != nil || len(s.next) > 0 || s.staged > 0 || s.fifo.Held() || s.run != nil && !s.run.parked {
			continue // something is on its way, or its turn lives
		}
		open := s.state.OpenTurns()
		if len(open) == 0 {
			continue
		}
		turn := s.fifo.Asked()
		switch {
		case turn.IsZero() && s.run != nil: // it waits for its caller
		case turn != open[0].ID:
			j.fail("session %s is in progress, and nothing brings turn %s on: %s is asked for", id, open[0].ID, turn)
		case !j.w.admit.Has(turn) && !j.w.asking(turn):
			j.fail("session %s waits for a slot for turn %s, and nobody knows of that", id, turn)
		}
	}
}

// asking reports whether a turn's entry is on its way to admission.
func (w *world) asking(turn event.ID) bool {
	for _, l := range w.ready {
		for _, m := range l.q {
			if e, ok := m.(queue.Entry); ok && e.Turn == turn && l.key[1] == supervisor {
				return true
			}
		}
	}
	return false
}
