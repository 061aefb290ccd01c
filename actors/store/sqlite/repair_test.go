package sqlite

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// refold tells a session of sample events, which rests after every commit.
func refold(checkpoint []byte, events []event.Event, whole bool) (*store.Rested, error) {
	r := &store.Rested{Owner: "ann", Created: 1, State: store.Idle, Spec: []byte("told"), Body: []byte("told"), Checkpoint: []byte("checkpoint")}
	if len(events) > 0 {
		r.Head = events[len(events)-1].Seq
	}
	return r, nil
}

func mustRepair(t *testing.T, dir string) *Repaired {
	t.Helper()
	done, err := Repair(t.Context(), dir, Options{}, refold)
	if err != nil {
		t.Fatalf("%v, %+v", err, done)
	}
	if !done.After.Sound() {
		t.Fatalf("after the repair: %v", done.After.Findings)
	}
	return done
}

func TestCheckCountsAndFindsNothingInASoundStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := written(t, dir, 3, 20)
	for i := range 2 {
		if i == 1 {
			mustOpen(t, dir, Options{}) // beside a server
		}
		r, err := Check(t.Context(), dir)
		if err != nil || !r.Sound() || r.Sessions != 3 || r.Turns != 60 || r.Events != 3*sessions[0].head || r.Format != Format || r.Bytes == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if _, err := Check(t.Context(), t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty directory: %v", err)
	}
}

// Every kind of damage that readers find is found by a check and gone after a repair,
// which leaves the other session alone.
func TestDamageIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql     string
		session bool // it is damage of session 1
	}{
		"chunk":            {"UPDATE chunk SET body=zeroblob(length(body)) WHERE s=1 AND first>40 AND first<60", true},
		"missing chunk":    {"DELETE FROM chunk WHERE s=1 AND first=(SELECT first FROM chunk WHERE s=1 ORDER BY first LIMIT 1 OFFSET 3)", true},
		"first chunk":      {"DELETE FROM chunk WHERE s=1 AND first=1", true},
		"last chunk":       {"DELETE FROM chunk WHERE s=1 AND first=(SELECT max(first) FROM chunk WHERE s=1)", true},
		"all chunks":       {"DELETE FROM chunk WHERE s=1", true},
		"body":             {"UPDATE session SET body='x' WHERE n=1", true},
		"owner":            {"UPDATE session SET owner='bob' WHERE n=1", true},
		"state":            {"UPDATE session SET state=3 WHERE n=1", true},
		"mark":             {"UPDATE session SET head=head-1, epoch=99 WHERE n=1", true},
		"id":               {"UPDATE session SET id=zeroblob(16) WHERE n=1", true},
		"turn":             {"UPDATE turn SET last=7 WHERE s=1 AND ordinal=2", true},
		"checkpoints":      {"UPDATE checkpoint SET body='x' WHERE s=1", true},
		"all at once":      {"UPDATE checkpoint SET body='x' WHERE s=1; UPDATE turn SET last=7 WHERE s=1; UPDATE session SET body='x' WHERE n=1; UPDATE chunk SET crc=1 WHERE s=1", true},
		"strays":           {"DELETE FROM session WHERE n=1", false},
		"count":            {"UPDATE meta SET value=77 WHERE name='sessions'", false},
		"number":           {"UPDATE turn SET number=9 WHERE 0; UPDATE meta SET value=-1 WHERE name='number'", false},
		"saved record":     {"INSERT INTO record(kind, id, owner, name, created, crc, body) VALUES ('agent', x'00', 'ann', 'a', 1, 1, x'00')", false},
		"index is missing": {"PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql='CREATE INDEX session_owner ON session(owner, created, state)' WHERE name='session_owner'", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sessions := written(t, dir, 2, 20)
			edit(t, dir, c.sql)
			r, err := Check(t.Context(), dir)
			if err != nil || r.Sound() {
				t.Fatalf("the check found nothing: %+v, %v", r, err)
			}
			if c.session {
				for _, f := range r.Findings {
					if f.Session == "" && f.Where != "counters" {
						t.Errorf("not of the session: %s", f)
					}
				}
			}
			done := mustRepair(t, dir)
			if done.Salvaged {
				t.Error("the file was salvaged though it can be read")
			}
			s := mustOpen(t, dir, Options{})
			sessions[1].mustRead(s)
			sessions[1].must(s, sessions[1].next(3))
			// What is left of the other one is served without a fault.
			rec, err := s.Session(t.Context(), "ann", sessions[0].id)
			if err == nil {
				for n := rec.Trimmed; n < rec.Head; {
					list, err := s.Read(t.Context(), rec.ID, n+1, rec.Head, 1<<20)
					if err != nil || len(list) == 0 {
						t.Fatalf("event %d: %v", n+1, err)
					}
					n = list[len(list)-1].Seq
				}
			} else if !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		})
	}
}

