package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// ending makes c the end of a turn.
func ending(c *store.Commit) *store.Commit {
	last := &c.Events[len(c.Events)-1]
	last.Kind, last.Body = event.TurnEnded, &event.End{Outcome: event.Failed}
	return c
}

func reserveSize(t *testing.T, dir string) int64 {
	t.Helper()
	st, err := os.Stat(filepath.Join(dir, reserveName))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

// whole holds that a session has all its events.
func whole(t *testing.T, s *Store, w *session) {
	t.Helper()
	n := int64(0)
	for n < w.head {
		events, err := s.Read(t.Context(), w.id, n+1, w.head, 1<<20)
		if err != nil || len(events) == 0 {
			t.Fatalf("event %d of %d: %v", n+1, w.head, err)
		}
		for i := range events {
			if n++; events[i].Seq != n {
				t.Fatalf("event %d after %d", events[i].Seq, n-1)
			}
		}
	}
}

// On a full disk what only adds is refused, and the ends of the turns that ran are
// stored all the same; with room again all is as before, over a restart too.
func TestFullDiskStillTakesTheEndsOfTurns(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	faults := &Faults{}
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{Faults: faults, Reserve: size})
	if n := reserveSize(t, dir); n != size {
		t.Fatalf("the reserve has %d bytes", n)
	}
	const sessions = 40
	var list []*session
	for range sessions {
		w := newSession(t)
		w.must(s, w.next(2))
		list = append(list, w)
	}
	faults.SmallDisk(0)
	full := false
	for range 200 { // what fits into the log as it is
		c := list[0].next(1)
		c.Events[0].Text = noise(64<<10, list[0].head)
		if err := list[0].commit(s, c); errors.Is(err, store.ErrFull) {
			full = true
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list[0].head = c.Last()
	}
	if !full {
		t.Fatal("the disk does not get full")
	}
	// The first refusal has made room for ends, and for nothing else.
	for _, w := range list {
		wantErr(t, "more of a turn", w.commit(s, w.next(1)), store.ErrFull)
		w.must(s, ending(w.next(1)))
	}
	wantErr(t, "a new session", newSession(t).commit(s, newSession(t).next(1)), store.ErrFull)
	wantErr(t, "a record", s.PutRecord(t.Context(), &store.Record{Kind: "agent"}), store.ErrFull)
	if err := s.Remove(t.Context(), list[sessions-1].id); err != nil {
		t.Errorf("what makes room is refused: %v", err)
	}
	list = list[:sessions-1]
	if n := reserveSize(t, dir); n != 0 {
		t.Errorf("the reserve has %d bytes and is spent", n)
	}
	faults.Clear()
	for _, w := range list {
		w.must(s, w.next(1))
		whole(t, s, w)
	}
	if n := reserveSize(t, dir); n != size {
		t.Errorf("the reserve has %d bytes, and the disk has room", n)
	}
	mustClose(t, s)
	s = mustOpen(t, dir, Options{Reserve: size})
	for _, w := range list {
		whole(t, s, w)
	}
	mustClose(t, s)
	s = mustOpen(t, dir, Options{})
	if n := reserveSize(t, dir); n != 0 {
		t.Errorf("the reserve has %d bytes, and none is wanted", n)
	}
	mustClose(t, s)
}

// Without one, the ends are lost like everything else: the reserve is what does it.
func TestFullDiskWithoutAReserve(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	s := mustOpen(t, t.TempDir(), Options{Faults: faults})
	w := newSession(t)
	w.must(s, w.next(2))
	faults.SmallDisk(0)
	for range 200 {
		c := ending(w.next(2))
		c.Events[0].Text = noise(64<<10, w.head)
		if err := w.commit(s, c); errors.Is(err, store.ErrFull) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		w.head = c.Last()
	}
	t.Error("the disk does not get full")
}

// A disk that has no room for the reserve is served all the same.
func TestReserveThatDoesNotFit(t *testing.T) {
	t.Parallel()
	faults := &Faults{}
	faults.SmallDisk(1 << 20)
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{Faults: faults, Reserve: 64 << 20})
	w := newSession(t)
	w.must(s, w.next(2))
	if n := reserveSize(t, dir); n != 0 {
		t.Errorf("the reserve has %d bytes", n)
	}
}
