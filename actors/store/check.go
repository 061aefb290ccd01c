package store

import "fmt"

// KeyTTL is how many seconds an idempotency key is kept.
const KeyTTL = 24 * 60 * 60

// Last is the session's head after c.
func (c *Commit) Last() int64 { return c.Head + int64(len(c.Events)) }

// Check reports what makes c unfit for any store, whatever the store holds.
func (c *Commit) Check() error {
	if c.Session.IsZero() {
		return fmt.Errorf("store: commit without a session")
	}
	if c.Head < 0 || c.Create != nil && c.Head != 0 {
		return fmt.Errorf("store: commit of session %s with head %d", c.Session, c.Head)
	}
	for i := range c.Events {
		if want := c.Head + 1 + int64(i); c.Events[i].Seq != want {
			return fmt.Errorf("store: commit of session %s has event %d where %d belongs", c.Session, c.Events[i].Seq, want)
		}
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
