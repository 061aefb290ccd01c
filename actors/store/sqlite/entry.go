package sqlite

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// maxLag is how many chunks may be newer than their session row.
const maxLag = 64

// entry is the writer's memory of a session row. head and bytes are the true
// ones; those in the row may lag by the chunks of deltas since.
type entry struct {
	n       int64
	id      event.ID
	owner   string
	created int64
	state   store.SessionState
	host    event.ID
	epoch   int64
	head    int64
	trimmed int64
	bytes   int64
	lag     int
	// reserved is the mark, era when it was last set: see boot.go.
	reserved, era int64
	// active is only a hint, so no checksum covers it.
	active int64
}

func (e *entry) mark() int64 {
	return sumOf([]int64{int64(e.state), e.epoch, e.head, e.trimmed, e.bytes, e.reserved, e.era}, e.id[:], e.host[:])
}

// session finds a live session's entry.
func (w *writer) session(id event.ID) (*entry, error) {
	if e, ok := w.sessions[id]; ok {
		return e, nil
	}
	e := &entry{id: id}
	var mark int64
	found, err := w.db.on("SELECT n, owner, created, state, host, epoch, head, trimmed, bytes, mark, reserved, era, active FROM session WHERE id=?1").blob(id[:]).one(func(s stmt) error {
		e.n, e.owner, e.created, e.state = s.ColumnInt64(0), s.ColumnText(1), s.ColumnInt64(2), store.SessionState(s.ColumnInt64(3))
		copy(e.host[:], s.ColumnRawBlob(4))
		e.epoch, e.head, e.trimmed, e.bytes, mark = s.ColumnInt64(5), s.ColumnInt64(6), s.ColumnInt64(7), s.ColumnInt64(8), s.ColumnInt64(9)
		e.reserved, e.era, e.active = s.ColumnInt64(10), s.ColumnInt64(11), s.ColumnInt64(12)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !found || e.state == store.Deleted:
		return nil, store.ErrNotFound
	case mark != e.mark():
		return nil, fmt.Errorf("%w: record of session %s", store.ErrCorrupt, id)
	}
	_, err = w.db.on("SELECT max(last), sum(length(body)), count(*) FROM chunk WHERE s=?1 AND first>?2").int(e.n).int(e.head).one(func(s stmt) error {
		if lag := s.ColumnInt64(2); lag > 0 {
			e.head, e.lag = s.ColumnInt64(0), int(lag)
			e.bytes += s.ColumnInt64(1)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.sessions[id] = e
	return e, nil
}

// touch says that the open transaction changes e: when it fails, e is forgotten.
func (w *writer) touch(e *entry) {
	w.sessions[e.id] = e
	w.touched = append(w.touched, touch{id: e.id})
}

// insert makes the row of a new session and sets e.n.
func (w *writer) insert(e *entry, spec, body []byte) error {
	err := w.db.on("INSERT INTO session(id, owner, created, state, host, epoch, head, trimmed, bytes, mark, spec_crc, body_crc, spec, body, reserved, era, active) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)").
		blob(e.id[:]).text(e.owner).int(e.created).int(int64(e.state)).blob(e.host[:]).int(e.epoch).int(e.head).int(e.trimmed).int(e.bytes).
		int(e.mark()).int(e.specSum(spec)).int(e.bodySum(body)).blob(spec).blob(body).int(e.reserved).int(e.era).int(e.active).exec()
	e.n = w.db.LastInsertRowID()
	w.wrote(e, spec, body)
	return err
}

// update brings the row up to e.
func (w *writer) update(e *entry) error {
	e.lag = 0
	return w.db.on("UPDATE session SET host=?2, epoch=?3, head=?4, trimmed=?5, bytes=?6, mark=?7, reserved=?8, era=?9 WHERE n=?1").
		int(e.n).blob(e.host[:]).int(e.epoch).int(e.head).int(e.trimmed).int(e.bytes).int(e.mark()).int(e.reserved).int(e.era).exec()
}

// updateState is apart: it costs the indexes of states and of idle sessions.
func (w *writer) updateState(e *entry) error {
	return w.db.on("UPDATE session SET state=?2, active=?3 WHERE n=?1").int(e.n).int(int64(e.state)).int(e.active).exec()
}

// wrote notes what was written beside the entry that was touched last.
func (w *writer) wrote(e *entry, spec, body []byte) {
	t := &w.touched[len(w.touched)-1]
	if t.id != e.id {
		w.touched = append(w.touched, touch{id: e.id})
		t = &w.touched[len(w.touched)-1]
	}
	if spec != nil {
		t.spec = spec
	}
	if body != nil {
		t.body = body
	}
}

func (w *writer) updateBody(e *entry, body []byte) error {
	w.wrote(e, nil, body)
	return w.db.on("UPDATE session SET body=?2, body_crc=?3 WHERE n=?1").int(e.n).blob(body).int(e.bodySum(body)).exec()
}

func (w *writer) updateSpec(e *entry, spec []byte) error {
	w.wrote(e, spec, nil)
	return w.db.on("UPDATE session SET spec=?2, spec_crc=?3 WHERE n=?1").int(e.n).blob(spec).int(e.specSum(spec)).exec()
}

func (e *entry) specSum(spec []byte) int64 {
	return sumOf([]int64{e.created}, e.id[:], []byte(e.owner), spec)
}

func (e *entry) bodySum(body []byte) int64 { return sumOf(nil, e.id[:], body) }
