package queue

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
)

// SessionEffect is something the session actor must do. The set is closed.
//
//sumtype:decl
type SessionEffect interface{ isSessionEffect() }

type (
	// Ask asks admission for a slot.
	Ask struct {
		Turn   event.ID
		Number int64
	}
	// Withdraw tells admission that the turn no longer wants one.
	Withdraw struct{ Turn event.ID }
	// Start runs the turn in the slot that was granted.
	Start struct{ Turn event.ID }
	// Return gives a slot back that is not used.
	Return struct{ Turn event.ID }
	// Resume goes on with a parked turn in the slot that was granted.
	Resume struct{ Turn event.ID }
)

func (Ask) isSessionEffect()      {}
func (Withdraw) isSessionEffect() {}
func (Start) isSessionEffect()    {}
func (Return) isSessionEffect()   {}
func (Resume) isSessionEffect()   {}

// Session is a session's turns in order of acceptance, at most one of them
// running. It is not safe for concurrent use.
type Session struct {
	max     int
	line    []waiting
	dropped int // entries of line that are dead
	running event.ID
	number  int64    // the running turn's
	parked  bool     // the running turn gave its slot back
	asked   event.ID // the head or the parked turn, while admission has it
	closed  bool
	held    bool
}

type waiting struct {
	turn   event.ID // zero: dropped
	number int64
}

// NewSession is an empty session in which at most maxQueue turns may wait; 0
// means no bound.
func NewSession(maxQueue int) *Session { return &Session{max: maxQueue} }

// Full reports whether n more turns would exceed the bound. The turn that is
// running or next to run does not count as waiting.
func (q *Session) Full(n int) bool {
	busy := len(q.line) - q.dropped
	if !q.running.IsZero() {
		busy++
	}
	return q.max > 0 && busy+n > q.max+1
}

// Accept puts a turn in its place by number, which orders it in admission too: at the
// end, unless it was accepted earlier as a message for a running turn.
func (q *Session) Accept(turn event.ID, number int64) []SessionEffect {
	if q.closed || turn.IsZero() {
		return nil
	}
	at := len(q.line)
	for i := at - 1; i >= 0 && (q.line[i].turn.IsZero() || q.line[i].number > number); i-- {
		if !q.line[i].turn.IsZero() {
			at = i
		}
	}
	q.line = slices.Insert(q.line, at, waiting{turn, number})
	var back []SessionEffect
	if head, _ := q.head(); !q.asked.IsZero() && !q.parked && head.turn != q.asked {
		back = q.stopAsking() // for the one that is behind it now
	}
	return append(back, q.next()...)
}

// Granted takes a slot: Start, or Return when it is no longer wanted.
func (q *Session) Granted(turn event.ID) []SessionEffect {
	if turn.IsZero() || turn == q.running && !q.parked {
		return nil // told twice; the slot is in use
	}
	if turn != q.asked {
		return []SessionEffect{Return{Turn: turn}}
	}
	q.asked = event.ID{}
	if q.parked {
		q.parked = false
		return []SessionEffect{Resume{Turn: turn}}
	}
	q.running = turn
	q.remove(turn)
	return []SessionEffect{Start{Turn: turn}}
}

// Park gives the running turn's slot back: it waits for its caller. It stays the
// session's running turn.
func (q *Session) Park(turn event.ID) []SessionEffect {
	if turn.IsZero() || turn != q.running || q.parked {
		return nil
	}
	q.parked = true
	return []SessionEffect{Return{Turn: turn}}
}

// Unpark asks for a slot for a parked turn, in the place of its acceptance.
func (q *Session) Unpark(turn event.ID) []SessionEffect {
	if turn.IsZero() || turn != q.running || !q.parked || q.closed || q.asked == turn {
		return nil
	}
	q.asked = turn
	return []SessionEffect{Ask{Turn: turn, Number: q.number}}
}

// Parked reports whether the running turn has no slot.
func (q *Session) Parked() bool { return q.parked }

