package sqlite

import (
	"context"

	"github.com/agenthost/agenthost/actors/store"
)

// idleSessions repeats the condition of the partial index, which is used only then.
const idleSessions = "SELECT n, id, active, bytes FROM session WHERE state=1 AND (active, n) > (?1, ?2) ORDER BY active, n LIMIT ?3"

// IdleSessions lists the sessions that rest, the longest idle first.
func (s *Store) IdleSessions(ctx context.Context, after store.IdleSession, limit int) ([]store.IdleSession, error) {
	var list []store.IdleSession
	err := s.view(ctx, func(d *db) error {
		list = nil
		return d.on(idleSessions).int(after.Active).int(after.N).int(int64(min(limit, scanRows))).each(func(r stmt) (bool, error) {
			i := store.IdleSession{N: r.ColumnInt64(0), Active: r.ColumnInt64(2), Bytes: r.ColumnInt64(3)}
			copy(i.ID[:], r.ColumnRawBlob(1))
			list = append(list, i)
			return true, nil
		})
	})
	return list, err
}

// Used counts the pages in use. Free ones inside the file are used again before it
// grows, so they do not count; nor does the write-ahead log, whose size is bounded.
func (s *Store) Used(ctx context.Context) (bytes int64, purging bool, err error) {
	err = s.view(ctx, func(d *db) error {
		pages, free, err := pages(d)
		if err != nil {
			return err
		}
		bytes = (pages - free) * pageSize
		purging, err = d.on("SELECT n FROM session WHERE state>1 AND state=3 LIMIT 1").one(nil)
		return err
	})
	return bytes, purging, err
}

// pages counts those of the file and the free ones among them.
func pages(d *db) (all, free int64, err error) {
	for _, p := range []struct {
		sql string
		to  *int64
	}{{"PRAGMA page_count", &all}, {"PRAGMA freelist_count", &free}} {
		_, err := d.on(p.sql).one(func(s stmt) error {
			*p.to = s.ColumnInt64(0)
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return all, free, nil
}
