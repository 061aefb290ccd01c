package sqlite

import (
	"bytes"
	"errors"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// commit is a store.Commit on its way through the writer. Its events are encoded
// in the goroutine that asked, so that sessions share that work among the cores.
type commit struct {
	*store.Commit
	chunk  chunk
	buf    *[]byte
	entry  *entry // nil for a new session
	landed bool   // by an earlier try whose answer was lost
}

// Commit queues c.
func (s *Store) Commit(c *store.Commit) {
	done := c.Done
	if done == nil {
		done = func(error) {}
	}
	if s.writer == nil {
		done(ErrReadOnly)
		return
	}
	k := &commit{Commit: c, buf: borrow()}
	r := &request{durable: c.Durable, accepts: accepts(c), adds: adds(c), apply: k.apply, bytes: len(c.Body) + len(c.Spec) + len(c.Checkpoint)}
	r.check = k.check
	r.done = func(err error) {
		giveBack(k.buf)
		done(err)
	}
	err := c.Check()
	if err == nil && len(c.Events) > 0 {
		k.chunk, err = encodeChunk(c.Session, c.Head, c.Events, c.Durable, k.buf)
	}
	if err != nil {
		// Through the queue all the same: answers keep the order of the commits.
		r.check = func(*writer) error { return err }
	}
	for i := range c.Turns {
		r.bytes += len(c.Turns[i].Body)
	}
	r.bytes += len(k.chunk.body)
	if !s.queue.add(r) {
		r.done(s.stopped())
	}
}

func (s *Store) stopped() error {
	if err := s.Err(); err != nil {
		return err
	}
	return store.ErrClosed
}

// accepts says that c takes in new work, which a nearly full disk refuses.
func accepts(c *store.Commit) bool {
	if c.Create != nil || c.Key != nil {
		return true
	}
	for i := range c.Events {
		switch in, _ := c.Events[i].Body.(*event.Input); {
		case in == nil:
		case c.Events[i].Kind == event.InputAccepted && in.ID.IsZero(), // else it was accepted for another turn before
			c.Events[i].Kind == event.InputSteered && !in.Taken:
			return true
		}
	}
	return false
}

// check decides before anything is changed.
func (c *commit) check(w *writer) error {
	c.landed, c.entry = false, nil
	e, err := w.session(c.Session)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) && c.Create != nil {
			return w.checkKey(c.Key)
		}
		return err
	}
	c.entry = e
	if e.host != c.Host || e.epoch != c.Epoch {
		if c.Create != nil {
			return store.ErrExists
		}
		return store.ErrFenced
	}
	if c.landed, err = c.held(w); c.landed || err != nil {
		return err
	}
	if c.Create != nil {
		if len(c.Events) == 0 && e.owner == c.Create.Owner && e.created == c.Create.Created {
			c.landed = true
			return nil
		}
		return store.ErrExists
	}
	if e.head != c.Head {
		return store.ErrHead
	}
	return w.checkKey(c.Key)
}

// held reports whether the commit's chunk is in the file already.
func (c *commit) held(w *writer) (bool, error) {
	if len(c.Events) == 0 || c.Head >= c.entry.head {
		return false, nil
	}
	old := chunk{first: c.chunk.first}
	found, err := w.db.on("SELECT last, flags, crc, body FROM chunk WHERE s=?1 AND first=?2").int(c.entry.n).int(old.first).one(func(s stmt) error {
		old.last, old.flags, old.crc = s.ColumnInt64(0), s.ColumnInt64(1), uint32(s.ColumnInt64(2))
		old.body = s.ColumnBlob(3, nil)
		return nil
	})
	if err != nil || !found || old.last != c.chunk.last {
		return false, err
	}
	if err := old.check(c.Session); err != nil {
		return false, err
	}
	var a, b []byte
	had, has := old.raw(&a)
	if has != nil {
		return false, has
	}
	now, has := c.chunk.raw(&b)
	if has != nil {
		return false, has
	}
	return bytes.Equal(had, now), nil
}

// apply writes what check has admitted.
func (c *commit) apply(w *writer) error {
	if c.landed {
		return nil
	}
	if err := c.applySession(w); err != nil {
		return err
	}
	if k := &c.chunk; len(c.Events) > 0 {
		err := w.db.on("INSERT INTO chunk(s, first, last, flags, crc, body) VALUES (?1,?2,?3,?4,?5,?6)").
			int(c.entry.n).int(k.first).int(k.last).int(k.flags).int(int64(k.crc)).blob(k.body).exec()
		if err != nil {
			return err
		}
	}
	for i := range c.Turns {
		if err := w.putTurn(c.entry, &c.Turns[i]); err != nil {
			return err
		}
	}
	if c.Checkpoint != nil {
		if err := w.putCheckpoint(c.entry, c.Last(), c.Checkpoint); err != nil {
			return err
		}
	}
	if c.Spend != nil {
		if err := w.spend(c.entry.owner, c.Spend); err != nil {
			return err
		}
	}
	return w.putKey(c.Key)
}

// applySession writes the session row where it must change.
func (c *commit) applySession(w *writer) error {
	e := c.entry
	created := e == nil
	if created {
		e = &entry{id: c.Session, owner: c.Create.Owner, created: c.Create.Created, state: store.Idle, host: c.Host, epoch: c.Epoch,
			head: c.Create.Trimmed, trimmed: c.Create.Trimmed, reserved: c.Create.Trimmed + store.Ahead, era: w.store.era, active: c.Create.Created}
		c.entry = e
		w.next.sessions++
	}
	w.touch(e)
	before := e.state
	if c.State != nil {
		e.state = *c.State
	}
	// A session at work is in no list of idle ones: its time is written when it rests.
	listed := e.state != before
	if c.Active != 0 && c.Active != e.active {
		e.active = c.Active
		listed = listed || e.state == store.Idle
	}
	if len(c.Events) > 0 {
		e.head = c.chunk.last
		e.bytes += int64(len(c.chunk.body))
		e.lag++
	}
	moved, err := w.reserve(e)
	if err != nil {
		return err
	}
	if created {
		e.lag = 0
		return w.insert(e, c.Spec, c.Body)
	}
	if listed {
		if err := w.updateState(e); err != nil {
			return err
		}
	}
	if c.Body != nil {
		if err := w.updateBody(e, c.Body); err != nil {
			return err
		}
	}
	if c.Spec != nil {
		if err := w.updateSpec(e, c.Spec); err != nil {
			return err
		}
	}
	if c.Durable || moved || e.state != before || e.lag >= maxLag {
		return w.update(e)
	}
	return nil
}
