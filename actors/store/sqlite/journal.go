package sqlite

import (
	"context"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// readBytes bounds the encoded bytes of one read.
const readBytes = 1 << 20

// maxPresize bounds the events that a read makes room for in advance.
const maxPresize = 16384

// readChunks starts with the chunk that holds ?2.
const readChunks = `SELECT first, last, flags, crc, body FROM chunk
WHERE s=?1 AND first>=coalesce((SELECT first FROM chunk WHERE s=?1 AND first<=?2 ORDER BY first DESC LIMIT 1), ?2) AND first<=?3
ORDER BY first`

// Read returns events of a window. A hole in it is ErrCorrupt, never a silent
// gap; the events before the hole can be read.
func (s *Store) Read(ctx context.Context, session event.ID, from, to int64, limit int) ([]event.Event, error) {
	from = max(from, 1)
	limit = min(max(limit, 1), readBytes)
	var chunks []chunk
	var n, head int64
	buf := borrow()
	defer giveBack(buf)
	bytes, size := (*buf)[:0], 0
	err := s.view(ctx, func(d *db) error {
		var trimmed int64
		_, err := d.on("SELECT n, state, head, trimmed FROM session WHERE id=?1").blob(session[:]).one(func(s stmt) error {
			if store.SessionState(s.ColumnInt64(1)) != store.Deleted {
				n, head, trimmed = s.ColumnInt64(0), s.ColumnInt64(2), s.ColumnInt64(3)
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case n == 0:
			return store.ErrNotFound
		case from <= trimmed:
			return store.ErrTrimmed
		case from > to:
			return nil
		}
		err = d.on(readChunks).int(n).int(from).int(to).each(func(s stmt) (bool, error) {
			k := chunk{first: s.ColumnInt64(0), last: s.ColumnInt64(1), flags: s.ColumnInt64(2), crc: uint32(s.ColumnInt64(3))}
			at := len(bytes)
			bytes = s.ColumnBlob(4, bytes)
			k.body = bytes[at:len(bytes):len(bytes)]
			chunks = append(chunks, k)
			size += k.decodedLen()
			return size < limit && len(chunks) < scanRows, nil
		})
		return err
	})
	*buf = bytes
	if err != nil {
		return nil, err
	}
	return s.decodeWindow(session, chunks, from, to, head)
}

// decodeWindow decodes chunks and verifies that they follow each other from
// from, and that there is one when the head says so. What comes before damage is
// returned without an error: the next read starts there.
func (s *Store) decodeWindow(session event.ID, chunks []chunk, from, to, head int64) ([]event.Event, error) {
	if len(chunks) > 0 && chunks[0].last < from {
		chunks = chunks[1:] // the newest one before a window that has not begun
	}
	if len(chunks) == 0 {
		if from <= min(to, head) {
			return nil, missing(session, from)
		}
		return nil, nil
	}
	// The numbers are not verified yet: a damaged one may not size an allocation.
	events := make([]event.Event, 0, min(max(chunks[len(chunks)-1].last-from+1, 1), maxPresize))
	var err error
	next := from
	for i := range chunks {
		k := &chunks[i]
		if k.first > next || i > 0 && k.first != next {
			err = missing(session, next)
			break
		}
		if events, err = k.decode(events, session); err != nil {
			break
		}
		next = k.last + 1
	}
	if events = cut(events, from, to); len(events) > 0 {
		return events, nil
	}
	return nil, err
}

// cut drops the events outside the window. The first one covers from.
func cut(events []event.Event, from, to int64) []event.Event {
	for len(events) > 0 && events[0].Seq < from {
		events = events[1:]
	}
	for len(events) > 1 && events[len(events)-2].Seq >= to {
		events = events[:len(events)-1]
	}
	return events
}

func missing(session event.ID, seq int64) error {
	return fmt.Errorf("%w: event %d of session %s is missing", store.ErrCorrupt, seq, session)
}

func checkpointSum(session event.ID, seq int64, body []byte) int64 {
	return sumOf([]int64{seq}, session[:], body)
}

func (w *writer) putCheckpoint(e *entry, seq int64, body []byte) error {
	return w.db.on("INSERT INTO checkpoint(s, seq, crc, body) VALUES (?1,?2,?3,?4) ON CONFLICT(s, seq) DO UPDATE SET crc=excluded.crc, body=excluded.body").
		int(e.n).int(seq).int(checkpointSum(e.id, seq, body)).blob(body).exec()
}

// CheckpointBefore returns the newest checkpoint with Seq <= seq. A damaged one
// is passed over: an older one gives the same state with more replay.
func (s *Store) CheckpointBefore(ctx context.Context, session event.ID, seq int64) (store.Checkpoint, error) {
	return s.checkpoint(ctx, session, "SELECT seq, crc, body FROM checkpoint WHERE s=?1 AND seq<=?2 ORDER BY seq DESC", seq)
}

// CheckpointAfter returns the oldest checkpoint with Seq >= seq.
func (s *Store) CheckpointAfter(ctx context.Context, session event.ID, seq int64) (store.Checkpoint, error) {
	return s.checkpoint(ctx, session, "SELECT seq, crc, body FROM checkpoint WHERE s=?1 AND seq>=?2 ORDER BY seq", seq)
}

func (s *Store) checkpoint(ctx context.Context, session event.ID, sql string, seq int64) (store.Checkpoint, error) {
	var got store.Checkpoint
	err := s.view(ctx, func(d *db) error {
		n, err := live(d, session)
		if err != nil {
			return err
		}
		return d.on(sql).int(n).int(seq).each(func(row stmt) (bool, error) {
			k := store.Checkpoint{Seq: row.ColumnInt64(0), Body: row.ColumnBlob(2, nil)}
			if checkpointSum(session, k.Seq, k.Body) != row.ColumnInt64(1) {
				s.opts.Logger.Error("a checkpoint is damaged; another one is used", "session", session.Hex(), "seq", k.Seq)
				return true, nil
			}
			got = k
			return false, nil
		})
	})
	return got, err
}

// Trim removes whole chunks up to and including seq, a few at a time so that
// commits of others pass between.
func (s *Store) Trim(_ context.Context, session event.ID, seq int64) (int64, error) {
	for {
		step := trimStep{session: session, seq: seq}
		if err := s.change(&request{durable: true, check: step.check, apply: step.apply}); err != nil {
			return 0, err
		}
		if len(step.rows) < trimRows {
			return step.mark, nil
		}
	}
}

// trimRows bounds the chunks that one group removes.
const trimRows = 64

type trimStep struct {
	session event.ID
	seq     int64
	entry   *entry
	rows    []int64
	mark    int64 // the session's trim mark after this step
	bytes   int64
}

func (t *trimStep) check(w *writer) error {
	e, err := w.session(t.session)
	if err != nil {
		return err
	}
	t.entry, t.rows, t.bytes, t.mark = e, t.rows[:0], 0, e.trimmed
	return w.db.on("SELECT n, last, length(body) FROM chunk WHERE s=?1 AND first<=?2 ORDER BY first LIMIT ?3").int(e.n).int(t.seq).int(trimRows).each(func(s stmt) (bool, error) {
		if s.ColumnInt64(1) > t.seq {
			return false, nil
		}
		t.rows = append(t.rows, s.ColumnInt64(0))
		t.mark = s.ColumnInt64(1)
		t.bytes += s.ColumnInt64(2)
		return true, nil
	})
}

func (t *trimStep) apply(w *writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	e := t.entry
	w.touch(e)
	e.trimmed = t.mark
	e.bytes -= t.bytes
	for _, n := range t.rows {
		if err := w.db.on("DELETE FROM chunk WHERE n=?1").int(n).exec(); err != nil {
			return err
		}
	}
	// The newest checkpoint at or before the mark is where a reader of the oldest
	// event kept starts from.
	err := w.db.on("DELETE FROM checkpoint WHERE s=?1 AND seq<(SELECT max(seq) FROM checkpoint WHERE s=?1 AND seq<=?2)").int(e.n).int(e.trimmed).exec()
	if err != nil {
		return err
	}
	return w.update(e)
}
