package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Remove makes the session unknown at once, durably; a chore gives its space
// back.
func (s *Store) Remove(_ context.Context, id event.ID) error {
	var e *entry
	return s.change(&request{
		durable: true,
		check: func(w *writer) (err error) {
			e, err = w.session(id)
			return err
		},
		apply: func(w *writer) error {
			w.touch(e)
			s.left.Left(store.SessionPlaces, e.owner, id, store.Place{Created: e.created, N: e.n})
			e.state = store.Deleted
			w.next.sessions--
			if err := w.updateState(e); err != nil {
				return err
			}
			if err := w.update(e); err != nil {
				return err
			}
			delete(w.sessions, id) // the row is read again, and says deleted
			w.chores.deleted = append(w.chores.deleted, e.n)
			return nil
		},
	})
}

// choreEvery is how often idle housekeeping looks for work.
const choreEvery = time.Minute

// Bounds of one chore step, so that a commit never waits long behind one.
const (
	choreRows  = 64
	choreBytes = 1 << 20
	choreKeys  = 64
	// minFree is the free pages below which a file is left as it is.
	minFree = 256
)

// chores is the writer's work of low priority, done in small transactions
// between groups.
type chores struct {
	deleted []int64 // row numbers of sessions to purge
	expire  int64   // Unix seconds: idempotency keys older than KeyTTL then; 0 when none
	shrink  bool    // give free pages back
}

// load finds the sessions whose purge a stop has interrupted.
func (c *chores) load(d *db) error {
	return d.on("SELECT n FROM session WHERE state>1 AND state=3").each(func(s stmt) (bool, error) {
		c.deleted = append(c.deleted, s.ColumnInt64(0))
		return true, nil
	})
}

func (c *chores) waiting() bool { return len(c.deleted) > 0 || c.expire != 0 || c.shrink }

// due starts the round that comes every minute.
func (c *chores) due(now time.Time) {
	c.expire = now.Unix()
	c.shrink = true
}

// chore does one step. A failure ends the chore until the next round, or for a
// purge until the next start: it cost only space.
func (w *writer) chore() {
	c := &w.chores
	switch {
	case len(c.deleted) > 0:
		// A session queued twice, by a group that was tried twice, is purged once.
		gone := false
		err := w.transact(false, func() (err error) {
			gone, err = w.purge(c.deleted[0])
			return err
		})
		if gone || err != nil {
			c.deleted = c.deleted[1:]
		}
		w.choreFailed("purge a deleted session", err)
	case c.expire != 0:
		more := false
		err := w.transact(false, func() error {
			err := w.db.on("DELETE FROM idem WHERE (owner, key) IN (SELECT owner, key FROM idem WHERE created<=?1 LIMIT ?2)").int(c.expire - store.KeyTTL).int(choreKeys).exec()
			more = w.db.Changes() == choreKeys
			return err
		})
		if !more || err != nil {
			c.expire = 0
		}
		w.choreFailed("expire idempotency keys", err)
	case c.shrink:
		more, err := w.vacuum()
		c.shrink = more && err == nil
		w.choreFailed("give free pages back", err)
	}
}

func (w *writer) choreFailed(what string, err error) {
	if err != nil && w.store.Err() == nil {
		w.store.opts.Logger.Warn("housekeeping of the store failed", "chore", what, "error", err)
	}
}

// purge removes a few rows of a deleted session, its own row last. gone says
// that nothing is left.
func (w *writer) purge(n int64) (gone bool, err error) {
	var row *sessionRow
	_, err = w.db.on("SELECT " + sessionColumns + " FROM session WHERE n=?1").int(n).one(func(s stmt) error {
		row = scanSession(s)
		return nil
	})
	if err != nil || row == nil || row.state != store.Deleted {
		return true, err
	}
	if row.mark != row.entry.mark() {
		// Nobody may have removed it: a flipped bit must not.
		return true, fmt.Errorf("%w: record of session %s, which says that it was removed", store.ErrCorrupt, row.id)
	}
	for _, sql := range [...][2]string{
		{"SELECT n, length(body) FROM chunk WHERE s=?1 ORDER BY first LIMIT ?2", "DELETE FROM chunk WHERE n=?1"},
		{"SELECT n, length(body) FROM turn WHERE s=?1 ORDER BY ordinal LIMIT ?2", "DELETE FROM turn WHERE n=?1"},
		{"SELECT n, length(body) FROM checkpoint WHERE s=?1 ORDER BY seq LIMIT ?2", "DELETE FROM checkpoint WHERE n=?1"},
	} {
		var rows []int64
		bytes := int64(0)
		err := w.db.on(sql[0]).int(n).int(choreRows).each(func(s stmt) (bool, error) {
			rows = append(rows, s.ColumnInt64(0))
			bytes += s.ColumnInt64(1)
			return bytes < choreBytes, nil
		})
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			if err := w.db.on(sql[1]).int(row).exec(); err != nil {
				return false, err
			}
		}
		if len(rows) > 0 {
			return false, nil
		}
	}
	return true, w.db.on("DELETE FROM session WHERE n=?1").int(n).exec()
}

// vacuum gives a few free pages back while more than a quarter of the file is
// free. more asks for another step.
func (w *writer) vacuum() (more bool, err error) {
	all, free, err := pages(w.db)
	if err != nil {
		return false, err
	}
	if free < minFree || free*4 < all {
		return false, nil
	}
	err = w.store.guard("writer", func() error {
		if err := w.synchronous(false); err != nil {
			return err
		}
		return classify(w.db.on("PRAGMA incremental_vacuum(32)").each(func(stmt) (bool, error) { return true, nil }))
	})
	return err == nil, err
}
