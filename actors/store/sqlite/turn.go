package sqlite

import (
	"context"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

const turnColumns = "turn.id, turn.ordinal, turn.state, turn.first, turn.last, turn.number, turn.crc, turn.body"

func turnSum(t *store.Turn) int64 {
	return sumOf([]int64{t.Ordinal, int64(t.State), t.First, t.Last, t.Number}, t.ID[:], t.Session[:], t.Body)
}

// putTurn inserts or replaces by id.
func (w *writer) putTurn(e *entry, t *store.Turn) error {
	row := *t
	row.Session = e.id
	w.next.number = max(w.next.number, t.Number)
	err := w.db.on(`INSERT INTO turn(id, s, ordinal, state, first, last, number, crc, body) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)
ON CONFLICT(id) DO UPDATE SET state=excluded.state, first=excluded.first, last=excluded.last, number=excluded.number, crc=excluded.crc, body=excluded.body
WHERE s=excluded.s AND ordinal=excluded.ordinal`).
		blob(row.ID[:]).int(e.n).int(row.Ordinal).int(int64(row.State)).int(row.First).int(row.Last).int(row.Number).int(turnSum(&row)).blob(row.Body).exec()
	if err != nil {
		return taken(err)
	}
	if w.db.Changes() == 0 {
		return fmt.Errorf("%w: turn %s belongs elsewhere", store.ErrExists, t.ID)
	}
	return nil
}

// scanTurn reads turnColumns; the checksum is for the caller to verify outside
// the transaction.
func scanTurn(s stmt, session event.ID) (*store.Turn, int64) {
	t := &store.Turn{Session: session}
	copy(t.ID[:], s.ColumnRawBlob(0))
	t.Ordinal, t.State, t.First = s.ColumnInt64(1), store.TurnState(s.ColumnInt64(2)), s.ColumnInt64(3)
	t.Last, t.Number = s.ColumnInt64(4), s.ColumnInt64(5)
	t.Body = s.ColumnBlob(7, nil)
	return t, s.ColumnInt64(6)
}

func checkTurn(t *store.Turn, sum int64) error {
	if turnSum(t) != sum {
		return fmt.Errorf("%w: turn %s of session %s", store.ErrCorrupt, t.ID, t.Session)
	}
	return nil
}

// Turn looks a turn up.
func (s *Store) Turn(ctx context.Context, owner string, id event.ID) (*store.Turn, error) {
	var t *store.Turn
	var sum int64
	err := s.view(ctx, func(d *db) error {
		_, err := d.on("SELECT " + turnColumns + ", session.id, session.owner, session.state FROM turn JOIN session ON session.n=turn.s WHERE turn.id=?1").blob(id[:]).one(func(s stmt) error {
			if store.SessionState(s.ColumnInt64(10)) == store.Deleted || owner != "" && s.ColumnText(9) != owner {
				return nil
			}
			var session event.ID
			copy(session[:], s.ColumnRawBlob(8))
			t, sum = scanTurn(s, session)
			return nil
		})
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case t == nil:
		return nil, store.ErrNotFound
	}
	if err := checkTurn(t, sum); err != nil {
		return nil, err
	}
	return t, nil
}

// Turns lists a session's turns by ordinal.
func (s *Store) Turns(ctx context.Context, session event.ID, p spec.Page) ([]*store.Turn, bool, error) {
	var list []*store.Turn
	var sums []int64
	limit := pageLimit(p)
	err := s.view(ctx, func(d *db) error {
		n, err := live(d, session)
		if err != nil {
			return err
		}
		at := start(p.Desc)
		if !p.After.IsZero() {
			found, err := d.on("SELECT ordinal FROM turn WHERE id=?1 AND s=?2").blob(p.After[:]).int(n).one(func(s stmt) error {
				at = s.ColumnInt64(0)
				return nil
			})
			if err != nil {
				return err
			}
			if !found {
				return store.ErrNotFound
			}
		}
		sql := "SELECT " + turnColumns + " FROM turn WHERE s=?1 AND ordinal>?2 ORDER BY ordinal LIMIT ?3"
		if p.Desc {
			sql = "SELECT " + turnColumns + " FROM turn WHERE s=?1 AND ordinal<?2 ORDER BY ordinal DESC LIMIT ?3"
		}
		return d.on(sql).int(n).int(at).int(limit + 1).each(func(s stmt) (bool, error) {
			t, sum := scanTurn(s, session)
			list, sums = append(list, t), append(sums, sum)
			return true, nil
		})
	})
	if err != nil {
		return nil, false, err
	}
	for i, t := range list {
		if err := checkTurn(t, sums[i]); err != nil {
			return nil, false, err
		}
	}
	if more := int64(len(list)) > limit; more {
		return list[:limit], true, nil
	}
	return list, false, nil
}

// NextNumber is one more than the highest acceptance number ever stored.
func (s *Store) NextNumber(ctx context.Context) (int64, error) {
	n, err := s.counter(ctx, "SELECT value FROM meta WHERE name='number'")
	return n + 1, err
}

func (s *Store) counter(ctx context.Context, sql string) (n int64, err error) {
	err = s.view(ctx, func(d *db) error {
		_, err := d.on(sql).one(func(s stmt) error {
			n = s.ColumnInt64(0)
			return nil
		})
		return err
	})
	return n, err
}

// live is the row number of a session that is not deleted.
func live(d *db, id event.ID) (n int64, err error) {
	_, err = d.on("SELECT n, state FROM session WHERE id=?1").blob(id[:]).one(func(s stmt) error {
		if store.SessionState(s.ColumnInt64(1)) != store.Deleted {
			n = s.ColumnInt64(0)
		}
		return nil
	})
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return n, err
}

// pageLimit is the rows of a page; one without a limit is bounded by memory only.
func pageLimit(p spec.Page) int64 {
	if p.Limit <= 0 {
		return 1 << 40
	}
	return int64(p.Limit)
}

// start is the place before the first row of a page.
func start(desc bool) int64 {
	if desc {
		return 1<<63 - 1
	}
	return -1 << 63
}