// A page that was zeroed, a header that was overwritten, a file that was cut: what
// the other pages hold is read from them.
//
//cases:116
func TestUnreadableFileIsSalvaged(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func([]byte) []byte{
		"header":   func(b []byte) []byte { clear(b[:100]); return b },
		"schema":   func(b []byte) []byte { clear(b[:pageSize]); return b },
		"pages":    func(b []byte) []byte { clear(b[20*pageSize : 24*pageSize]); return b },
		"cut":      func(b []byte) []byte { return b[:len(b)/2/pageSize*pageSize] },
		"cut amid": func(b []byte) []byte { return b[:len(b)-pageSize/2] },
		"page kind": func(b []byte) []byte {
			for at := 2 * pageSize; at < len(b); at += pageSize {
				if b[at] == 5 { // inner pages of tables
					b[at] = 77
				}
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := mustOpen(t, dir, Options{})
			var sessions []*session
			for i := range 6 {
				w := newSession(t)
				for n := range 20 {
					c := w.next(5)
					c.Events[0].Text = noise(3000, int64(100*i+n)) // some rows go beyond a page
					if n%7 == 0 {
						c.Events[1].Text = noise(20000, int64(n))
					}
					c.Checkpoint = []byte("checkpoint")
					c.Key = &store.Key{Owner: "ann", Value: strings.Repeat("k", i+1) + string(rune('a'+n)), Hash: "h", Created: 100}
					c.Spend = &store.Spend{Day: int64(n), Tokens: 1}
					w.must(s, c)
				}
				sessions = append(sessions, w)
			}
			gone := newSession(t)
			gone.must(s, gone.next(30))
			if err := s.Remove(t.Context(), gone.id); err != nil {
				t.Fatal(err)
			}
			eventually(t, "purge", func() bool { _, purging, err := s.Used(t.Context()); return err == nil && !purging })
			mustClose(t, s)
			path := filepath.Join(dir, fileName)
			if err := os.WriteFile(path, harm(readFile(t, path)), 0o600); err != nil {
				t.Fatal(err)
			}
			if r, err := Check(t.Context(), dir); err != nil || r.Sound() {
				t.Fatalf("the check found nothing: %+v, %v", r, err)
			}
			done := mustRepair(t, dir)
			if !done.Salvaged {
				t.Errorf("not salvaged: %+v", done)
			}
			s = mustOpen(t, dir, Options{})
			left := 0
			for _, w := range sessions {
				rec, err := s.Session(t.Context(), "ann", w.id)
				if errors.Is(err, store.ErrNotFound) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if !rec.Uncertain {
					t.Error("readers may have seen what is lost, and it does not say so")
				}
				if rec.Trimmed == 0 && rec.Head == w.head {
					left++
				}
			}
			if _, err := s.Session(t.Context(), "", gone.id); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a removed session came back: %v", err)
			}
			switch name {
			case "header", "page kind", "cut amid":
				if left < 5 {
					t.Errorf("%d of 6 sessions are whole", left)
				}
				if _, err := s.Key(t.Context(), "ann", "ka", 101); err != nil {
					t.Errorf("idempotency key: %v", err)
				}
				if owners, _, err := s.Spent(t.Context(), 3); err != nil || len(owners) != 1 || owners[0].Tokens != 120 {
					t.Errorf("spent %+v, %v", owners, err)
				}
			}
			t.Logf("%d of 6 sessions are whole; lost %d", left, len(done.Lost))
			w := newSession(t)
			w.must(s, w.next(3))
		})
	}
}

// Commits that are only in the log are salvaged too, up to the last whole one.
func TestSalvageReadsTheLog(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	s := mustOpen(t, from, Options{})
	w := newSession(t)
	for range 20 {
		w.must(s, w.next(3))
	}
	dir := copied(t, from)
	path := filepath.Join(dir, fileName)
	b := readFile(t, path)
	clear(b)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := Repair(t.Context(), dir, Options{}, refold)
	if err != nil || !done.After.Sound() {
		t.Fatalf("%+v, %v", done, err)
	}
	w.mustRead(mustOpen(t, dir, Options{}))
}

