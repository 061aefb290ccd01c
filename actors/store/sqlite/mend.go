package sqlite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// mend makes one session sound, or removes it.
func (p *repair) mend(n int64) error {
	x, err := examine(p.db, n, nil)
	if err != nil || x == nil {
		return classify(err)
	}
	p.highest = max(p.highest, x.highest)
	if x.purging() || len(x.findings()) == 0 {
		return nil
	}
	return classify(transact(p.db, "BEGIN IMMEDIATE", func(d *db) error {
		h := &healing{repair: p, db: d, exam: x, n: n}
		h.trimmed, h.head = x.extent()
		return h.run()
	}))
}

// healing is one session being mended, inside a transaction.
type healing struct {
	*repair
	*exam
	db            *db
	n             int64
	trimmed, head int64 // what the journal will cover
	cut           bool  // its end was lost
}

func (h *healing) id() event.ID { return h.row.id }

func (h *healing) run() error {
	for _, row := range h.badCheckpoints {
		if err := h.db.on("DELETE FROM checkpoint WHERE n=?1").int(row).exec(); err != nil {
			return err
		}
	}
	if len(h.badCheckpoints) > 0 {
		h.mended(h.id(), "checkpoints", fmt.Sprintf("%d damaged ones were dropped", len(h.badCheckpoints)))
	}
	if h.whole() && !h.markBad && !h.recordBad && len(h.badTurns) == 0 {
		return nil
	}
	if h.row.id.IsZero() {
		return h.drop("its id is gone")
	}
	if !h.whole() && !h.choose() {
		return h.drop("nothing of its journal can stand alone")
	}
	told, err := h.tell()
	if err == nil && (told.Head <= 0 || told.Head < h.trimmed || told.Owner == "") {
		err = errors.New("nothing of its journal can stand alone")
	}
	switch {
	case err == nil:
		return h.rewrite(told)
	case h.whole() && !h.markBad && !h.recordBad: // it lives without those turns' records
		return h.rewriteTurns(&h.row.entry, &store.Rested{Head: h.head})
	default:
		return h.drop(err.Error())
	}
}

// choose decides which part of a damaged journal is kept.
func (h *healing) choose() bool {
	if len(h.spans) == 0 {
		return false
	}
	_, head := h.extent()
	last := h.spans[len(h.spans)-1]
	if last.last == head {
		for _, seq := range h.checkpoints {
			if seq >= last.first-1 && seq <= last.last {
				h.lost(h.id(), "journal", fmt.Sprintf("%s; the events up to %d are gone and those behind them are kept", h.missing(), seq))
				h.trimmed = seq
				return true
			}
		}
	}
	first := h.spans[0]
	if first.first != h.trimmed+1 && !slices.Contains(h.checkpoints, first.first-1) {
		return false
	}
	h.trimmed, h.head, h.cut = first.first-1, first.last, true
	return true
}

