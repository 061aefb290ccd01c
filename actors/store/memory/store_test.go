package memory_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	keep := func(t *testing.T, s *memory.Store) store.Store {
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	storetest.Run(t,
		func(t *testing.T) store.Store { return keep(t, memory.New()) },
		func(t *testing.T, s store.Store) store.Store { return keep(t, s.(*memory.Store).Reopen()) },
		func(t *testing.T, s store.Store) store.Store {
			n := s.(*memory.Store).Reopen()
			n.Crash()
			return keep(t, n)
		})
}

// commit queues one event and tells what Done was called with; asked counts the
// calls.
func commit(s *memory.Store, id event.ID, head int64) (answers *[]error) {
	answers = new([]error)
	c := &store.Commit{Session: id, Epoch: 1, Head: head, Events: storetest.Events(id, head+1, 1), Done: func(err error) { *answers = append(*answers, err) }}
	if head == 0 {
		c.Create = &store.NewSession{Owner: "ann"}
	}
	s.Commit(c)
	return answers
}

func TestManualStoreWaitsForStep(t *testing.T) {
	t.Parallel()
	s, id := memory.NewManual(), event.NewID()
	first, second := commit(s, id, 0), commit(s, id, 1)
	if len(*first) != 0 || s.Pending() != 2 {
		t.Fatal("a commit was answered before its step")
	}
	if _, err := s.Session(t.Context(), "", id); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a commit is visible before its step: %v", err)
	}
	if !s.Step() || len(*first) != 1 || (*first)[0] != nil || len(*second) != 0 {
		t.Fatalf("the step answered %v and %v", *first, *second)
	}
	if !s.Step() || len(*second) != 1 || s.Step() {
		t.Fatal("two commits take two steps")
	}
}

func TestDropForgetsAndReopenKeepsWhatWasApplied(t *testing.T) {
	t.Parallel()
	s, id := memory.NewManual(), event.NewID()
	commit(s, id, 0)
	s.Step()
	lost := commit(s, id, 1)
	if n := s.Drop(); n != 1 || s.Step() || len(*lost) != 0 {
		t.Fatalf("dropped %d commits, answers %v", n, *lost)
	}
	commit(s, id, 1)
	again := s.Reopen()
	rec, err := again.Session(t.Context(), "", id)
	if err != nil || rec.Head != 1 {
		t.Fatalf("after the restart: %+v, %v", rec, err)
	}
	if _, err := s.Session(t.Context(), "", id); !errors.Is(err, store.ErrClosed) {
		t.Fatalf("the old handle answers: %v", err)
	}
	got := commit(again, id, 1)
	if again.Step(); (*got)[0] != nil {
		t.Fatal((*got)[0])
	}
}

func TestRefuseAndFail(t *testing.T) {
	t.Parallel()
	s, id := memory.NewManual(), event.NewID()
	s.Refuse(store.ErrFull)
	got := commit(s, id, 0)
	if s.Step(); !errors.Is((*got)[0], store.ErrFull) {
		t.Fatalf("got %v", *got)
	}
	got = commit(s, id, 0)
	if s.Step(); (*got)[0] != nil {
		t.Fatalf("got %v: a refusal is for one commit", *got)
	}
	s.Fail()
	<-s.Fatal()
	got = commit(s, id, 1)
	if s.Step(); !errors.Is((*got)[0], store.ErrFailed) || !errors.Is(s.Err(), store.ErrFailed) {
		t.Fatalf("got %v", *got)
	}
}
