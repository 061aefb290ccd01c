package store

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
)

// KeyTTL is how many seconds an idempotency key is kept.
const KeyTTL = 24 * 60 * 60

// Ahead is how far a session's Reserved mark is put above its newest event. A
// mark costs one sync more, so it moves seldom.
const Ahead = 1 << 20

// Last is the session's head after c.
func (c *Commit) Last() int64 {
	if n := len(c.Events); n > 0 {
		return c.Events[n-1].Seq
	}
	return c.Head
}

// Follows reports whether ev can be the event at number next: it has that number,
// or it is a Skipped event that begins there.
func Follows(ev *event.Event, next int64) bool {
	return ev.Seq == next || ev.Kind == event.Skipped && ev.Seq > next
}

// Check reports what makes c unfit for any store, whatever the store holds.
func (c *Commit) Check() error {
	if c.Session.IsZero() {
		return fmt.Errorf("store: commit without a session")
	}
	if c.Head < 0 || c.Create != nil && c.Head != c.Create.Trimmed {
		return fmt.Errorf("store: commit of session %s with head %d", c.Session, c.Head)
	}
	next := c.Head + 1
	for i := range c.Events {
		if !Follows(&c.Events[i], next) {
			return fmt.Errorf("store: commit of session %s has event %d where %d belongs", c.Session, c.Events[i].Seq, next)
		}
		next = c.Events[i].Seq + 1
	}
	if s := c.Spend; s != nil && (len(c.Events) == 0 || s.Tokens < 0 || s.MicroUSD < 0 || max(s.Tokens, s.MicroUSD) > MaxSpent) {
		return fmt.Errorf("store: commit of session %s spends %+v with %d events", c.Session, *s, len(c.Events))
	}
	if c.Checkpoint != nil && c.Last() == 0 {
		return fmt.Errorf("store: checkpoint of session %s before its first event", c.Session)
	}
	if c.State != nil && *c.State != Idle && *c.State != Active {
		return fmt.Errorf("store: commit of session %s sets state %d", c.Session, *c.State)
	}
	for i := range c.Turns {
		t := &c.Turns[i]
		if t.ID.IsZero() {
			return fmt.Errorf("store: commit of session %s has a turn without an id", c.Session)
		}
		if !t.Session.IsZero() && t.Session != c.Session {
			return fmt.Errorf("store: commit of session %s has a turn of session %s", c.Session, t.Session)
		}
	}
	return nil
}

// CheckThin reports what makes events unfit for the place of first to last.
func CheckThin(first, last int64, events []event.Event) error {
	next := first
	for i := range events {
		if !Follows(&events[i], next) {
			return fmt.Errorf("store: thin events have %d where %d belongs", events[i].Seq, next)
		}
		next = events[i].Seq + 1
	}
	if first < 1 || len(events) == 0 || next != last+1 {
		return fmt.Errorf("store: thin events %d to %d end before %d", first, last, next)
	}
	return nil
}
