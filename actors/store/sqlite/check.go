package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Finding is one thing that is wrong with a store.
type Finding struct {
	// Where is file, log, record, journal, turns, checkpoints, saved or counters.
	Where   string `json:"where"`
	Session string `json:"session,omitempty"`
	// Record is a saved record's kind and id.
	Record  string `json:"record,omitempty"`
	Problem string `json:"problem"`
}

// String is the finding as a line for people.
func (f Finding) String() string {
	switch {
	case f.Session != "":
		return f.Session + " " + f.Where + ": " + f.Problem
	case f.Record != "":
		return f.Record + ": " + f.Problem
	default:
		return f.Where + ": " + f.Problem
	}
}

// Report is what Check found.
type Report struct {
	Format      int64     `json:"format"`
	Sessions    int64     `json:"sessions"`
	Turns       int64     `json:"turns"`
	Events      int64     `json:"events"`
	Checkpoints int64     `json:"checkpoints"`
	Records     int64     `json:"records"`
	Bytes       int64     `json:"bytes"` // in use
	Findings    []Finding `json:"findings"`
}

// Sound says that nothing is wrong.
func (r *Report) Sound() bool { return len(r.Findings) == 0 }

func (r *Report) add(where, problem string) {
	r.Findings = append(r.Findings, Finding{Where: where, Problem: problem})
}

// Check reads everything in the state directory dir and changes nothing. It works
// beside the server that has the directory; its log is looked at only without one.
// Damage is in the report; the error says that nothing could be checked.
func Check(ctx context.Context, dir string) (*Report, error) {
	r := &Report{Findings: []Finding{}}
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("check the store: %w", err)
	}
	opts := Options{}.withDefaults()
	var locked *LockedError
	lock, err := lockDir(dir, opts.Now())
	switch {
	case err == nil:
		// Held only for the log: a server may start meanwhile.
		if err := errors.Join(r.checkLog(path+"-wal"), unlockDir(lock)); err != nil {
			return nil, err
		}
	case !errors.As(err, &locked):
		return nil, err
	}
	s, err := OpenReadOnly(dir)
	if errors.Is(err, store.ErrCorrupt) {
		r.add("file", err.Error())
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	err = r.read(ctx, s)
	return r, errors.Join(err, s.Close())
}

func (r *Report) checkLog(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	damage, err := scanWAL(f)
	if damage != nil {
		r.add("log", fmt.Sprintf("frame %d of the write-ahead log is damaged and %d frames are behind it; the commits in them are lost", damage.Frame, damage.Behind))
	}
	return errors.Join(err, f.Close())
}

// read looks at every row. Damage of the file may end it early; what is found until
// then stays.
func (r *Report) read(ctx context.Context, s *Store) error {
	r.Format = Format
	var highest int64
	err := s.view(ctx, func(d *db) error {
		lines, err := integrity(d)
		for _, line := range lines {
			r.add("file", line)
		}
		all, free, perr := pages(d)
		r.Bytes = (all - free) * pageSize
		return errors.Join(err, perr)
	})
	for after := int64(0); err == nil; {
		var rows []int64
		if err = s.view(ctx, func(d *db) (err error) { rows, err = sessionRows(d, after); return err }); err != nil || len(rows) == 0 {
			break
		}
		after = rows[len(rows)-1]
		for _, n := range rows {
			var x *exam
			if err = s.view(ctx, func(d *db) (err error) { x, err = examine(d, n, nil); return err }); err != nil {
				break
			}
			if x == nil || x.purging() {
				continue
			}
			r.Sessions++
			r.Turns += x.turns
			r.Events += x.events
			r.Checkpoints += int64(len(x.checkpoints))
			highest = max(highest, x.highest)
			r.Findings = append(r.Findings, x.findings()...)
		}
	}
	if err == nil {
		err = s.view(ctx, func(d *db) error {
			return errors.Join(r.checkSaved(d), r.checkSpending(d), r.checkCounters(d, highest))
		})
	}
	if errors.Is(err, store.ErrCorrupt) {
		r.add("file", err.Error())
		return nil
	}
	return err
}

func (r *Report) checkSaved(d *db) error {
	return d.on("SELECT " + recordColumns + ", kind FROM record ORDER BY n").each(func(s stmt) (bool, error) {
		r.Records++
		row := scanRecord(s, s.ColumnText(7))
		if recordSum(&row.Record) != row.crc {
			r.Findings = append(r.Findings, Finding{Where: "saved", Record: row.Kind + " " + row.ID.Hex(), Problem: "the record fails its checksum"})
		}
		return true, nil
	})
}

func (r *Report) checkSpending(d *db) error {
	n, err := badSpending(d)
	if errors.Is(err, store.ErrCorrupt) {
		r.add("spend", err.Error())
		return nil
	}
	if n > 0 {
		r.add("spend", fmt.Sprintf("%d sums of what a principal used in a day are damaged", n))
	}
	return err
}

func (r *Report) checkCounters(d *db, highest int64) error {
	n, err := strays(d)
	if err != nil {
		return err
	}
	if n > 0 {
		r.add("file", fmt.Sprintf("%d rows belong to no session", n))
	}
	counts := map[string]int64{}
	err = d.on("SELECT name, value FROM meta UNION ALL SELECT 'there', count(*) FROM session WHERE state<>3").each(func(s stmt) (bool, error) {
		counts[s.ColumnText(0)] = s.ColumnInt64(1)
		return true, nil
	})
	if err != nil {
		return err
	}
	if counts["sessions"] != counts["there"] {
		r.add("counters", fmt.Sprintf("%d sessions are counted and %d are there", counts["sessions"], counts["there"]))
	}
	if counts["number"] < highest {
		r.add("counters", fmt.Sprintf("the newest acceptance number is %d and a turn has %d", counts["number"], highest))
	}
	return nil
}

// name is how a report calls a session.
func name(id event.ID) string { return id.With(event.PrefixSession) }
