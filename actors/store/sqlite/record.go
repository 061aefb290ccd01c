package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

const recordColumns = "id, owner, name, created, crc, body, n"

func recordSum(r *store.Record) int64 {
	return sumOf([]int64{r.Created}, []byte(r.Kind), r.ID[:], []byte(r.Owner), []byte(r.Name), r.Body)
}

// recordRow is a record as read, with its checksum and row number.
type recordRow struct {
	store.Record
	crc, n int64
}

func scanRecord(s stmt, kind string) *recordRow {
	r := &recordRow{Record: store.Record{Kind: kind}}
	copy(r.ID[:], s.ColumnRawBlob(0))
	r.Owner, r.Name, r.Created, r.crc = s.ColumnText(1), s.ColumnText(2), s.ColumnInt64(3), s.ColumnInt64(4)
	r.Body, r.n = s.ColumnBlob(5, nil), s.ColumnInt64(6)
	return r
}

func viewRecords(rows []*recordRow) ([]*store.Record, error) {
	list := make([]*store.Record, len(rows))
	for i, r := range rows {
		if recordSum(&r.Record) != r.crc {
			return nil, fmt.Errorf("%w: %s record %s", store.ErrCorrupt, r.Kind, r.ID)
		}
		list[i] = &r.Record
	}
	return list, nil
}

// PutRecord inserts or replaces by (kind, id). ErrExists when the id is another
// owner's.
func (s *Store) PutRecord(_ context.Context, r *store.Record) error {
	return s.change(&request{
		durable: true,
		accepts: true,
		adds:    true,
		bytes:   len(r.Body),
		check: func(w *writer) error {
			_, err := w.db.on("SELECT owner FROM record WHERE kind=?1 AND id=?2").text(r.Kind).blob(r.ID[:]).one(func(s stmt) error {
				if s.ColumnText(0) != r.Owner {
					return store.ErrExists
				}
				return nil
			})
			if err != nil {
				return err
			}
			return w.checkKey(r.Key)
		},
		apply: func(w *writer) error {
			err := w.db.on(`INSERT INTO record(kind, id, owner, name, created, crc, body) VALUES (?1,?2,?3,?4,?5,?6,?7)
ON CONFLICT(kind, id) DO UPDATE SET name=excluded.name, created=excluded.created, crc=excluded.crc, body=excluded.body`).
				text(r.Kind).blob(r.ID[:]).text(r.Owner).text(r.Name).int(r.Created).int(recordSum(r)).blob(r.Body).exec()
			if err != nil {
				return err
			}
			return w.putKey(r.Key)
		},
	})
}

