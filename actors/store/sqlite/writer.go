package sqlite

import (
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

const (
	// writerCache is KiB of page cache. It fills with the first thousands of turns and
	// is never given back, so it is memory of every server; what does not fit is read
	// from the kernel's own cache.
	writerCache = 3072
	// cachedSessions bounds the writer's memory of session rows.
	cachedSessions = 16384
	// writeTries is how often a group is tried when the disk reports an I/O error.
	writeTries = 3
	floorEvery = time.Second
)

// writer owns the writing connection and is the only one that changes the file.
type writer struct {
	store *Store
	db    *db

	sessions map[event.ID]*entry
	touched  []touch // entries the open transaction has changed
	full     bool    // synchronous=FULL is set

	// meta is committed, next what the open transaction makes of it.
	meta, next meta

	opening opening  // what the file says
	owed    *opening // what it should say and could not, for want of space

	spare        *spare
	lowDisk      error // what Room said
	floorChecked time.Time
	chores       chores

	groups, synced, commits, walBytes atomic.Int64
}

// meta is the counters of the meta table.
type meta struct{ number, sessions int64 }

func newWriter(s *Store, d *db) *writer {
	return &writer{
		store: s, db: d, sessions: map[event.ID]*entry{},
		spare: newSpare(s.dir, s.opts.Reserve, s.opts.Faults),
	}
}

// load reads what the writer keeps in memory.
func (w *writer) load() error {
	err := w.db.on("SELECT name, value FROM meta").each(func(s stmt) (bool, error) {
		switch s.ColumnText(0) {
		case "number":
			w.meta.number = s.ColumnInt64(1)
		case "sessions":
			w.meta.sessions = s.ColumnInt64(1)
		case "boot":
			w.opening.boot = s.ColumnInt64(1)
		case "clean":
			w.opening.clean = s.ColumnInt64(1) != 0
		case "era":
			w.opening.era = s.ColumnInt64(1)
		}
		return true, nil
	})
	w.next = w.meta
	w.store.count.Store(w.meta.sessions)
	if err == nil {
		err = w.chores.load(w.db)
	}
	return classify(err)
}

// run takes groups until the queue has ended; chores run in between.
func (w *writer) run() {
	defer crash.Guard()
	s := w.store
	defer close(s.ended)
	tick := time.NewTicker(choreEvery)
	defer tick.Stop()
	var group []*request
	for n := 0; ; n++ {
		var ended bool
		group, ended = s.queue.take(group)
		if ended {
			return
		}
		if len(group) > 0 {
			w.group(group)
			clear(group)
			w.checkpoint()
		}
		// A flood must not keep deleted sessions on the disk for ever.
		if w.chores.waiting() && (len(group) == 0 || n%16 == 0) {
			w.chore()
			continue
		}
		if len(group) > 0 {
			continue
		}
		select {
		case <-s.queue.wake:
		case <-tick.C:
			w.chores.due(s.opts.Now())
		}
	}
}

// group answers every request of it.
func (w *writer) group(group []*request) {
	w.floor(group)
	w.ration(group)
	err := w.attempt(group)
	if errors.Is(err, store.ErrFull) && w.rescue(group) {
		err = w.attempt(group)
	}
	if err != nil && len(group) > 1 && !errors.Is(err, store.ErrFull) && !errors.Is(err, store.ErrFailed) {
		// One of them is the culprit: each alone, so that only it is refused.
		for i := range group {
			if alone := w.attempt(group[i : i+1]); alone != nil {
				group[i].err = alone
			}
		}
		err = nil
	}
	for _, r := range group {
		if r.err == nil {
			r.err = err
		}
		if r.err == nil {
			w.commits.Add(1)
		}
		if r.done != nil {
			r.done(r.err)
		}
	}
	if len(w.sessions) > cachedSessions {
		w.shrink()
	}
}

// attempt commits the requests as one transaction. Its error means that none of
// them is in the file; a request refused by its check has its own in r.err.
func (w *writer) attempt(group []*request) error {
	durable := false
	for _, r := range group {
		durable = durable || r.durable
	}
	var err error
	for range writeTries {
		if err = w.store.Err(); err != nil {
			return err
		}
		if w.owed != nil {
			if err = w.note(*w.owed); err != nil {
				break
			}
		}
		err = w.transact(durable, func() error { return w.apply(group) })
		if errors.Is(err, errUnsynced) {
			durable = true
			err = w.transact(durable, func() error { return w.apply(group) })
		}
		if !ioFailed(err) {
			break
		}
	}
	if ioFailed(err) {
		w.store.fail(fmt.Errorf("write failed %d times: %w", writeTries, err))
	}
	if failed := w.store.Err(); failed != nil {
		return failed
	}
	return err
}

// errUnsynced says that a group holds a change that must be synced, though none
// of its members asked for that.
var errUnsynced = errors.New("store: this group must be synced")

// apply checks and writes the requests inside the open transaction.
func (w *writer) apply(group []*request) error {
	for _, r := range group {
		if r.low {
			continue
		}
		if r.err = r.check(w); r.err != nil {
			r.err = classify(r.err)
			continue
		}
		if err := r.apply(w); err != nil {
			return err
		}
	}
	return nil
}

// transact runs fn in one transaction and keeps the writer's memory in step with
// the file.
func (w *writer) transact(durable bool, fn func() error) error {
	err := w.store.guard("writer", func() error {
		if err := w.synchronous(durable); err != nil {
			return err
		}
		return transact(w.db, "BEGIN IMMEDIATE", func(*db) error {
			if err := fn(); err != nil {
				return err
			}
			return w.saveMeta()
		})
	})
	if err != nil {
		for _, t := range w.touched {
			delete(w.sessions, t.id)
		}
		w.next = w.meta
	} else {
		w.store.recall.committed(w.touched, w.sessions, w.store.era)
		w.store.count.Store(w.next.sessions)
	}
	clear(w.touched)
	w.touched = w.touched[:0]
	w.meta = w.next
	w.groups.Add(1)
	if durable {
		w.synced.Add(1)
	}
	return err
}

// synchronous decides whether COMMIT waits for the disk. Set only on a change,
// and never inside a transaction, where SQLite ignores it.
func (w *writer) synchronous(full bool) error {
	if full == w.full {
		return nil
	}
	sql := "PRAGMA synchronous=NORMAL"
	if full {
		sql = "PRAGMA synchronous=FULL"
	}
	if err := w.db.Exec(sql); err != nil {
		return classify(err)
	}
	w.full = full
	return nil
}

func (w *writer) saveMeta() error {
	if w.next.number != w.meta.number {
		if err := w.db.on("UPDATE meta SET value=?1 WHERE name='number'").int(w.next.number).exec(); err != nil {
			return err
		}
	}
	if w.next.sessions != w.meta.sessions {
		return w.db.on("UPDATE meta SET value=?1 WHERE name='sessions'").int(w.next.sessions).exec()
	}
	return nil
}

// floor refuses new work while the disk has less than MinFreeDisk.
func (w *writer) floor(group []*request) {
	o := &w.store.opts
	if o.MinFreeDisk == 0 {
		return
	}
	for _, r := range group {
		if !r.accepts {
			continue
		}
		if now := o.Now(); now.Sub(w.floorChecked) >= floorEvery || now.Before(w.floorChecked) {
			w.floorChecked, w.lowDisk = now, w.store.Room()
		}
		if w.lowDisk != nil {
			r.low, r.err = true, w.lowDisk
		}
	}
}

// shrink forgets a quarter of the cached sessions; which ones does not matter.
func (w *writer) shrink() {
	drop := cachedSessions / 4
	for id := range maps.Keys(w.sessions) {
		if drop--; drop < 0 {
			return
		}
		delete(w.sessions, id)
	}
}

// change queues a change and waits for its result.
func (s *Store) change(r *request) error {
	if s.writer == nil {
		return ErrReadOnly
	}
	answer := make(chan error, 1)
	r.done = func(err error) { answer <- err }
	if !s.queue.add(r) {
		return store.ErrClosed
	}
	return <-answer
}
