package storetest

import (
	"reflect"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// skipped is a Skipped event up to seq.
func skipped(seq int64) event.Event { return event.Event{Seq: seq, At: 1, Kind: event.Skipped} }

// skip is a commit that skips to the number to and goes on with n events.
func (s *suite) skip(id event.ID, head, to int64, n int) *store.Commit {
	c := s.after(id, head, 0)
	c.Events = append([]event.Event{skipped(to)}, Events(id, to+1, n)...)
	return c
}

func skippedNumbersAreRead(s *suite) {
	id := s.create("ann", 0)
	s.must(s.after(id, 0, 5))
	c := s.skip(id, 5, 100, 3)
	s.must(c)
	s.must(s.skip(id, 103, 110, 0))
	s.must(s.after(id, 110, 2))
	s.must(c) // an answer that was lost
	var all []event.Event
	all = append(all, Events(id, 1, 5)...)
	all = append(append(all, skipped(100)), Events(id, 101, 3)...)
	all = append(append(all, skipped(110)), Events(id, 111, 2)...)
	for name, bad := range map[string]*store.Commit{
		"a skip back":        s.skip(id, 112, 111, 0),
		"a skip to the head": s.skip(id, 112, 112, 0),
	} {
		if err := s.commit(bad); err == nil {
			s.Errorf("%s: accepted", name)
		}
	}
	gap := s.skip(id, 112, 120, 2)
	gap.Events[2].Seq++
	if err := s.commit(gap); err == nil {
		s.Errorf("a gap behind a skip: accepted")
	}
	for range 2 {
		if head := s.session(id).Head; head != 112 {
			s.Fatalf("head %d, want 112", head)
		}
		for from := int64(1); from <= 114; from++ {
			for to := from - 1; to <= 114; to++ {
				// Each event stands for the numbers from the one before it to its own.
				var want []event.Event
				before := int64(0)
				for _, ev := range all {
					if before < to && ev.Seq >= from && from <= to {
						want = append(want, ev)
					}
					before = ev.Seq
				}
				got, err := s.Read(s.ctx(), id, from, to, 1<<20)
				s.ok("read", err)
				if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
					s.Fatalf("read %d to %d: got %v, want %v", from, to, got, want)
				}
			}
		}
		s.reopen()
	}
}

func skippedNumbersAreTrimmed(s *suite) {
	id := s.create("ann", 0)
	s.must(s.after(id, 0, 5))
	s.must(s.skip(id, 5, 100, 0))
	c := s.after(id, 100, 5)
	c.Checkpoint = []byte("c")
	s.must(c)
	for _, w := range []struct{ seq, mark int64 }{{4, 0}, {50, 5}, {99, 5}, {100, 100}} {
		mark, err := s.Trim(s.ctx(), id, w.seq)
		s.ok("trim", err)
		if mark != w.mark {
			s.Fatalf("a trim to %d moved the mark to %d, want %d", w.seq, mark, w.mark)
		}
	}
	_, err := s.Read(s.ctx(), id, 50, 200, 1000)
	s.want("read of skipped numbers", err, store.ErrTrimmed)
	s.checkEvents(id, s.readAll(id, 101, 105), 101, 105)
	for seq, want := range map[int64]int64{104: 0, 105: 105} {
		k, err := s.CheckpointBefore(s.ctx(), id, seq)
		s.ok("checkpoint", err)
		if k.Seq != want {
			s.Fatalf("checkpoint %d before %d, want %d", k.Seq, seq, want)
		}
	}
}

// markStaysAhead: no commit reaches a mark without moving it.
func markStaysAhead(s *suite) {
	id := s.create("ann", 3)
	check := func(head, mark int64) {
		s.Helper()
		if rec := s.session(id); rec.Head != head || rec.Reserved != mark || rec.Uncertain {
			s.Fatalf("head %d, mark %d, uncertain %v; want %d and %d", rec.Head, rec.Reserved, rec.Uncertain, head, mark)
		}
	}
	check(3, store.Ahead)
	s.must(s.skip(id, 3, store.Ahead-2, 0))
	s.must(s.after(id, store.Ahead-2, 1))
	check(store.Ahead-1, store.Ahead)
	c := s.after(id, store.Ahead-1, 2)
	other := s.create("ann", 1)
	beside := s.send(s.after(other, 1, 1)) // shares the group, if there are any
	s.must(c)
	s.ok("a commit beside it", s.await(beside))
	const next = store.Ahead + 1 + store.Ahead
	check(store.Ahead+1, next)
	s.reopen()
	check(store.Ahead+1, next)
	rec, err := s.Claim(s.ctx(), id, s.host)
	s.ok("claim", err)
	if rec.Reserved != next {
		s.Fatalf("a claim made the mark %d, want %d", rec.Reserved, next)
	}
}

func crashMakesUncertain(s *suite) {
	settled, late := s.create("ann", 5), s.create("ann", 7)
	check := func(what string, crashed bool, uncertain map[event.ID]bool) {
		s.Helper()
		if s.Uncertain() != crashed {
			s.Fatalf("%s: uncertain %v", what, !crashed)
		}
		for id, want := range uncertain {
			if rec := s.session(id); rec.Uncertain != want || rec.Reserved <= rec.Head {
				s.Fatalf("%s: session %+v, want uncertain %v", what, rec, want)
			}
		}
	}
	check("new", false, map[event.ID]bool{settled: false, late: false})
	s.reopen()
	check("reopened", false, map[event.ID]bool{settled: false, late: false})
	s.Store = s.crashFn(s.T, s.Store)
	fresh := s.create("ann", 1)
	check("crashed", true, map[event.ID]bool{settled: true, late: true, fresh: false})
	rec, err := s.Claim(s.ctx(), settled, s.host)
	s.ok("claim", err)
	if !rec.Uncertain {
		s.T.Fatal("a claim ended the uncertainty")
	}
	mark := rec.Reserved
	c := s.skip(settled, 5, mark, 1)
	c.Epoch = rec.Epoch
	s.must(c)
	check("one is settled", true, map[event.ID]bool{settled: false, late: true, fresh: false})
	// Who was not looked at yet is not forgotten by an ordinary restart.
	s.reopen()
	check("reopened again", false, map[event.ID]bool{settled: false, late: true, fresh: false})
	s.Store = s.crashFn(s.T, s.Store)
	check("crashed again", true, map[event.ID]bool{settled: true, late: true, fresh: true})
	if next := s.session(settled).Reserved; next <= mark+1 {
		s.Fatalf("the next mark is %d, the last number %d", next, mark+1)
	}
}
