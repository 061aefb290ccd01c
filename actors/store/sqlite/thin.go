package sqlite

import (
	"context"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Thin replaces whole chunks by one that says less.
func (s *Store) Thin(_ context.Context, session event.ID, first, last int64, events []event.Event) error {
	if err := store.CheckThin(first, last, events); err != nil {
		return err
	}
	buf := borrow()
	defer giveBack(buf)
	k, err := encodeChunk(session, first-1, events, true, buf)
	if err != nil {
		return err
	}
	var e *entry
	var old int64
	return s.change(&request{
		durable: true,
		bytes:   len(k.body),
		check: func(w *writer) (err error) {
			if e, err = w.session(session); err != nil {
				return err
			}
			if first <= e.trimmed {
				return store.ErrTrimmed
			}
			var from, to int64
			_, err = w.db.on("SELECT min(first), max(last), sum(length(body)) FROM chunk WHERE s=?1 AND first>=?2 AND first<=?3").int(e.n).int(first).int(last).one(func(r stmt) error {
				from, to, old = r.ColumnInt64(0), r.ColumnInt64(1), r.ColumnInt64(2)
				return nil
			})
			if err == nil && (from != first || to != last) {
				err = fmt.Errorf("%w: events %d to %d of session %s are not whole commits", store.ErrHead, first, last, session)
			}
			return err
		},
		apply: func(w *writer) error {
			w.touch(e)
			e.bytes += int64(len(k.body)) - old
			if err := w.db.on("DELETE FROM chunk WHERE s=?1 AND first>=?2 AND first<=?3").int(e.n).int(first).int(last).exec(); err != nil {
				return err
			}
			err := w.db.on("INSERT INTO chunk(s, first, last, flags, crc, body) VALUES (?1,?2,?3,?4,?5,?6)").
				int(e.n).int(k.first).int(k.last).int(k.flags).int(int64(k.crc)).blob(k.body).exec()
			if err != nil {
				return err
			}
			return w.update(e)
		},
	})
}
