package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Repaired is what Repair did.
type Repaired struct {
	// Copy is where the file from before is; its log has the same name and -wal.
	Copy string `json:"copy"`
	// Salvaged says that the file was read page by page and written anew.
	Salvaged bool `json:"salvaged"`
	// Lost is what could not be kept, and Mended what could be made again.
	Lost   []Finding `json:"lost"`
	Mended []Finding `json:"mended"`
	// After is what a check finds now.
	After *Report `json:"after"`
}

// Repair makes the store in dir sound, without a server: a copy of the file is kept
// first, indexes are made anew, and a file that SQLite cannot read is read page by
// page. Of a damaged session what follows the damage is kept if it can stand alone,
// else what precedes it, up to the newest moment at which nothing was queued or
// running: nothing that may have run is run again. Records are made anew from the
// journal. A session of which neither is left goes.
func Repair(ctx context.Context, dir string, opts Options, refold store.Refold) (*Repaired, error) {
	m, err := openAlone(dir, opts)
	if err != nil {
		return nil, err
	}
	p := &repair{alone: m, refold: refold, done: &Repaired{Lost: []Finding{}, Mended: []Finding{}}}
	err = p.run(ctx)
	if err = errors.Join(err, m.close()); err != nil {
		return p.done, err
	}
	p.done.After, err = Check(ctx, dir)
	return p.done, err
}

type repair struct {
	*alone
	refold  store.Refold
	done    *Repaired
	highest int64 // number of a turn
}

func (p *repair) lost(id event.ID, where, problem string) {
	p.done.Lost = append(p.done.Lost, Finding{Where: where, Session: name(id), Problem: problem})
}

func (p *repair) mended(id event.ID, where, problem string) {
	p.done.Mended = append(p.done.Mended, Finding{Where: where, Session: name(id), Problem: problem})
}

func (p *repair) run(ctx context.Context) error {
	p.done.Copy = fmt.Sprintf("%s.before-repair-%d", p.path(), p.opts.Now().UnixNano())
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(p.path()+suffix, p.done.Copy+suffix); err != nil && (suffix == "" || !errors.Is(err, os.ErrNotExist)) {
			return fmt.Errorf("keep a copy of the store: %w", err)
		}
	}
	damage, err := p.damagedLog()
	if err != nil {
		return err
	}
	if damage != nil {
		p.done.Lost = append(p.done.Lost, Finding{Where: "log", Problem: fmt.Sprintf("the commits in and behind frame %d of the write-ahead log, %d frames", damage.Frame, damage.Behind+1)})
	}
	readable, err := p.readable()
	if err != nil {
		return err
	}
	if !readable {
		if err := p.salvage(); err != nil {
			return err
		}
	}
	for after := int64(0); ; {
		rows, err := sessionRows(p.db, after)
		if err != nil {
			return classify(err)
		}
		if len(rows) == 0 {
			break
		}
		after = rows[len(rows)-1]
		for _, n := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := p.mend(n); err != nil {
				return err
			}
		}
	}
	return p.finish(damage != nil || !readable)
}

func (p *repair) damagedLog() (*walDamage, error) {
	f, err := os.Open(p.path() + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	damage, err := scanWAL(f)
	return damage, errors.Join(err, f.Close())
}

// readable opens the file and makes its indexes anew when something is wrong. false
// means that SQLite cannot read it whole.
func (p *repair) readable() (bool, error) {
	err := p.dial()
	var lines []string
	if err == nil {
		lines, err = integrity(p.db)
	}
	if err == nil && len(lines) > 0 {
		if err = classify(p.db.Exec("REINDEX")); err == nil {
			p.done.Mended = append(p.done.Mended, Finding{Where: "file", Problem: "the indexes were made anew: " + lines[0]})
			lines, err = integrity(p.db)
		}
	}
	if err == nil && len(lines) == 0 {
		return true, nil
	}
	if err == nil || errors.Is(err, store.ErrCorrupt) || errors.Is(taken(err), store.ErrExists) {
		return false, nil
	}
	return false, err
}

// salvage writes the rows that can be read into a new file.
func (p *repair) salvage() error {
	if p.db != nil {
		_ = p.db.KeepLog() // its pages are read below
		_ = p.db.Close()   // of a damaged file
		p.db = nil
	}
	p.done.Salvaged, p.done.Mended = true, []Finding{}
	fresh := p.path() + ".salvaged"
	if err := errors.Join(removeAll(fresh, fresh+"-wal", fresh+"-shm"), create(fresh)); err != nil {
		return err
	}
	c, err := dial(fresh, p.disk.name, false)
	if err != nil {
		return err
	}
	to := newDB(c)
	if err = tune(c, writerCache); err == nil {
		err = migrate(c)
	}
	rows := int64(0)
	if err == nil {
		// From the copy: the file may have been changed by the attempt to open it.
		rows, err = salvage(p.done.Copy, to)
	}
	if err == nil && rows == 0 {
		err = fmt.Errorf("%w: no page of %s holds anything of a store; nothing was changed", store.ErrCorrupt, p.path())
	}
	if err = errors.Join(classify(err), to.Close()); err != nil {
		_ = removeAll(fresh, fresh+"-wal", fresh+"-shm") // the error is the news
		return fmt.Errorf("salvage into %s: %w", fresh, err)
	}
	p.done.Mended = append(p.done.Mended, Finding{Where: "file", Problem: fmt.Sprintf("the file was read page by page and written anew with the %d rows that could be read", rows)})
	if err := p.replace(fresh); err != nil {
		return err
	}
	return p.dial()
}

// finish drops what belongs to nobody and sets the counters. doubt says that commits
// may be gone that readers have seen.
func (p *repair) finish(doubt bool) error {
	err := transact(p.db, "BEGIN IMMEDIATE", func(d *db) error {
		for _, table := range belongings {
			if err := d.on("DELETE FROM " + table + " WHERE s NOT IN (SELECT n FROM session)").exec(); err != nil {
				return err
			}
			if n := d.Changes(); n > 0 {
				p.done.Lost = append(p.done.Lost, Finding{Where: "file", Problem: fmt.Sprintf("%d rows of sessions whose record is gone (%s)", n, table)})
			}
		}
		if err := errors.Join(p.saved(d), p.spending(d)); err != nil {
			return err
		}
		for _, v := range []struct {
			name  string
			value string
		}{
			{"sessions", "(SELECT count(*) FROM session WHERE state<>3)"},
			{"number", fmt.Sprintf("max(value, %d)", p.highest)},
			{"era", "max(value, coalesce((SELECT max(era) FROM session), 0))"},
		} {
			if err := d.on("UPDATE meta SET value=" + v.value + " WHERE name=?1").text(v.name).exec(); err != nil {
				return err
			}
		}
		if !doubt {
			return nil
		}
		// As after a crash of the machine: the next opening begins a new era.
		return d.on("UPDATE meta SET value=0 WHERE name IN ('clean', 'boot')").exec()
	})
	return classify(err)
}

// saved drops damaged records.
func (p *repair) saved(d *db) error {
	var bad []*recordRow
	err := d.on("SELECT " + recordColumns + ", kind FROM record ORDER BY n").each(func(s stmt) (bool, error) {
		if row := scanRecord(s, s.ColumnText(7)); recordSum(&row.Record) != row.crc {
			bad = append(bad, row)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, row := range bad {
		p.done.Lost = append(p.done.Lost, Finding{Where: "saved", Record: row.Kind + " " + row.ID.Hex(), Problem: "the record was damaged"})
		if err := d.on("DELETE FROM record WHERE n=?1").int(row.n).exec(); err != nil {
			return err
		}
	}
	return nil
}
