package sqlite

import (
	"context"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// sessionColumns has at its end what the chunks newer than the row add to it.
const sessionColumns = `n, id, owner, created, state, host, epoch, head, trimmed, bytes, mark, spec_crc, body_crc, spec, body, reserved, era, active,
coalesce((SELECT last FROM chunk WHERE s=session.n ORDER BY first DESC LIMIT 1), 0),
(SELECT sum(length(body)) FROM chunk WHERE s=session.n AND first>session.head)`

const sessionByID = "SELECT " + sessionColumns + " FROM session WHERE id=?1"

// sessionRow is a row as read; check and view are for outside the transaction.
type sessionRow struct {
	entry
	mark, specCRC, bodyCRC int64
	spec, body             []byte
	newest, newer          int64
}

func scanSession(s stmt) *sessionRow {
	r := &sessionRow{}
	r.n = s.ColumnInt64(0)
	copy(r.id[:], s.ColumnRawBlob(1))
	r.owner, r.created, r.state = s.ColumnText(2), s.ColumnInt64(3), store.SessionState(s.ColumnInt64(4))
	copy(r.host[:], s.ColumnRawBlob(5))
	r.epoch, r.head, r.trimmed, r.bytes = s.ColumnInt64(6), s.ColumnInt64(7), s.ColumnInt64(8), s.ColumnInt64(9)
	r.mark, r.specCRC, r.bodyCRC = s.ColumnInt64(10), s.ColumnInt64(11), s.ColumnInt64(12)
	r.spec, r.body = s.ColumnBlob(13, nil), s.ColumnBlob(14, nil)
	r.reserved, r.era, r.active = s.ColumnInt64(15), s.ColumnInt64(16), s.ColumnInt64(17)
	r.newest, r.newer = s.ColumnInt64(18), s.ColumnInt64(19)
	return r
}

// view verifies the row and gives it to the outside. era is the store's.
func (r *sessionRow) view(era int64) (*store.Session, error) {
	if r.mark != r.entry.mark() || r.specCRC != r.specSum(r.spec) || r.bodyCRC != r.bodySum(r.body) {
		return nil, fmt.Errorf("%w: record of session %s", store.ErrCorrupt, r.id)
	}
	return &store.Session{
		ID: r.id, Owner: r.owner, Created: r.created, State: r.state, Host: r.host, Epoch: r.epoch,
		Head: max(r.head, r.newest), Trimmed: r.trimmed, Bytes: r.bytes + r.newer, Spec: r.spec, Body: r.body,
		Reserved: r.reserved, Uncertain: r.era < era, Active: r.active,
	}, nil
}

// Session looks a record up.
func (s *Store) Session(ctx context.Context, owner string, id event.ID) (*store.Session, error) {
	if err := s.serves(); err != nil {
		return nil, err
	}
	rec, round := s.recall.get(id)
	if rec == nil {
		var err error
		if rec, err = s.readSession(ctx, id); err != nil {
			return nil, err
		}
		s.recall.put(rec, round)
	}
	if rec.State == store.Deleted || owner != "" && rec.Owner != owner {
		return nil, store.ErrNotFound
	}
	return rec, nil
}

func (s *Store) readSession(ctx context.Context, id event.ID) (*store.Session, error) {
	var row *sessionRow
	err := s.view(ctx, func(d *db) error {
		_, err := d.on(sessionByID).blob(id[:]).one(func(s stmt) error {
			row = scanSession(s)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, store.ErrNotFound
	}
	// Before anything of the row is believed: a damaged owner or state must not make
	// the session unknown without a word.
	return row.view(s.era)
}

// sessionLists are the four lists: by owner or all, each up and down. The +
// keeps the state out of the choice of an index.
var sessionLists = [2][2]string{
	{
		"SELECT " + sessionColumns + " FROM session WHERE (created, n) > (?1, ?2) AND +state<>3 ORDER BY created, n LIMIT ?3",
		"SELECT " + sessionColumns + " FROM session WHERE (created, n) < (?1, ?2) AND +state<>3 ORDER BY created DESC, n DESC LIMIT ?3",
	}, {
		"SELECT " + sessionColumns + " FROM session WHERE (created, n) > (?1, ?2) AND +state<>3 AND owner=?4 ORDER BY created, n LIMIT ?3",
		"SELECT " + sessionColumns + " FROM session WHERE (created, n) < (?1, ?2) AND +state<>3 AND owner=?4 ORDER BY created DESC, n DESC LIMIT ?3",
	},
}

// scanRows bounds the rows of one reading transaction.
const scanRows = 64

// Sessions lists records by creation. Rows that Match hides are read in several
// short transactions.
func (s *Store) Sessions(ctx context.Context, f store.SessionFilter, p spec.Page) ([]*store.Session, bool, error) {
	at := store.Place{Created: start(p.Desc), N: start(p.Desc)}
	if !p.After.IsZero() {
		var err error
		if at, err = s.sessionPlace(ctx, f.Owner, p.After); err != nil {
			return nil, false, err
		}
	}
	limit := pageLimit(p)
	var list []*store.Session
	for {
		batch := min(scanRows, limit+1)
		rows, err := s.sessionBatch(ctx, f.Owner, p.Desc, at, batch)
		if err != nil {
			return nil, false, err
		}
		for _, r := range rows {
			rec, err := r.view(s.era)
			if err != nil {
				// A list must show the others; the session itself says what it is.
				s.opts.Logger.Error("a session's record is damaged; it is left out of the list", "session", r.id.Hex(), "error", err)
				if f.Damaged != nil {
					f.Damaged(r.id, err)
				}
				continue
			}
			if f.Match != nil && !f.Match(rec) {
				continue
			}
			if int64(len(list)) == limit {
				return list, true, nil
			}
			list = append(list, rec)
		}
		if int64(len(rows)) < batch {
			return list, false, nil
		}
		last := rows[len(rows)-1]
		at = store.Place{Created: last.created, N: last.n}
	}
}

func (s *Store) sessionPlace(ctx context.Context, owner string, id event.ID) (at store.Place, err error) {
	err = s.view(ctx, func(d *db) error {
		_, err := d.on("SELECT created, n, owner, state FROM session WHERE id=?1").blob(id[:]).one(func(s stmt) error {
			if store.SessionState(s.ColumnInt64(3)) != store.Deleted && (owner == "" || s.ColumnText(2) == owner) {
				at = store.Place{Created: s.ColumnInt64(0), N: s.ColumnInt64(1)}
			}
			return nil
		})
		return err
	})
	if err == nil && at.N == 0 {
		at, err = s.left.Of(store.SessionPlaces, owner, id)
	}
	return at, err
}

func (s *Store) sessionBatch(ctx context.Context, owner string, desc bool, at store.Place, limit int64) (rows []*sessionRow, err error) {
	byOwner, down := 0, 0
	if owner != "" {
		byOwner = 1
	}
	if desc {
		down = 1
	}
	err = s.view(ctx, func(d *db) error {
		q := d.on(sessionLists[byOwner][down]).int(at.Created).int(at.N).int(limit)
		if owner != "" {
			q = q.text(owner)
		}
		return q.each(func(s stmt) (bool, error) {
			rows = append(rows, scanSession(s))
			return true, nil
		})
	})
	return rows, err
}

// ActiveSessions lists every session whose State is Active, oldest first.
func (s *Store) ActiveSessions(ctx context.Context) ([]*store.Session, error) {
	var list []*store.Session
	for after := int64(0); ; {
		var rows []*sessionRow
		err := s.view(ctx, func(d *db) error {
			return d.on(activeSessions).int(after).int(scanRows).each(func(s stmt) (bool, error) {
				rows = append(rows, scanSession(s))
				return true, nil
			})
		})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			rec, err := r.view(s.era)
			if err != nil {
				// Recovery must reach the others.
				s.opts.Logger.Error("a session's record is damaged; it is left out of recovery", "session", r.id.Hex(), "error", err)
				continue
			}
			list = append(list, rec)
		}
		if len(rows) < scanRows {
			return list, nil
		}
		after = rows[len(rows)-1].n
	}
}

// activeSessions repeats the condition of the partial index, which is used only
// then.
const activeSessions = "SELECT " + sessionColumns + " FROM session WHERE state>1 AND state=2 AND n>?1 ORDER BY n LIMIT ?2"

// SessionCount counts records that are not deleted.
func (s *Store) SessionCount(ctx context.Context) (int64, error) {
	if s.writer == nil {
		return s.counter(ctx, "SELECT value FROM meta WHERE name='sessions'")
	}
	return s.count.Load(), s.serves()
}

// Claim makes host the owner and returns the new epoch.
func (s *Store) Claim(_ context.Context, id, host event.ID) (*store.Session, error) {
	var e *entry
	var row *sessionRow
	err := s.change(&request{
		durable: true,
		check: func(w *writer) (err error) {
			e, err = w.session(id)
			return err
		},
		apply: func(w *writer) error {
			w.touch(e)
			e.host = host
			e.epoch++
			if err := w.update(e); err != nil {
				return err
			}
			_, err := w.db.on(sessionByID).blob(id[:]).one(func(s stmt) error {
				row = scanSession(s)
				return nil
			})
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	return row.view(s.era)
}
