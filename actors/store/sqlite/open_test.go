package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

func TestSecondServerIsRefusedNamingTheFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	_, err := Open(dir, Options{})
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Fatalf("got %v, want a LockedError", err)
	}
	if text := err.Error(); !strings.Contains(text, dir) || !strings.Contains(text, fmt.Sprintf("pid %d,", os.Getpid())) {
		t.Fatalf("the error names neither directory nor process: %s", text)
	}
	mustClose(t, s)
	mustClose(t, mustOpen(t, dir, Options{}))
}

// A child that is being forked while the store closes has a copy of the lock's
// descriptor.
func TestLockIsGivenBackDespiteACopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	dup, err := unix.Dup(int(s.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dup)
	mustClose(t, s)
	mustOpen(t, dir, Options{})
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "state")
	s := mustOpen(t, dir, Options{})
	w := newSession(t)
	w.must(s, w.next(1))
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("directory: %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Fatalf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, 1, 1)
	edit(t, dir, fmt.Sprintf("PRAGMA user_version=%d", Format+1))
	_, err := Open(dir, Options{})
	wantErr(t, "open", err, ErrNewer)
	if !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), fmt.Sprint(Format+1)) {
		t.Fatalf("the error names neither directory nor format: %v", err)
	}
	_, err = OpenReadOnly(dir)
	wantErr(t, "open for reading", err, ErrNewer)
	// The refusal has given the lock back.
	edit(t, dir, fmt.Sprintf("PRAGMA user_version=%d", Format))
	mustOpen(t, dir, Options{})
}

func TestOtherFilesAreRefused(t *testing.T) {
	t.Parallel()
	foreign := t.TempDir()
	edit(t, foreign, "CREATE TABLE a(b); PRAGMA user_version=1")
	_, err := Open(foreign, Options{})
	wantErr(t, "another program's database", err, store.ErrCorrupt)
	garbage := t.TempDir()
	if err := os.WriteFile(filepath.Join(garbage, fileName), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Open(garbage, Options{})
	wantErr(t, "no database", err, store.ErrCorrupt)
}

func TestFormatIsWritten(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), Options{})
	for name, want := range map[string]int64{"user_version": Format, "application_id": applicationID, "page_size": pageSize, "auto_vacuum": 2} {
		var got int64
		err := s.view(t.Context(), func(d *db) (err error) {
			got, err = pragma(d, name)
			return err
		})
		if err != nil || got != want {
			t.Errorf("%s is %d, want %d (%v)", name, got, want, err)
		}
	}
}

func TestReadOnlyBesideALiveServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := OpenReadOnly(dir); err == nil {
		t.Fatal("an empty directory was opened")
	}
	s := mustOpen(t, dir, Options{})
	w := newSession(t)
	w.must(s, w.next(10))
	r, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // checked below
	w.mustRead(r)
	w.must(s, w.next(5)) // the reader keeps nothing back
	w.mustRead(r)
	var out strings.Builder
	if err := store.Dump(t.Context(), r, w.id, &out); err != nil || strings.Count(out.String(), "\n") != 15 {
		t.Fatalf("dump: %v\n%s", err, out.String())
	}
	wantErr(t, "commit", w.commit(r, w.next(1)), ErrReadOnly)
	wantErr(t, "remove", r.Remove(t.Context(), w.id), ErrReadOnly)
	mustClose(t, s)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	// And without a server.
	r, err = OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	w.mustRead(r)
	mustClose(t, r)
}

func TestPurgeGivesSpaceBackAndGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sessions := written(t, dir, 3, 200)
	rows := func(s *Store) (n int64) {
		if err := s.view(t.Context(), func(d *db) error {
			_, err := d.on("SELECT (SELECT count(*) FROM chunk)+(SELECT count(*) FROM turn)+(SELECT count(*) FROM checkpoint)+(SELECT count(*) FROM session)").one(func(s stmt) error {
				n = s.ColumnInt64(0)
				return nil
			})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const each = 601
	s := mustOpen(t, dir, Options{})
	if err := s.Remove(t.Context(), sessions[0].id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "purge", func() bool { return rows(s) == 2*each })
	mustClose(t, s)
	// As a stop between Remove and the purge leaves it.
	s = mustOpen(t, dir, Options{})
	mustClose(t, s)
	id := sessions[1].id
	mark := (&entry{id: id, state: store.Deleted, epoch: 1, head: sessions[1].head, reserved: store.Ahead}).mark()
	edit(t, dir, fmt.Sprintf("UPDATE session SET state=3, bytes=0, mark=%d WHERE id=x'%s'", mark, id.Hex()))
	s = mustOpen(t, dir, Options{})
	_, err := s.Session(t.Context(), "", id)
	wantErr(t, "session", err, store.ErrNotFound)
	eventually(t, "purge after the restart", func() bool { return rows(s) == each })
	sessions[2].mustRead(s)
}

func TestIdleChoresExpireKeysAndShrink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	w := newSession(t)
	for i := range 150 {
		c := w.next(1)
		c.Durable = false
		c.Key = &store.Key{Owner: "ann", Value: fmt.Sprint(i), Created: int64(i)}
		c.Events[0].Text = noise(100<<10, int64(i))
		w.must(s, c)
	}
	mustClose(t, s)
	before := len(readFile(t, filepath.Join(dir, fileName)))

	// The writer's goroutine is not running here, so its chores can be stepped.
	s = newStore(dir, Options{})
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.db.on("DELETE FROM chunk").one(nil); err != nil {
		t.Fatal(err)
	}
	s.writer.chores.expire, s.writer.chores.shrink = store.KeyTTL+99, true
	for s.writer.chores.waiting() {
		s.writer.chore()
	}
	var keys int64
	if _, err := s.writer.db.on("SELECT count(*) FROM idem").one(func(r stmt) error { keys = r.ColumnInt64(0); return nil }); err != nil {
		t.Fatal(err)
	}
	if keys != 50 {
		t.Errorf("%d keys left, want the 50 young ones", keys)
	}
	if err := s.release(); err != nil {
		t.Fatal(err)
	}
	if after := len(readFile(t, filepath.Join(dir, fileName))); after > before/2 {
		t.Errorf("the file has %d bytes, %d before", after, before)
	}
}

// Look-ups and pages must not depend on how much there is.
func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{})
	exercise(t, s)
	connections := append([]*db{s.writer.db}, s.pool.all...)
	mustClose(t, s)
	statements := map[string]bool{}
	for _, d := range connections {
		for sql := range d.stmts {
			statements[sql] = true
		}
	}
	if len(statements) < 40 {
		t.Fatalf("only %d statements seen", len(statements))
	}
	r := mustOpen(t, dir, Options{})
	for sql, index := range map[string]string{
		sessionLists[0][0]: "session_created", sessionLists[0][1]: "session_created", sessionLists[1][0]: "session_owner", sessionLists[1][1]: "session_owner",
		recordLists[0][0]: "record_created", recordLists[0][1]: "record_created", recordLists[1][0]: "record_owner", recordLists[1][1]: "record_owner",
		activeSessions: "session_state", readChunks: "chunk_s",
	} {
		if plan := planOf(t, r, sql); len(plan) == 0 || !strings.Contains(plan[0], " "+index+" ") {
			t.Errorf("%s\n\tdoes not go by %s: %v", sql, index, plan)
		}
	}
	for sql := range statements {
		if strings.HasPrefix(sql, "PRAGMA") || !strings.Contains(sql, " ") || strings.HasPrefix(sql, "BEGIN") {
			continue
		}
		for _, step := range planOf(t, r, sql) {
			if strings.HasPrefix(step, "SCAN") && !strings.HasPrefix(step, "SCAN meta") || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n\t%s", sql, step)
			}
		}
	}
}