// GetRecord looks a record up.
func (s *Store) GetRecord(ctx context.Context, kind, owner string, id event.ID) (*store.Record, error) {
	row, err := s.record(ctx, kind, owner, id)
	if err != nil {
		return nil, err
	}
	list, err := viewRecords([]*recordRow{row})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

func (s *Store) record(ctx context.Context, kind, owner string, id event.ID) (row *recordRow, err error) {
	err = s.view(ctx, func(d *db) error {
		_, err := d.on("SELECT " + recordColumns + " FROM record WHERE kind=?1 AND id=?2").text(kind).blob(id[:]).one(func(s stmt) error {
			row = scanRecord(s, kind)
			return nil
		})
		return err
	})
	if err == nil && (row == nil || owner != "" && row.Owner != owner) {
		err = store.ErrNotFound
	}
	return row, err
}

// RecordsNamed returns the owner's records of that name, oldest first.
func (s *Store) RecordsNamed(ctx context.Context, kind, owner, name string) ([]*store.Record, error) {
	var rows []*recordRow
	err := s.view(ctx, func(d *db) error {
		sql := "SELECT " + recordColumns + " FROM record WHERE kind=?1 AND name=?2 AND owner=?3 ORDER BY created, n"
		if owner == "" {
			sql = "SELECT " + recordColumns + " FROM record WHERE kind=?1 AND name=?2 ORDER BY created, n"
		}
		q := d.on(sql).text(kind).text(name)
		if owner != "" {
			q = q.text(owner)
		}
		return q.each(func(s stmt) (bool, error) {
			rows = append(rows, scanRecord(s, kind))
			return true, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return viewRecords(rows)
}

// recordLists are the lists: of all or one owner, each up and down.
var recordLists = [2][2]string{
	{
		"SELECT " + recordColumns + " FROM record WHERE kind=?1 AND (created, n) > (?2, ?3) ORDER BY created, n LIMIT ?4",
		"SELECT " + recordColumns + " FROM record WHERE kind=?1 AND (created, n) < (?2, ?3) ORDER BY created DESC, n DESC LIMIT ?4",
	}, {
		"SELECT " + recordColumns + " FROM record WHERE kind=?1 AND owner=?5 AND (created, n) > (?2, ?3) ORDER BY created, n LIMIT ?4",
		"SELECT " + recordColumns + " FROM record WHERE kind=?1 AND owner=?5 AND (created, n) < (?2, ?3) ORDER BY created DESC, n DESC LIMIT ?4",
	},
}

// Records lists by creation.
func (s *Store) Records(ctx context.Context, kind, owner string, p spec.Page) ([]*store.Record, bool, error) {
	at := store.Place{Created: start(p.Desc), N: start(p.Desc)}
	if !p.After.IsZero() {
		var err error
		if at, err = s.recordPlace(ctx, kind, owner, p.After); err != nil {
			return nil, false, err
		}
	}
	limit := pageLimit(p)
	var list []*store.Record
	for {
		batch := limit + 1 - int64(len(list))
		rows, err := s.recordBatch(ctx, kind, owner, p.Desc, at, batch)
		if err != nil {
			return nil, false, err
		}
		for _, r := range rows {
			at = store.Place{Created: r.Created, N: r.n}
			sound, err := viewRecords([]*recordRow{r})
			if err != nil {
				// A list must show the others.
				s.opts.Logger.Error("a record is damaged; it is left out of the list", "kind", kind, "record", r.ID.Hex(), "error", err)
				continue
			}
			list = append(list, sound...)
		}
		if int64(len(list)) > limit {
			return list[:limit], true, nil
		}
		if int64(len(rows)) < batch {
			return list, false, nil
		}
	}
}

func (s *Store) recordPlace(ctx context.Context, kind, owner string, id event.ID) (store.Place, error) {
	row, err := s.record(ctx, kind, owner, id)
	if errors.Is(err, store.ErrNotFound) {
		return s.left.Of(kind, owner, id)
	}
	if err != nil {
		return store.Place{}, err
	}
	return store.Place{Created: row.Created, N: row.n}, nil
}

func (s *Store) recordBatch(ctx context.Context, kind, owner string, desc bool, at store.Place, limit int64) (rows []*recordRow, err error) {
	byOwner, down := 0, 0
	if owner != "" {
		byOwner = 1
	}
	if desc {
		down = 1
	}
	err = s.view(ctx, func(d *db) error {
		q := d.on(recordLists[byOwner][down]).text(kind).int(at.Created).int(at.N).int(limit)
		if owner != "" {
			q = q.text(owner)
		}
		return q.each(func(s stmt) (bool, error) {
			rows = append(rows, scanRecord(s, kind))
			return true, nil
		})
	})
	return rows, err
}

// DeleteRecord removes one.
func (s *Store) DeleteRecord(_ context.Context, kind, owner string, id event.ID) error {
	var rows string
	var at store.Place
	return s.change(&request{
		durable: true,
		check: func(w *writer) error {
			found, err := w.db.on("SELECT owner, created, n FROM record WHERE kind=?1 AND id=?2").text(kind).blob(id[:]).one(func(s stmt) error {
				rows, at = s.ColumnText(0), store.Place{Created: s.ColumnInt64(1), N: s.ColumnInt64(2)}
				if owner != "" && rows != owner {
					return store.ErrNotFound
				}
				return nil
			})
			if err == nil && !found {
				err = store.ErrNotFound
			}
			return err
		},
		apply: func(w *writer) error {
			s.left.Left(kind, rows, id, at)
			return w.db.on("DELETE FROM record WHERE kind=?1 AND id=?2").text(kind).blob(id[:]).exec()
		},
	})
}