// tell folds the part that is kept.
func (h *healing) tell() (*store.Rested, error) {
	var base []byte
	from := h.trimmed
	if from > 0 {
		at, found := int64(0), false
		for _, seq := range h.checkpoints {
			if seq >= from && seq <= h.head {
				at, found = seq, true
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("no checkpoint is left for what is behind event %d", from)
		}
		from = at
		if _, err := h.db.on("SELECT body FROM checkpoint WHERE s=?1 AND seq=?2").int(h.n).int(at).one(func(s stmt) error {
			base = s.ColumnBlob(0, nil)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	var events []event.Event
	if _, err := examine(h.db, h.n, func(list []event.Event) {
		if list[0].Seq > from && list[len(list)-1].Seq <= h.head {
			events = append(events, list...)
		}
	}); err != nil {
		return nil, err
	}
	return h.refold(base, events, !h.cut)
}

// rewrite brings the rows up to what was told.
func (h *healing) rewrite(told *store.Rested) error {
	old, oldHead := h.row.entry, max(h.row.head, h.row.newest)
	e := old
	e.trimmed, e.head = h.trimmed, told.Head
	if h.cut {
		h.lost(h.id(), "journal", fmt.Sprintf("%s; the session goes on from event %d, the newest at which nothing was queued or running", h.missing(), told.Head))
	}
	for _, sql := range []string{
		"DELETE FROM chunk WHERE s=?1 AND (last<=?2 OR first>?3)", "DELETE FROM checkpoint WHERE s=?1 AND (seq<?2 OR seq>?3)",
	} {
		if err := h.db.on(sql).int(h.n).int(e.trimmed).int(e.head).exec(); err != nil {
			return err
		}
	}
	if err := h.shorten(e.head); err != nil {
		return err
	}
	for _, row := range h.badChunks { // between the ends there is none
		if err := h.db.on("DELETE FROM chunk WHERE n=?1").int(row).exec(); err != nil {
			return err
		}
	}
	if told.Checkpoint != nil {
		err := h.db.on("INSERT INTO checkpoint(s, seq, crc, body) VALUES (?1,?2,?3,?4) ON CONFLICT(s, seq) DO NOTHING").
			int(h.n).int(told.Head).int(checkpointSum(e.id, told.Head, told.Checkpoint)).blob(told.Checkpoint).exec()
		if err != nil {
			return err
		}
	}
	if _, err := h.db.on("SELECT coalesce(sum(length(body)), 0) FROM chunk WHERE s=?1").int(h.n).one(func(s stmt) error {
		e.bytes = s.ColumnInt64(0)
		return nil
	}); err != nil {
		return err
	}
	spec, body := h.row.spec, h.row.body
	if h.cut || h.markBad || h.recordBad {
		e.owner, e.created, e.active, e.state = told.Owner, told.Created, told.Active, told.State
		spec, body = told.Spec, told.Body
	}
	if h.cut || h.markBad {
		// Readers may have seen numbers up to the old mark: the session goes on above it.
		e.reserved = max(told.Head, e.head) + store.Ahead
		if !h.markBad {
			e.reserved = max(old.reserved, oldHead+1)
		}
		e.era = -1
	}
	if h.markBad {
		e.epoch = max(e.epoch, 0) + 1
		e.host = event.ID{}
	}
	if h.markBad || h.recordBad {
		h.mended(e.id, "record", "the session's record was made anew from its journal")
	}
	err := h.db.on("UPDATE session SET owner=?2, created=?3, state=?4, host=?5, epoch=?6, head=?7, trimmed=?8, bytes=?9, mark=?10, spec_crc=?11, body_crc=?12, spec=?13, body=?14, reserved=?15, era=?16, active=?17 WHERE n=?1").
		int(h.n).text(e.owner).int(e.created).int(int64(e.state)).blob(e.host[:]).int(e.epoch).int(e.head).int(e.trimmed).int(e.bytes).
		int(e.mark()).int(e.specSum(spec)).int(e.bodySum(body)).blob(spec).blob(body).int(e.reserved).int(e.era).int(e.active).exec()
	if err != nil {
		return err
	}
	return h.rewriteTurns(&e, told)
}

// shorten cuts the chunk that goes beyond the new head.
func (h *healing) shorten(head int64) error {
	k, row := chunk{}, int64(0)
	_, err := h.db.on("SELECT n, first, last, flags, crc, body FROM chunk WHERE s=?1 AND first<=?2 AND last>?2").int(h.n).int(head).one(func(s stmt) error {
		row = s.ColumnInt64(0)
		k = chunk{first: s.ColumnInt64(1), last: s.ColumnInt64(2), flags: s.ColumnInt64(3), crc: uint32(s.ColumnInt64(4)), body: s.ColumnBlob(5, nil)}
		return nil
	})
	if err != nil || row == 0 {
		return err
	}
	events, err := k.decode(nil, h.id())
	if err != nil {
		return err
	}
	for len(events) > 0 && events[len(events)-1].Seq > head {
		events = events[:len(events)-1]
	}
	if len(events) == 0 {
		return h.db.on("DELETE FROM chunk WHERE n=?1").int(row).exec()
	}
	buf := borrow()
	defer giveBack(buf)
	short, err := encodeChunk(h.id(), k.first-1, events, k.flags&chunkDurable != 0, buf)
	if err != nil {
		return err
	}
	return h.db.on("UPDATE chunk SET last=?2, flags=?3, crc=?4, body=?5 WHERE n=?1").int(row).int(short.last).int(short.flags).int(int64(short.crc)).blob(short.body).exec()
}

// rewriteTurns drops the records of turns that are gone or damaged and puts those
// back that the journal tells.
func (h *healing) rewriteTurns(e *entry, told *store.Rested) error {
	was, err := h.turnRows()
	if err != nil {
		return err
	}
	for _, row := range h.badTurns {
		if err := h.db.on("DELETE FROM turn WHERE n=?1").int(row).exec(); err != nil {
			return err
		}
	}
	if h.cut {
		if err := h.db.on("DELETE FROM turn WHERE s=?1 AND (first>?2 OR last>?2 OR last=0)").int(h.n).int(e.head).exec(); err != nil {
			return err
		}
	}
	for i := range told.Turns {
		t := told.Turns[i]
		t.Session = e.id
		p := &h.repair.highest
		*p = max(*p, t.Number)
		err := h.db.on("INSERT OR IGNORE INTO turn(id, s, ordinal, state, first, last, number, crc, body) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)").
			blob(t.ID[:]).int(e.n).int(t.Ordinal).int(int64(t.State)).int(t.First).int(t.Last).int(t.Number).int(turnSum(&t)).blob(t.Body).exec()
		if err != nil {
			return err
		}
	}
	is, err := h.turnRows()
	if err != nil {
		return err
	}
	if n := was - is; n > 0 {
		h.lost(e.id, "turns", fmt.Sprintf("%d records of turns", n))
	} else if len(h.badTurns) > 0 {
		h.mended(e.id, "turns", fmt.Sprintf("%d records of turns were made anew from the journal", len(h.badTurns)))
	}
	return nil
}

func (h *healing) turnRows() (n int64, err error) {
	_, err = h.db.on("SELECT count(*) FROM turn WHERE s=?1").int(h.n).one(func(s stmt) error {
		n = s.ColumnInt64(0)
		return nil
	})
	return n, err
}

// drop removes the session.
func (h *healing) drop(why string) error {
	h.lost(h.id(), "session", fmt.Sprintf("the session with its %d turns and %d events: %s", h.turns, h.events, why))
	for _, table := range belongings {
		if err := h.db.on("DELETE FROM " + table + " WHERE s=?1").int(h.n).exec(); err != nil {
			return err
		}
	}
	return h.db.on("DELETE FROM session WHERE n=?1").int(h.n).exec()
}