func planOf(t *testing.T, s *Store, sql string) (steps []string) {
	t.Helper()
	if err := s.view(t.Context(), func(d *db) error {
		return d.on("EXPLAIN QUERY PLAN " + sql).each(func(s stmt) (bool, error) {
			steps = append(steps, s.ColumnText(3))
			return true, nil
		})
	}); err != nil {
		t.Fatal(err)
	}
	return steps
}

// exercise calls everything once, so that every statement is known.
func exercise(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	w, gone := newSession(t), newSession(t)
	gone.must(s, gone.next(1))
	active := store.Active
	for n := range 3 {
		c := w.next(2)
		c.State, c.Body, c.Spec, c.Checkpoint = &active, []byte("b"), []byte("s"), []byte("c")
		c.Turns = []store.Turn{{ID: event.ItemID(w.id, uint32(n)), Ordinal: int64(n + 1), Number: int64(n + 1)}}
		c.Key = &store.Key{Owner: "ann", Value: fmt.Sprint(n)}
		w.must(s, c)
	}
	w.must(s, w.next(1))
	w.head--
	w.must(s, w.next(1)) // a repeat
	record := &store.Record{Kind: "agent", ID: w.id, Owner: "ann", Name: "a"}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(s.PutRecord(ctx, record))
	turn := event.ItemID(w.id, 1)
	for _, desc := range []bool{false, true} {
		for _, owner := range []string{"", "ann"} {
			_, _, err := s.Sessions(ctx, store.SessionFilter{Owner: owner}, spec.Page{Limit: 1, Desc: desc, After: w.id})
			check(err)
			_, _, err = s.Records(ctx, "agent", owner, spec.Page{Limit: 1, Desc: desc, After: w.id})
			check(err)
		}
		_, _, err := s.Turns(ctx, w.id, spec.Page{Limit: 1, Desc: desc, After: turn})
		check(err)
	}
	_, err := s.Session(ctx, "ann", w.id)
	check(err)
	_, err = s.ActiveSessions(ctx)
	check(err)
	_, err = s.IdleSessions(ctx, store.IdleSession{}, 5)
	check(err)
	_, _, err = s.Used(ctx)
	check(err)
	_, err = s.SessionCount(ctx)
	check(err)
	_, err = s.NextNumber(ctx)
	check(err)
	_, err = s.Turn(ctx, "ann", turn)
	check(err)
	_, err = s.Key(ctx, "ann", "1", 5)
	check(err)
	_, err = s.RecordsNamed(ctx, "agent", "ann", "a")
	check(err)
	_, err = s.GetRecord(ctx, "agent", "ann", w.id)
	check(err)
	_, err = s.Read(ctx, w.id, 2, 5, 1000)
	check(err)
	_, err = s.CheckpointBefore(ctx, w.id, 3)
	check(err)
	_, err = s.CheckpointAfter(ctx, w.id, 3)
	check(err)
	check(s.Thin(ctx, w.id, 1, 2, []event.Event{{Kind: event.Skipped, Seq: 2, Turn: w.id}}))
	_, err = s.Trim(ctx, w.id, 4)
	check(err)
	_, err = s.Claim(ctx, w.id, w.id)
	check(err)
	check(s.DeleteRecord(ctx, "agent", "ann", w.id))
	check(s.Remove(ctx, gone.id))
	if err := s.change(&request{
		check: func(*writer) error { return nil },
		apply: func(w *writer) error { w.chores.expire = 1; return nil },
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "chores", func() bool {
		done := false
		check(s.change(&request{
			check: func(w *writer) error { done = !w.chores.waiting(); return nil },
			apply: func(*writer) error { return nil },
		}))
		return done
	})
}
