package sqlite

import (
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// span is a run of numbers whose chunks are sound and follow each other.
type span struct{ first, last int64 }

// exam is what a look at everything of one session found.
type exam struct {
	row *sessionRow
	// markBad and recordBad say which of the row's checksums fail: of its numbers, and
	// of what it says.
	markBad, recordBad bool
	chunks, events     int64
	bytes              int64 // of sound chunks
	spans              []span
	badChunks          []int64 // row numbers
	turns              int64
	badTurns           []int64 // row numbers
	checkpoints        []int64 // sequence numbers of sound ones, rising
	badCheckpoints     []int64 // row numbers
	highest            int64   // number of a turn
}

// examine reads a session with all that belongs to it in one transaction. visit, if
// any, is shown the events of each sound chunk.
func examine(d *db, n int64, visit func([]event.Event)) (*exam, error) {
	x := &exam{}
	_, err := d.on("SELECT " + sessionColumns + " FROM session WHERE n=?1").int(n).one(func(s stmt) error {
		x.row = scanSession(s)
		return nil
	})
	if err != nil || x.row == nil {
		return nil, err
	}
	r := x.row
	x.markBad = r.mark != r.entry.mark()
	x.recordBad = r.specCRC != r.specSum(r.spec) || r.bodyCRC != r.bodySum(r.body)
	var events []event.Event
	err = d.on("SELECT n, first, last, flags, crc, body FROM chunk WHERE s=?1 ORDER BY first").int(n).each(func(s stmt) (bool, error) {
		x.chunks++
		k := chunk{first: s.ColumnInt64(1), last: s.ColumnInt64(2), flags: s.ColumnInt64(3), crc: uint32(s.ColumnInt64(4)), body: s.ColumnRawBlob(5)}
		var bad error
		if events, bad = k.decode(events[:0], r.id); bad != nil {
			x.badChunks = append(x.badChunks, s.ColumnInt64(0))
			return true, nil
		}
		x.events += int64(len(events))
		x.bytes += int64(len(k.body))
		if at := len(x.spans) - 1; at >= 0 && x.spans[at].last+1 == k.first {
			x.spans[at].last = k.last
		} else {
			x.spans = append(x.spans, span{k.first, k.last})
		}
		if visit != nil {
			visit(events)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	err = d.on("SELECT " + turnColumns + ", turn.n FROM turn WHERE s=?1 ORDER BY ordinal").int(n).each(func(s stmt) (bool, error) {
		x.turns++
		t, sum := scanTurn(s, r.id)
		if checkTurn(t, sum) != nil {
			x.badTurns = append(x.badTurns, s.ColumnInt64(8))
			return true, nil
		}
		x.highest = max(x.highest, t.Number)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return x, d.on("SELECT seq, crc, body, n FROM checkpoint WHERE s=?1 ORDER BY seq").int(n).each(func(s stmt) (bool, error) {
		if seq := s.ColumnInt64(0); checkpointSum(r.id, seq, s.ColumnRawBlob(2)) == s.ColumnInt64(1) {
			x.checkpoints = append(x.checkpoints, seq)
		} else {
			x.badCheckpoints = append(x.badCheckpoints, s.ColumnInt64(3))
		}
		return true, nil
	})
}

// purging says that the session was removed and only its space is still held.
func (x *exam) purging() bool { return x.row.state == store.Deleted && !x.markBad }

// extent is what the journal should cover, as far as anything tells.
func (x *exam) extent() (trimmed, head int64) {
	trimmed, head = x.row.trimmed, max(x.row.head, x.row.newest)
	if x.markBad {
		trimmed, head = 0, 0
		if n := len(x.spans); n > 0 {
			trimmed, head = x.spans[0].first-1, x.spans[n-1].last
		}
	}
	return trimmed, head
}

// whole says that no event between the trim mark and the head is missing.
func (x *exam) whole() bool {
	trimmed, head := x.extent()
	if len(x.badChunks) > 0 {
		return false
	}
	if trimmed == head {
		return len(x.spans) == 0
	}
	return len(x.spans) == 1 && x.spans[0] == span{trimmed + 1, head}
}

// missing tells the first numbers that are.
func (x *exam) missing() string {
	trimmed, head := x.extent()
	at := trimmed
	for _, s := range x.spans {
		if s.first > at+1 {
			return fmt.Sprintf("events %d to %d of %d are damaged or missing", at+1, s.first-1, head)
		}
		at = max(at, s.last)
	}
	if at < head {
		return fmt.Sprintf("events %d to %d of %d are damaged or missing", at+1, head, head)
	}
	return fmt.Sprintf("%d rows of the journal are damaged", len(x.badChunks))
}

// findings are the faults in words.
func (x *exam) findings() (list []Finding) {
	if x.purging() {
		return nil
	}
	id := x.row.id.With(event.PrefixSession)
	add := func(where, problem string) {
		list = append(list, Finding{Where: where, Session: id, Problem: problem})
	}
	if x.markBad || x.recordBad {
		add("record", "the session's record fails its checksum")
	}
	if !x.whole() {
		add("journal", x.missing())
	}
	if n := len(x.badTurns); n > 0 {
		add("turns", fmt.Sprintf("%d of %d records of turns fail their checksum", n, x.turns))
	}
	if n := len(x.badCheckpoints); n > 0 {
		add("checkpoints", fmt.Sprintf("%d of %d checkpoints fail their checksum; others are used in their place", n, len(x.checkpoints)+n))
	}
	return list
}

// sessionRows lists the row numbers behind after.
func sessionRows(d *db, after int64) (rows []int64, err error) {
	err = d.on("SELECT n FROM session WHERE n>?1 ORDER BY n LIMIT ?2").int(after).int(scanRows).each(func(s stmt) (bool, error) {
		rows = append(rows, s.ColumnInt64(0))
		return true, nil
	})
	return rows, err
}

// strays counts rows of sessions that there are not.
func strays(d *db) (n int64, err error) {
	for _, table := range belongings {
		_, err := d.on("SELECT count(*) FROM " + table + " WHERE s NOT IN (SELECT n FROM session)").one(func(s stmt) error {
			n += s.ColumnInt64(0)
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

// belongings are the tables of what belongs to sessions.
var belongings = [...]string{"chunk", "turn", "checkpoint"}

// integrity is what SQLite finds wrong with the file, a line each.
func integrity(d *db) (lines []string, err error) {
	err = d.on("PRAGMA integrity_check(20)").each(func(s stmt) (bool, error) {
		if line := s.ColumnText(0); line != "ok" {
			lines = append(lines, line)
		}
		return true, nil
	})
	if err = classify(err); errors.Is(err, store.ErrCorrupt) {
		return append(lines, err.Error()), nil
	}
	return lines, err
}