// Whatever bits flip, a repair ends with a sound store or says that there is nothing
// in it, and keeps the file from before.
func TestRandomFlipsAreRepaired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, 8, 25)
	sound := readFile(t, filepath.Join(dir, fileName))
	rng := rand.New(rand.NewPCG(8, 8))
	salvaged := 0
	for range 40 {
		file := bytes.Clone(sound)
		for range 1 + rng.IntN(4) {
			file[rng.IntN(len(file))] ^= 1 << rng.IntN(8)
		}
		hurt := t.TempDir()
		path := filepath.Join(hurt, fileName)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		done, err := Repair(t.Context(), hurt, Options{}, refold)
		if errors.Is(err, ErrNewer) { // the version itself was hit
			continue
		}
		if err != nil || !done.After.Sound() {
			t.Fatalf("%+v, %v", done, err)
		}
		if !bytes.Equal(readFile(t, done.Copy), file) {
			t.Error("the copy is not the file from before")
		}
		if done.Salvaged {
			salvaged++
		}
		if n := done.After.Sessions; n < 6 {
			t.Errorf("%d of 8 sessions are left: %v", n, done.Lost)
		}
	}
	t.Logf("%d of 40 files were salvaged", salvaged)
}

func TestRepairAndCompactAreRefusedBesideAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustOpen(t, dir, Options{})
	var locked *LockedError
	if _, err := Repair(t.Context(), dir, Options{}, refold); !errors.As(err, &locked) {
		t.Errorf("repair: %v", err)
	}
	if _, _, err := Compact(dir); !errors.As(err, &locked) {
		t.Errorf("compact: %v", err)
	}
}

func TestRepairLeavesWhatIsNotAStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edit(t, dir, "CREATE TABLE a(b); INSERT INTO a VALUES (1); PRAGMA user_version=1")
	before := readFile(t, filepath.Join(dir, fileName))
	_, err := Repair(t.Context(), dir, Options{}, refold)
	wantErr(t, "repair of another program's file", err, store.ErrCorrupt)
	if !bytes.Equal(readFile(t, filepath.Join(dir, fileName)), before) {
		t.Error("the file was changed")
	}
}

func TestCompactGivesSpaceBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	keep, gone := newSession(t), newSession(t)
	for i := range 60 {
		for _, w := range []*session{keep, gone} {
			c := w.next(1)
			c.Durable = false
			if w == gone {
				c.Events[0].Text = noise(50000, int64(i))
			}
			w.must(s, c)
		}
	}
	if err := s.Remove(t.Context(), gone.id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "purge", func() bool { _, purging, err := s.Used(t.Context()); return err == nil && !purging })
	mustClose(t, s)
	before, after, err := Compact(dir)
	if err != nil || after >= before/2 || after == 0 {
		t.Fatalf("%d bytes before, %d after, %v", before, after, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 || e.Name() != fileName && e.Name() != lockFile {
			t.Errorf("%s, %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if r, err := Check(t.Context(), dir); err != nil || !r.Sound() || r.Sessions != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	s = mustOpen(t, dir, Options{})
	keep.mustRead(s)
	keep.must(s, keep.next(2))
	if s.Uncertain() {
		t.Error("the compacted file is taken for one of a crash")
	}
	mustClose(t, s)
}

// What principals used is summed before a server starts. Where that is damaged, the
// refusal says so, the check finds it, and the repair drops it and nothing else.
func TestDamagedSpendingIsRepaired(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"text":     "INSERT INTO spend VALUES ('bob', 7, 'many', 0)",
		"fraction": "INSERT INTO spend VALUES ('bob', 7, 1.5, 0)",
		"negative": "INSERT INTO spend VALUES ('bob', 7, -1, 0)",
		"too much": "INSERT INTO spend VALUES ('bob', 7, 9223372036854775807, 0), ('bob', 8, 9223372036854775807, 0)",
		"no day":   "INSERT INTO spend VALUES ('bob', 'today', 1, 0)",
		"gone":     "DROP TABLE spend",
		"another":  "DROP TABLE spend; CREATE TABLE spend(owner TEXT, cost TEXT)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			sessions := written(t, dir, 1, 5)
			edit(t, dir, "INSERT INTO spend VALUES ('ann', 7, 11, 3); "+sql)
			s := mustOpen(t, dir, Options{})
			if _, _, err := s.Spent(t.Context(), 7); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("read as %v", err)
			}
			mustClose(t, s)
			r, err := Check(t.Context(), dir)
			if err != nil || len(r.Findings) != 1 || r.Findings[0].Where != "spend" {
				t.Fatalf("%+v, %v", r, err)
			}
			done := mustRepair(t, dir)
			if done.Salvaged || len(done.Lost) != 1 || done.Lost[0].Where != "spend" {
				t.Errorf("%+v", done)
			}
			s = mustOpen(t, dir, Options{})
			sessions[0].mustRead(s)
			owners, today, err := s.Spent(t.Context(), 7)
			if err != nil {
				t.Fatal(err)
			}
			if kept := len(owners) == 1 && owners[0].Owner == "ann" && owners[0].Tokens == 11 && today.MicroUSD == 3; kept == (name == "gone" || name == "another") {
				t.Errorf("%+v, %+v", owners, today)
			}
		})
	}
}
