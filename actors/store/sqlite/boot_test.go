package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/storetest"
)

func TestOnlyAnOpenFileOfAnotherRunIsLossy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		then  int64
		clean bool
		now   int64
		want  bool
	}{
		{1, true, 2, false}, // closed, then the machine was started anew
		{1, true, 0, false},
		{1, false, 1, false}, // the process was killed
		{1, false, 2, true},
		{1, false, 0, true}, // the kernel does not tell
		{0, false, 2, true},
		{0, false, 0, true},
	} {
		o := opening{boot: c.then, clean: c.clean}
		if got := o.lossy(c.now); got != c.want {
			t.Errorf("open in run %d, clean %v, now run %d: lossy %v", c.then, c.clean, c.now, got)
		}
	}
	if bootNumber("") != 0 || bootNumber("a") == bootNumber("b") || bootNumber("a") <= 0 {
		t.Error("runs are not told apart")
	}
}

// copied is the files of a store as they are now.
func copied(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{fileName, fileName + "-wal"} {
		if err := os.WriteFile(filepath.Join(dir, name), readFile(t, filepath.Join(from, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A disk that has what was synced and nothing else, and one that has all.
func TestCrashOfTheMachineIsToldFromAKill(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	s := mustOpen(t, from, Options{BootID: "first"})
	w := newSession(t)
	w.must(s, w.next(10))
	synced := copied(t, from)
	for range 5 {
		c := w.next(4)
		c.Durable = false
		w.must(s, c)
	}
	seen := w.head
	killed := copied(t, from)
	record := func(dir, boot string) *store.Session {
		rec, err := mustOpen(t, dir, Options{BootID: boot}).Session(t.Context(), "", w.id)
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	if rec := record(killed, "first"); rec.Uncertain || rec.Head != seen {
		t.Errorf("after a kill: %+v", rec)
	}
	if rec := record(synced, "second"); !rec.Uncertain || rec.Head != 10 || rec.Reserved < seen {
		t.Errorf("after a crash: %+v", rec)
	}
	mustClose(t, s)
	if rec := record(from, "second"); rec.Uncertain || rec.Head != seen {
		t.Errorf("closed, and opened after a start of the machine: %+v", rec)
	}
}

// The mark must be there before a number that reaches it is seen.
func TestCommitAtTheMarkIsSynced(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	s := mustOpen(t, from, Options{BootID: "first"})
	w := newSession(t)
	w.must(s, w.next(1))
	push := func(events ...event.Event) (syncs int64) {
		before := s.Stats().Syncs
		w.must(s, &store.Commit{Session: w.id, Epoch: 1, Head: w.head, Events: events})
		return s.Stats().Syncs - before
	}
	if n := push(event.Event{Seq: store.Ahead - 1, Kind: event.Skipped}); n != 0 {
		t.Errorf("%d syncs below the mark", n)
	}
	if n := push(storetest.Events(w.id, w.head+1, 3)...); n != 1 {
		t.Errorf("%d syncs at the mark", n)
	}
	if n := push(storetest.Events(w.id, w.head+1, 3)...); n != 0 {
		t.Errorf("%d syncs behind it", n)
	}
}

func TestDamagedLogMakesUncertain(t *testing.T) {
	t.Parallel()
	dir, w := crashed(t, 20)
	path := filepath.Join(dir, fileName+"-wal")
	log := readFile(t, path)
	log[len(log)/2] ^= 4
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, _ := openLogged(t, dir)
	rec, err := s.Session(t.Context(), "", w.id)
	if err != nil || !rec.Uncertain || !s.Uncertain() || rec.Reserved < w.head {
		t.Fatalf("%+v, %v", rec, err)
	}
}

// A full disk does not keep a server from starting, and what is stored once there
// is space again is under the same care.
//
//cases:114
func TestFullDiskAtTheStart(t *testing.T) {
	t.Parallel()
	dir, faults := t.TempDir(), &Faults{}
	w := written(t, dir, 1, 3)[0]
	faults.FailWrites(syscall.ENOSPC, 0, -1)
	s := mustOpen(t, dir, Options{Faults: faults, BootID: "first"})
	w.mustRead(s)
	wantErr(t, "commit", w.commit(s, w.next(1)), store.ErrFull)
	faults.Clear()
	w.must(s, w.next(1))
	if s := mustOpen(t, copied(t, dir), Options{BootID: "second"}); !s.Uncertain() {
		t.Error("the store was not known to be open")
	}
}

// format1 is what the first format wrote, row by row.
func format1(t *testing.T, dir string, w *session, host event.ID) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	k, err := mount(nil, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer k.unmount()
	c, err := dial(filepath.Join(dir, fileName), k.name, false)
	if err != nil {
		t.Fatal(err)
	}
	d := newDB(c)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Exec("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL"))
	must(c.Exec(migrations[0] + "PRAGMA application_id=1095190611; PRAGMA user_version=1; UPDATE meta SET value=7 WHERE name='number'; UPDATE meta SET value=1 WHERE name='sessions'"))
	body, set := []byte("body"), []byte("spec")
	must(d.on("INSERT INTO session(id, owner, created, state, host, epoch, head, trimmed, bytes, mark, spec_crc, body_crc, spec, body) VALUES (?1,'ann',5,2,?2,3,10,0,900,?3,?4,?5,?6,?7)").
		blob(w.id[:]).blob(host[:]).
		int(sumOf([]int64{2, 3, 10, 0, 900}, w.id[:], host[:])).
		int(sumOf([]int64{5}, w.id[:], []byte("ann"), set)).
		int(sumOf(nil, w.id[:], body)).
		blob(set).blob(body).exec())
	for _, head := range []int64{0, 5, 10} { // the last one is ahead of the row
		buf := borrow()
		row, err := encodeChunk(w.id, head, storetest.Events(w.id, head+1, 5), true, buf)
		must(err)
		must(d.on("INSERT INTO chunk(s, first, last, flags, crc, body) VALUES (1,?1,?2,?3,?4,?5)").int(row.first).int(row.last).int(row.flags).int(int64(row.crc)).blob(row.body).exec())
		giveBack(buf)
	}
	must(d.on("INSERT INTO checkpoint(s, seq, crc, body) VALUES (1,10,?1,?2)").int(checkpointSum(w.id, 10, body)).blob(body).exec())
	must(d.on("INSERT INTO idem VALUES ('ann','k','h',100,x'01')").exec())
	must(c.Close())
	w.head = 15
}

func TestFormat1IsMigrated(t *testing.T) {
	t.Parallel()
	dir, w, host := t.TempDir(), newSession(t), event.NewID()
	format1(t, dir, w, host)
	for range 2 {
		s := mustOpen(t, dir, Options{})
		rec, err := s.Session(t.Context(), "ann", w.id)
		if err != nil || rec.Head != 15 || rec.Epoch != 3 || rec.Host != host || rec.State != store.Active || string(rec.Body) != "body" || string(rec.Spec) != "spec" {
			t.Fatalf("%+v, %v", rec, err)
		}
		// Nobody knows how the program that wrote it ended.
		if rec.Reserved != 15+store.Ahead || !rec.Uncertain {
			t.Fatalf("mark %d, uncertain %v", rec.Reserved, rec.Uncertain)
		}
		w.mustRead(s)
		if k, err := s.CheckpointBefore(t.Context(), w.id, 12); err != nil || k.Seq != 10 || string(k.Body) != "body" {
			t.Fatalf("checkpoint %+v, %v", k, err)
		}
		if k, err := s.Key(t.Context(), "ann", "k", 200); err != nil || k.Hash != "h" {
			t.Fatalf("key %+v, %v", k, err)
		}
		if n, err := s.NextNumber(t.Context()); err != nil || n != 8 {
			t.Fatalf("number %d, %v", n, err)
		}
		if list, _, err := s.Sessions(t.Context(), store.SessionFilter{}, spec.Page{Limit: 5}); err != nil || len(list) != 1 {
			t.Fatalf("%d sessions, %v", len(list), err)
		}
		mustClose(t, s)
	}
	s := mustOpen(t, dir, Options{})
	c := &store.Commit{Session: w.id, Host: host, Epoch: 3, Head: 15, Events: storetest.Events(w.id, 16, 1), Durable: true}
	w.must(s, c)
}

// Damage that the old format would have found is found in the new one.
func TestDamagedRowOfFormat1StaysDamaged(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), newSession(t)
	format1(t, dir, w, event.NewID())
	edit(t, dir, "UPDATE session SET epoch=9")
	_, err := mustOpen(t, dir, Options{}).Session(t.Context(), "", w.id)
	wantErr(t, "session", err, store.ErrCorrupt)
}

// newFile makes a file as the program of an older format did, by the steps up to it.
func newFile(t *testing.T, dir string, version int64) *db {
	t.Helper()
	if err := create(filepath.Join(dir, fileName)); err != nil {
		t.Fatal(err)
	}
	k, err := mount(nil, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.unmount)
	c, err := dial(filepath.Join(dir, fileName), k.name, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec("PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL"); err != nil {
		t.Fatal(err)
	}
	for v := range version {
		if err := step(c, v); err != nil {
			t.Fatal(err)
		}
	}
	return newDB(c)
}

// oldSession writes a session row as formats 2 and 3 had it.
func oldSession(t *testing.T, d *db, id event.ID, created int64, body string) {
	t.Helper()
	e := entry{id: id, owner: "ann", created: created, state: store.Idle, epoch: 1, reserved: store.Ahead}
	err := d.on("INSERT INTO session(id, owner, created, state, host, epoch, head, trimmed, bytes, mark, spec_crc, body_crc, spec, body, reserved, era) VALUES (?1,'ann',?2,1,?3,1,0,0,0,?4,?5,?6,?7,?8,?9,0)").
		blob(id[:]).int(created).blob(e.host[:]).int(e.mark()).int(e.specSum([]byte("spec"))).int(e.bodySum([]byte(body))).
		blob([]byte("spec")).blob([]byte(body)).int(e.reserved).exec()
	if err != nil {
		t.Fatal(err)
	}
}

// A file of format 2 knows of no spending; it is kept from then on.
func TestFormat2IsMigrated(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), newSession(t)
	d := newFile(t, dir, 2)
	oldSession(t, d, w.id, 5, "body")
	if err := errors.Join(d.Exec("UPDATE meta SET value=1 WHERE name='sessions'"), d.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := mustOpen(t, dir, Options{})
		if rec, err := s.Session(t.Context(), "ann", w.id); err != nil || string(rec.Body) != "body" {
			t.Fatalf("%+v, %v", rec, err)
		}
		if owners, today, err := s.Spent(t.Context(), 7); err != nil || len(owners) > 1 || today.Tokens != w.head*5 {
			t.Fatalf("spent %+v, %+v, %v", owners, today, err)
		}
		if w.head == 0 {
			c := &store.Commit{Session: w.id, Epoch: 1, Events: storetest.Events(w.id, 1, 1), Durable: true, Spend: &store.Spend{Day: 7, Tokens: 5}}
			w.must(s, c)
		}
		mustClose(t, s)
	}
}

// A file of format 3 lists its sessions by what their records say, and the damaged
// ones by their creation.
func TestFormat3IsMigrated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := newFile(t, dir, 3)
	ids := []event.ID{event.NewID(), event.NewID(), event.NewID(), event.NewID()}
	oldSession(t, d, ids[0], 10, `{"last_active":900}`)
	oldSession(t, d, ids[1], 20, `{"last_active":300}`)
	oldSession(t, d, ids[2], 30, "no json")
	oldSession(t, d, ids[3], 40, `{"id":"x"}`)
	if err := errors.Join(d.Exec("UPDATE meta SET value=4 WHERE name='sessions'"), d.Close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := mustOpen(t, dir, Options{})
		list, err := s.IdleSessions(t.Context(), store.IdleSession{}, 10)
		if err != nil || len(list) != 4 {
			t.Fatalf("%+v, %v", list, err)
		}
		for i, want := range []struct {
			id     event.ID
			active int64
		}{{ids[2], 30}, {ids[3], 40}, {ids[1], 300}, {ids[0], 900}} {
			if list[i].ID != want.id || list[i].Active != want.active {
				t.Errorf("place %d: %+v, want %+v", i, list[i], want)
			}
			if _, err := s.Session(t.Context(), "ann", want.id); err != nil {
				t.Error(err)
			}
		}
		mustClose(t, s)
	}
}
