package queue

import (
	"cmp"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// Entry is a turn that wants or holds a slot.
type Entry struct {
	Session, Turn event.ID
	// Number orders acceptance over the whole host.
	Number int64
	// Principal shares the slots with others; Agent may have a bound of its own.
	Principal, Agent string
}

// Grant says that the turn has a slot.
type Grant struct {
	Session, Turn event.ID
	Principal     string
}

// Rules are what admission holds to.
type Rules struct {
	// Slots is how many turns may run, at least one. MaxWaiting bounds Full only; 0 is
	// no bound.
	Slots, MaxWaiting int
	// PrincipalSlots bounds the turns of one principal that run, AgentSlots those of
	// one agent; 0 is no bound.
	PrincipalSlots, AgentSlots int
	// Shares are the principals that have something of their own, Agents the agents
	// with a bound of their own.
	Shares map[string]Share
	Agents map[string]int
}

// Share is what a principal may have. The zero value of a field means the host's.
type Share struct {
	// Weight is how much of the slots it gets while others want them too; 1 for who has
	// none.
	Weight int
	Slots  int
}

// Unbounded is the room of a machine with memory enough.
const Unbounded = -1

// Admission is the host's slots and the lines before them, one a principal. It is not
// safe for concurrent use.
type Admission struct {
	rules      Rules
	principals map[string]*principal
	wanting    []*principal // those with a line
	agents     map[string]int
	waiting    map[event.ID]*place
	holders    map[event.ID]holder
	now        int64
	reached    int64 // what the one granted last had used
	room       int   // further turns that may start; Unbounded for any
	look       int   // how often there was a word on it
	held       bool
	stopped    bool
}

// holder is a turn with a slot, and when it got it.
type holder struct {
	Entry
	since int64
	look  int
}

// NewAdmission has all slots free.
func NewAdmission(r Rules) *Admission {
	r.Slots = max(r.Slots, 1)
	return &Admission{
		rules: r, principals: map[string]*principal{}, agents: map[string]int{},
		waiting: map[event.ID]*place{}, holders: map[event.ID]holder{}, room: Unbounded,
	}
}

// At says what time it is, in milliseconds of any clock. One that goes back stands
// still.
func (a *Admission) At(now int64) { a.now = max(a.now, now) }

// Ask puts a turn in its line and returns whom to tell of a slot, which may be
// others. A turn that waits or holds a slot already changes nothing.
func (a *Admission) Ask(e Entry) []Grant {
	if _, holds := a.holders[e.Turn]; holds || a.waiting[e.Turn] != nil {
		return nil
	}
	p := &place{Entry: e}
	a.waiting[e.Turn] = p
	a.join(p)
	return a.grant()
}

// Withdraw takes a turn out of the line. A turn that was granted meanwhile keeps
// its slot until Return.
func (a *Admission) Withdraw(turn event.ID) {
	if p := a.waiting[turn]; p != nil {
		delete(a.waiting, turn)
		a.unjoin(p)
	}
}

// Return takes the turn's slot back, or the turn out of the line when it has
// none. It may be repeated.
func (a *Admission) Return(turn event.ID) []Grant {
	a.Withdraw(turn)
	a.release(turn)
	return a.grant()
}

// Leave takes everything of a session back: its actor died without a word.
func (a *Admission) Leave(session event.ID) []Grant {
	for turn, p := range a.waiting {
		if p.Session == session {
			a.Withdraw(turn)
		}
	}
	for turn, e := range a.holders {
		if e.Session == session {
			a.release(turn)
		}
	}
	return a.grant()
}

// SetRoom tells for how many further turns the machine has memory, until the next
// word on it; Unbounded is any. Without room one turn may run. A turn that ends before
// the next word leaves its place to another.
func (a *Admission) SetRoom(further int) []Grant {
	a.room = max(further, Unbounded)
	a.look++
	return a.grant()
}

// Reshare gives the principals other shares from now on. What runs goes on, also above
// a bound that has become smaller.
func (a *Admission) Reshare(shares map[string]Share) []Grant {
	a.rules.Shares = shares
	for _, p := range a.principals {
		p.settle(a.now) // by the old weight
		p.Share = a.rules.share(p.name)
	}
	return a.grant()
}

// Hold ends granting until it is called with false.
func (a *Admission) Hold(held bool) []Grant {
	a.held = held
	return a.grant()
}

// Stop ends granting for good; slots may still be returned.
func (a *Admission) Stop() { a.stopped = true }

// Full reports whether the line has reached its bound.
func (a *Admission) Full() bool {
	return a.rules.MaxWaiting > 0 && len(a.waiting) >= a.rules.MaxWaiting
}

// Running counts the slots in use.
func (a *Admission) Running() int { return len(a.holders) }

// Waiting counts the line.
func (a *Admission) Waiting() int { return len(a.waiting) }

// Slots is how many turns may run.
func (a *Admission) Slots() int { return a.rules.Slots }

// SlotsOf is how many turns of a principal may run.
func (a *Admission) SlotsOf(principal string) int {
	if n := a.rules.share(principal).Slots; n > 0 {
		return min(n, a.rules.Slots)
	}
	return a.rules.Slots
}

// Room reports whether further turns may start.
func (a *Admission) Room() bool { return a.room != 0 }

// Holders lists who has a slot, by number.
func (a *Admission) Holders() []Entry {
	out := make([]Entry, 0, len(a.holders))
	for _, h := range a.holders {
		out = append(out, h.Entry)
	}
	slices.SortFunc(out, byNumber)
	return out
}

// Younger counts those who got their slot in the last millis milliseconds.
func (a *Admission) Younger(millis int64) (n int) {
	for _, h := range a.holders {
		if a.now-h.since < millis {
			n++
		}
	}
	return n
}

// Has reports whether a turn waits or holds a slot.
func (a *Admission) Has(turn event.ID) bool {
	_, holds := a.holders[turn]
	return holds || a.waiting[turn] != nil
}

// HeldFor is how long a turn has held its slot, in milliseconds; false when it has
// none.
func (a *Admission) HeldFor(turn event.ID) (int64, bool) {
	h, ok := a.holders[turn]
	return a.now - h.since, ok
}

// Line lists who waits, in the order in which they would be granted if every turn
// took mean milliseconds and no other came.
func (a *Admission) Line(mean int64) []Entry {
	type share struct {
		of   *principal
		used int64
		left []Entry
	}
	lanes := make([]*share, 0, len(a.wanting))
	for _, p := range a.wanting {
		l := &share{of: p, used: max(p.usedAt(a.now), a.reached), left: make([]Entry, 0, p.waiting)}
		l.used += p.cost(int64(p.running) * max(mean, 0)) // as if all had just begun
		for _, of := range p.lanes {
			for _, w := range *of.line {
				l.left = append(l.left, w.Entry)
			}
		}
		slices.SortFunc(l.left, byNumber)
		lanes = append(lanes, l)
	}
	out := make([]Entry, 0, len(a.waiting))
	for len(lanes) > 0 {
		at := 0
		for i, l := range lanes {
			if c := cmp.Compare(l.used, lanes[at].used); c < 0 || c == 0 && byNumber(l.left[0], lanes[at].left[0]) < 0 {
				at = i
			}
		}
		l := lanes[at]
		out = append(out, l.left[0])
		l.used += l.of.cost(startCost + max(mean, 0))
		if l.left = l.left[1:]; len(l.left) == 0 {
			lanes = slices.Delete(lanes, at, at+1)
		}
	}
	return out
}

func (a *Admission) grant() []Grant {
	var out []Grant
	for len(a.waiting) > 0 && !a.stopped && !a.held && len(a.holders) < a.rules.Slots && (a.room != 0 || len(a.holders) == 0) {
		p := a.next()
		if p == nil {
			break // who waits is at a bound of their own
		}
		delete(a.waiting, p.Turn)
		a.hold(p.Entry)
		a.unjoin(p)
		if a.room > 0 {
			a.room--
		}
		out = append(out, Grant{Session: p.Session, Turn: p.Turn, Principal: p.Principal})
	}
	return out
}