// Done says that the running turn's actor has ended. Its slot is returned by
// whoever watched it.
func (q *Session) Done(turn event.ID) []SessionEffect {
	if turn.IsZero() || turn != q.running {
		return nil
	}
	q.running, q.parked = event.ID{}, false
	if q.asked == turn { // the return of its slot takes it out of the line
		q.asked = event.ID{}
	}
	return q.next()
}

// Drop takes a waiting turn out.
func (q *Session) Drop(turn event.ID) []SessionEffect {
	if turn.IsZero() || !q.remove(turn) {
		return nil
	}
	if turn != q.asked {
		return nil
	}
	q.asked = event.ID{}
	return append([]SessionEffect{Withdraw{Turn: turn}}, q.next()...)
}

// Hold stops the session from asking until Release: what waits keeps its place.
// What runs is not touched.
func (q *Session) Hold() []SessionEffect {
	q.held = true
	if q.parked {
		return nil // it asks for the running turn, which goes on
	}
	return q.stopAsking()
}

// Release lets a held session ask again.
func (q *Session) Release() []SessionEffect {
	q.held = false
	return q.next()
}

// Asked is the turn that admission has been asked a slot for, zero for none.
func (q *Session) Asked() event.ID { return q.asked }

// Held reports whether Hold was the last word.
func (q *Session) Held() bool { return q.held }

// Close stops the session from asking: what waits may be dropped, what runs may
// end, nothing more starts.
func (q *Session) Close() []SessionEffect {
	q.closed = true
	return q.stopAsking()
}

func (q *Session) stopAsking() []SessionEffect {
	if q.asked.IsZero() {
		return nil
	}
	turn := q.asked
	q.asked = event.ID{}
	return []SessionEffect{Withdraw{Turn: turn}}
}

// CancelTarget is what a cancel of the session means: the running turn, else the
// oldest waiting one.
func (q *Session) CancelTarget() (turn event.ID, running, ok bool) {
	if !q.running.IsZero() {
		return q.running, true, true
	}
	if w, ok := q.head(); ok {
		return w.turn, false, true
	}
	return event.ID{}, false, false
}

// Waiting counts the turns that are not running.
func (q *Session) Waiting() int { return len(q.line) - q.dropped }

// Running is the turn that was started and is not done.
func (q *Session) Running() (event.ID, bool) { return q.running, !q.running.IsZero() }

// Idle reports whether nothing waits or runs.
func (q *Session) Idle() bool { return q.running.IsZero() && q.Waiting() == 0 }

// Position is the turn's place among the waiting ones, 1 for the next; 0 when it
// does not wait.
func (q *Session) Position(turn event.ID) int {
	if turn.IsZero() {
		return 0
	}
	place := 0
	for _, w := range q.line {
		if w.turn.IsZero() {
			continue
		}
		place++
		if w.turn == turn {
			return place
		}
	}
	return 0
}

// Turns lists the waiting turns, oldest first.
func (q *Session) Turns() []event.ID {
	out := make([]event.ID, 0, q.Waiting())
	for _, w := range q.line {
		if !w.turn.IsZero() {
			out = append(out, w.turn)
		}
	}
	return out
}

// next asks for the head when nothing runs and nothing is asked for.
func (q *Session) next() []SessionEffect {
	if q.closed || q.held || !q.running.IsZero() || !q.asked.IsZero() {
		return nil
	}
	w, ok := q.head()
	if !ok {
		return nil
	}
	q.asked = w.turn
	return []SessionEffect{Ask{Turn: w.turn, Number: w.number}}
}

// head is the oldest waiting turn; dead entries before it are let go.
func (q *Session) head() (waiting, bool) {
	for len(q.line) > 0 && q.line[0].turn.IsZero() {
		q.line = q.line[1:]
		q.dropped--
	}
	if len(q.line) == 0 {
		return waiting{}, false
	}
	return q.line[0], true
}

// remove marks the turn's entry dead: the head in no time, one in the middle
// after a search of this session's line.
func (q *Session) remove(turn event.ID) bool {
	for i := range q.line {
		if q.line[i].turn == turn {
			if turn == q.running {
				q.number = q.line[i].number
			}
			q.line[i] = waiting{}
			q.dropped++
			q.head()
			return true
		}
	}
	return false
}
