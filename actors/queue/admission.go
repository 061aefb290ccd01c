package queue

import (
	"container/heap"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// Entry is a turn that wants or holds a slot.
type Entry struct {
	Session, Turn event.ID
	// Number orders acceptance over the whole host.
	Number    int64
	Principal string
}

// Grant says that the turn has a slot.
type Grant struct {
	Session, Turn event.ID
	Principal     string
}

// Admission is the host's slots and the line before them. It is not safe for
// concurrent use.
type Admission struct {
	slots, maxWaiting int
	line              line
	waiting           map[event.ID]*place
	holders           map[event.ID]Entry
	noRoom, stopped   bool
}

// NewAdmission has that many slots (at least one). maxWaiting bounds Full only;
// 0 means no bound.
func NewAdmission(slots, maxWaiting int) *Admission {
	return &Admission{
		slots: max(slots, 1), maxWaiting: maxWaiting,
		waiting: map[event.ID]*place{}, holders: map[event.ID]Entry{},
	}
}

// Ask puts a turn in the line and returns whom to tell of a slot, which may be
// others. A turn that waits or holds a slot already changes nothing.
func (a *Admission) Ask(e Entry) []Grant {
	if _, holds := a.holders[e.Turn]; holds || a.waiting[e.Turn] != nil {
		return nil
	}
	p := &place{Entry: e}
	a.waiting[e.Turn] = p
	heap.Push(&a.line, p)
	return a.grant()
}

// Withdraw takes a turn out of the line. A turn that was granted meanwhile keeps
// its slot until Return.
func (a *Admission) Withdraw(turn event.ID) {
	if p := a.waiting[turn]; p != nil {
		delete(a.waiting, turn)
		heap.Remove(&a.line, p.at)
	}
}

// Return takes the turn's slot back, or the turn out of the line when it has
// none. It may be repeated.
func (a *Admission) Return(turn event.ID) []Grant {
	a.Withdraw(turn)
	delete(a.holders, turn)
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
			delete(a.holders, turn)
		}
	}
	return a.grant()
}

// SetRoom tells whether the machine has memory for a further turn. Without room
// one turn may run.
func (a *Admission) SetRoom(ok bool) []Grant {
	a.noRoom = !ok
	return a.grant()
}

// Stop ends granting for good; slots may still be returned.
func (a *Admission) Stop() { a.stopped = true }

// Full reports whether the line has reached its bound.
func (a *Admission) Full() bool { return a.maxWaiting > 0 && len(a.line) >= a.maxWaiting }

// Running counts the slots in use.
func (a *Admission) Running() int { return len(a.holders) }

// Waiting counts the line.
func (a *Admission) Waiting() int { return len(a.line) }

// Slots is how many turns may run.
func (a *Admission) Slots() int { return a.slots }

// Room reports whether further turns may start.
func (a *Admission) Room() bool { return !a.noRoom }

// Holders lists who has a slot, by number.
func (a *Admission) Holders() []Entry {
	out := make([]Entry, 0, len(a.holders))
	for _, e := range a.holders {
		out = append(out, e)
	}
	slices.SortFunc(out, byNumber)
	return out
}

// Line lists the first n who wait, in order.
func (a *Admission) Line(n int) []Entry {
	out := make([]Entry, 0, len(a.line))
	for _, p := range a.line {
		out = append(out, p.Entry)
	}
	slices.SortFunc(out, byNumber)
	return out[:min(n, len(out))]
}

func (a *Admission) grant() []Grant {
	var out []Grant
	for len(a.line) > 0 && !a.stopped && len(a.holders) < a.slots && (!a.noRoom || len(a.holders) == 0) {
		p := heap.Pop(&a.line).(*place)
		delete(a.waiting, p.Turn)
		a.holders[p.Turn] = p.Entry
		out = append(out, Grant{Session: p.Session, Turn: p.Turn, Principal: p.Principal})
	}
	return out
}
