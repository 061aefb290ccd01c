package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/storetest"
)

func mustOpen(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a test that cares has closed it
	return s
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// session is one session that a test writes to.
type session struct {
	t    testing.TB
	id   event.ID
	head int64
}

func newSession(t testing.TB) *session { return &session{t: t, id: event.NewID()} }

// next is a durable commit of n events behind the head.
func (w *session) next(n int) *store.Commit {
	c := &store.Commit{Session: w.id, Epoch: 1, Head: w.head, Events: storetest.Events(w.id, w.head+1, n), Durable: true}
	if w.head == 0 {
		c.Create = &store.NewSession{Owner: "ann", Created: 1}
	}
	return c
}

// commit waits for the answer and moves the head on success.
func (w *session) commit(s *Store, c *store.Commit) error {
	w.t.Helper()
	err := await(w.t, send(s, c))
	if err == nil {
		w.head = c.Last()
	}
	return err
}

func (w *session) must(s *Store, c *store.Commit) {
	w.t.Helper()
	if err := w.commit(s, c); err != nil {
		w.t.Fatal(err)
	}
}

func send(s *Store, c *store.Commit) <-chan error {
	got := make(chan error, 1)
	c.Done = func(err error) { got <- err }
	s.Commit(c)
	return got
}

func await(t testing.TB, got <-chan error) error {
	t.Helper()
	select {
	case err := <-got:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("a commit was not answered")
		return nil
	}
}

// read returns the events from 1 that can be read and the error that ended it.
// It fails when one is not what was written.
func (w *session) read(s *Store) (n int64, err error) {
	w.t.Helper()
	for n < w.head {
		list, err := s.Read(w.t.Context(), w.id, n+1, w.head, 64<<10)
		if err != nil {
			return n, err
		}
		if len(list) == 0 {
			return n, errors.New("the read ended early without an error")
		}
		for i, want := range storetest.Events(w.id, n+1, len(list)) {
			if list[i] != want {
				w.t.Fatalf("got %+v, want %+v", list[i], want)
			}
		}
		n += int64(len(list))
	}
	return n, nil
}

func (w *session) mustRead(s *Store) {
	w.t.Helper()
	if n, err := w.read(s); err != nil || n != w.head {
		w.t.Fatalf("read %d of %d events: %v", n, w.head, err)
	}
}

func wantErr(t testing.TB, what string, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("%s: got %v, want %v", what, err, target)
	}
}

// edit runs SQL on a closed store's file, as damage would change it.
func edit(t testing.TB, dir, sql string) {
	t.Helper()
	d, err := mount(nil, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	defer d.unmount()
	c, err := dial(filepath.Join(dir, fileName), d.name, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Exec(sql); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
		time.Sleep(time.Millisecond) // between two looks at the condition
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
