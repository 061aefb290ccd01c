package sqlite

import (
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/store"
)

// Format is the version of the file that this program writes.
const Format = 4

// applicationID marks the file as ours ("AGHS").
const applicationID = 0x41474853

// migrations[v] takes a file from format v to v+1, inside one transaction.
var migrations = [Format]string{
	0: `
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('number', 0), ('sessions', 0);

CREATE TABLE session(n INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, owner TEXT NOT NULL, created INTEGER NOT NULL,
  state INTEGER NOT NULL, host BLOB NOT NULL, epoch INTEGER NOT NULL, head INTEGER NOT NULL, trimmed INTEGER NOT NULL,
  bytes INTEGER NOT NULL, mark INTEGER NOT NULL, spec_crc INTEGER NOT NULL, body_crc INTEGER NOT NULL, spec BLOB, body BLOB);
CREATE INDEX session_owner ON session(owner, created);
CREATE INDEX session_created ON session(created);
CREATE INDEX session_state ON session(state) WHERE state > 1;

CREATE TABLE chunk(n INTEGER PRIMARY KEY, s INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  flags INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX chunk_s ON chunk(s, first);

CREATE TABLE turn(n INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, s INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  state INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, number INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB);
CREATE UNIQUE INDEX turn_s ON turn(s, ordinal);

CREATE TABLE checkpoint(n INTEGER PRIMARY KEY, s INTEGER NOT NULL, seq INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX checkpoint_s ON checkpoint(s, seq);

CREATE TABLE idem(owner TEXT NOT NULL, key TEXT NOT NULL, hash TEXT NOT NULL, created INTEGER NOT NULL, answer BLOB,
  PRIMARY KEY(owner, key)) WITHOUT ROWID;
CREATE INDEX idem_created ON idem(created);

CREATE TABLE record(n INTEGER PRIMARY KEY, kind TEXT NOT NULL, id BLOB NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL,
  created INTEGER NOT NULL, crc INTEGER NOT NULL, body BLOB, UNIQUE(kind, id));
CREATE INDEX record_owner ON record(kind, owner, created);
CREATE INDEX record_created ON record(kind, created);
CREATE INDEX record_name ON record(kind, name, owner, created);
`,
	// A file with sessions was written by a program that did not note how it ended.
	1: `
ALTER TABLE session ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN era INTEGER NOT NULL DEFAULT 0;
INSERT INTO meta SELECT 'clean', NOT EXISTS (SELECT 1 FROM session);
INSERT INTO meta VALUES ('boot', 0), ('era', 0);
`,
	// What turns of older programs used is not in it.
	2: spendTable,
	// The record of a session tells when it was last active. A damaged one stays
	// damaged; its time is only a hint.
	3: `
ALTER TABLE session ADD COLUMN active INTEGER NOT NULL DEFAULT 0;
UPDATE session SET active=max(created, CASE WHEN json_valid(CAST(body AS TEXT)) THEN coalesce(CAST(CAST(body AS TEXT)->>'$.last_active' AS INTEGER), 0) ELSE 0 END);
CREATE INDEX session_idle ON session(active) WHERE state=1;
`,
}

// conversions are what a migration does beside its SQL, in the same transaction.
var conversions = [Format]func(*db) error{1: reserveAll}

// reserveAll gives every session of a file of format 1 its mark. The checksum of
// a damaged row is left as it is, so that it stays damaged.
func reserveAll(d *db) error {
	for after := int64(0); ; {
		var rows []*entry
		var marks []int64
		err := d.on(`SELECT n, id, state, host, epoch, head, trimmed, bytes, mark,
max(head, coalesce((SELECT last FROM chunk WHERE s=session.n ORDER BY first DESC LIMIT 1), 0))
FROM session WHERE n>?1 ORDER BY n LIMIT 256`).int(after).each(func(s stmt) (bool, error) {
			e := &entry{n: s.ColumnInt64(0), state: store.SessionState(s.ColumnInt64(2))}
			copy(e.id[:], s.ColumnRawBlob(1))
			copy(e.host[:], s.ColumnRawBlob(3))
			e.epoch, e.head, e.trimmed, e.bytes = s.ColumnInt64(4), s.ColumnInt64(5), s.ColumnInt64(6), s.ColumnInt64(7)
			e.reserved = s.ColumnInt64(9) + store.Ahead
			rows, marks = append(rows, e), append(marks, s.ColumnInt64(8))
			return true, nil
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		for i, e := range rows {
			old := sumOf([]int64{int64(e.state), e.epoch, e.head, e.trimmed, e.bytes}, e.id[:], e.host[:])
			if old == marks[i] {
				marks[i] = e.mark()
			}
			if err := d.on("UPDATE session SET reserved=?2, mark=?3 WHERE n=?1").int(e.n).int(e.reserved).int(marks[i]).exec(); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1].n
	}
}

// ErrNewer says that the file was written by a newer program.
var ErrNewer = errors.New("the state directory has a newer format")

// format reads the file's version; 0 is an empty file.
func format(c conn) (int64, error) {
	id, err := pragma(c, "application_id")
	if err != nil {
		return 0, err
	}
	version, err := pragma(c, "user_version")
	if err != nil {
		return 0, err
	}
	switch {
	case id == 0 && version == 0:
		return 0, nil
	case id != applicationID:
		return 0, fmt.Errorf("%w: the file is a SQLite database of another program", store.ErrCorrupt)
	case version > Format:
		return 0, fmt.Errorf("%w: %d, and this program knows up to %d; start the newer program, or restore a backup made before it ran", ErrNewer, version, Format)
	}
	return version, nil
}

// migrate brings the file to Format, one transaction a step.
func migrate(c conn) error {
	version, err := format(c)
	if err != nil {
		return err
	}
	if version == 0 {
		// Both hold only when they come before the first table.
		if err := c.Exec("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL"); err != nil {
			return err
		}
	}
	if err := c.Exec("PRAGMA journal_mode=WAL"); err != nil {
		return err
	}
	for ; version < Format; version++ {
		if err := step(c, version); err != nil {
			if !c.Autocommit() {
				_ = c.Exec("ROLLBACK") // the step's error is the news
			}
			return fmt.Errorf("migrate from format %d: %w", version, err)
		}
	}
	return nil
}

// step takes the file from version to the next.
func step(c conn, version int64) error {
	if err := c.Exec("BEGIN IMMEDIATE; " + migrations[version]); err != nil {
		return err
	}
	if convert := conversions[version]; convert != nil {
		if err := convert(newDB(c)); err != nil {
			return err
		}
	}
	return c.Exec(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", applicationID, version+1))
}

// tune sets what holds per connection. cache is in KiB.
func tune(c conn, cache int) error {
	return c.Exec(fmt.Sprintf(`PRAGMA busy_timeout=5000; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; PRAGMA cache_size=-%d;
PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864; PRAGMA synchronous=NORMAL; PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF`, cache))
}

// pragma reads one number.
func pragma(c conn, name string) (int64, error) {
	s, err := c.Prepare("PRAGMA " + name)
	if err != nil {
		return 0, classify(err)
	}
	var v int64
	if s.Step() {
		v = s.ColumnInt64(0)
	}
	if err := s.Reset(); err != nil {
		return 0, fmt.Errorf("read %s: %w", name, classify(err))
	}
	return v, nil
}
