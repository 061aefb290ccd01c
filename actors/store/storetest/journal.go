package storetest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// uneven fills a session with commits of many sizes, 1 to 11 events, up to last.
func (s *suite) uneven(id event.ID, last int64) {
	s.Helper()
	for head := int64(0); head < last; {
		n := min(1+head%11, last-head)
		s.must(s.after(id, head, int(n)))
		head += n
	}
}

func readWindows(s *suite) {
	id := s.create("ann", 0)
	got, err := s.Read(s.ctx(), id, 1, 100, 1<<20)
	s.ok("read of an empty session", err)
	s.checkEvents(id, got, 1, 0)
	const last = 120
	s.uneven(id, last)
	for range 2 {
		for from := int64(1); from <= last+2; from += 3 {
			for _, to := range []int64{from - 1, from, from + 1, from + 9, last, last + 50} {
				got, err := s.Read(s.ctx(), id, from, to, 1<<20)
				s.ok(fmt.Sprintf("read %d to %d", from, to), err)
				s.checkEvents(id, got, from, min(to, last))
			}
		}
		s.reopen()
	}
	_, err = s.Read(s.ctx(), event.NewID(), 1, 5, 100)
	s.want("read of an unknown session", err, store.ErrNotFound)
}

func readIsBounded(s *suite) {
	id := s.create("ann", 0)
	var head int64
	for range 40 {
		c := s.after(id, head, 20)
		s.must(c)
		head += 20
	}
	got, err := s.Read(s.ctx(), id, 1, head, 1)
	s.ok("read", err)
	if len(got) == 0 || len(got) > 20 {
		s.Fatalf("a read of one byte gave %d events, want one commit's", len(got))
	}
	got, err = s.Read(s.ctx(), id, 1, head, 4000)
	s.ok("read", err)
	if len(got) < 20 || int64(len(got)) >= head {
		s.Fatalf("a read of 4000 bytes gave %d events of %d", len(got), head)
	}
	s.checkEvents(id, s.readAll(id, 1, head), 1, head)
	// One event larger than the bound still comes.
	c := s.after(id, head, 1)
	c.Events[0].Text = strings.Repeat("x", 3<<20)
	s.must(c)
	got, err = s.Read(s.ctx(), id, head+1, head+1, 1000)
	s.ok("read", err)
	if len(got) != 1 || len(got[0].Text) != 3<<20 {
		s.Fatalf("got %d events", len(got))
	}
}

func checkpoints(s *suite) {
	id := s.create("ann", 0)
	for head := int64(0); head < 50; head += 10 {
		c := s.after(id, head, 10)
		if head != 20 {
			c.Checkpoint = fmt.Appendf(nil, "at %d", head+10)
		}
		s.must(c)
	}
	c := s.after(id, 50, 0)
	c.Checkpoint = []byte("at 50 again")
	s.must(c)
	for range 2 {
		for _, w := range []struct{ seq, before, after int64 }{{0, 0, 10}, {9, 0, 10}, {10, 10, 10}, {11, 10, 20}, {35, 20, 40}, {50, 50, 50}, {51, 50, 0}, {999, 50, 0}} {
			for _, dir := range []string{"before", "after"} {
				want, read := w.before, s.CheckpointBefore
				if dir == "after" {
					want, read = w.after, s.CheckpointAfter
				}
				got, err := read(s.ctx(), id, w.seq)
				s.ok("checkpoint", err)
				body := fmt.Sprintf("at %d", want)
				switch want {
				case 0:
					body = ""
				case 50:
					body = "at 50 again"
				}
				if got.Seq != want || string(got.Body) != body {
					s.Fatalf("%s %d: got %d %q, want %d %q", dir, w.seq, got.Seq, got.Body, want, body)
				}
			}
		}
		s.reopen()
	}
	_, err := s.CheckpointBefore(s.ctx(), event.NewID(), 5)
	s.want("checkpoint of an unknown session", err, store.ErrNotFound)
}

func trimIsWholeCommits(s *suite) {
	id, other := s.create("ann", 0), s.create("ann", 0)
	for head := int64(0); head < 2000; head += 10 {
		c := s.after(id, head, 10)
		if head%100 == 90 {
			c.Checkpoint = []byte("c")
		}
		s.must(c)
	}
	s.uneven(other, 30)
	before := s.session(id).Bytes
	mark, err := s.Trim(s.ctx(), id, 9)
	s.ok("trim", err)
	if mark != 0 {
		s.Fatalf("trim inside the first commit moved the mark to %d", mark)
	}
	mark, err = s.Trim(s.ctx(), id, 1755)
	s.ok("trim", err)
	if mark != 1750 {
		s.Fatalf("mark %d, want 1750", mark)
	}
	for range 2 {
		rec := s.session(id)
		if rec.Trimmed != 1750 || rec.Head != 2000 || rec.Bytes >= before || rec.Bytes <= 0 {
			s.Fatalf("after the trim: %+v (%d bytes before)", rec, before)
		}
		for _, from := range []int64{0, 1, 1750} {
			_, err = s.Read(s.ctx(), id, from, 2000, 1000)
			s.want(fmt.Sprintf("read from %d", from), err, store.ErrTrimmed)
		}
		s.checkEvents(id, s.readAll(id, 1751, 2000), 1751, 2000)
		s.checkEvents(other, s.readAll(other, 1, 30), 1, 30)
		// The checkpoint before the oldest event kept stays, older ones go.
		k, err := s.CheckpointBefore(s.ctx(), id, 1750)
		s.ok("checkpoint", err)
		old, err := s.CheckpointBefore(s.ctx(), id, 1699)
		s.ok("checkpoint", err)
		if k.Seq != 1700 || old.Seq != 0 {
			s.Fatalf("checkpoints %d and %d, want 1700 and none", k.Seq, old.Seq)
		}
		s.reopen()
	}
	mark, err = s.Trim(s.ctx(), id, 100)
	s.ok("trim back", err)
	if mark != 1750 {
		s.Fatalf("a trim behind the mark moved it to %d", mark)
	}
	mark, err = s.Trim(s.ctx(), id, 9999)
	s.ok("trim all", err)
	if mark != 2000 {
		s.Fatalf("mark %d, want 2000", mark)
	}
	rec := s.session(id)
	if rec.Bytes != 0 {
		s.Fatalf("%d bytes left of nothing", rec.Bytes)
	}
	s.must(s.after(id, 2000, 5))
	s.checkEvents(id, s.readAll(id, 2001, 2005), 2001, 2005)
	_, err = s.Trim(s.ctx(), event.NewID(), 5)
	s.want("trim of an unknown session", err, store.ErrNotFound)
}

func removeIsComplete(s *suite) {
	id, kept, turn := s.create("ann", 0), s.create("ann", 3), event.NewID()
	for head := int64(0); head < 300; head++ {
		c := s.after(id, head, 1)
		if head == 5 {
			c.Turns = []store.Turn{{ID: turn, Ordinal: 1, Number: 4}}
		}
		c.Checkpoint = []byte("c")
		s.must(c)
	}
	s.ok("remove", s.Remove(s.ctx(), id))
	for range 2 {
		_, err := s.Session(s.ctx(), "ann", id)
		s.want("session", err, store.ErrNotFound)
		_, err = s.Turn(s.ctx(), "", turn)
		s.want("turn", err, store.ErrNotFound)
		_, err = s.Read(s.ctx(), id, 1, 10, 1000)
		s.want("read", err, store.ErrNotFound)
		_, err = s.CheckpointBefore(s.ctx(), id, 100)
		s.want("checkpoint", err, store.ErrNotFound)
		s.want("commit", s.commit(s.after(id, 300, 1)), store.ErrNotFound)
		s.want("second remove", s.Remove(s.ctx(), id), store.ErrNotFound)
		_, err = s.Claim(s.ctx(), id, s.host)
		s.want("claim", err, store.ErrNotFound)
		n, err := s.SessionCount(s.ctx())
		s.ok("count", err)
		if n != 1 {
			s.Fatalf("%d sessions, want 1", n)
		}
		s.checkEvents(kept, s.readAll(kept, 1, 3), 1, 3)
		s.reopen()
	}
}

func everythingSurvivesReopen(s *suite) {
	id := s.create("ann", 0)
	s.uneven(id, 300)
	active := store.Active
	c := s.after(id, 300, 1)
	c.State, c.Body, c.Spec = &active, []byte("late body"), []byte("late spec")
	s.must(c)
	bytesThen := s.session(id).Bytes
	s.must(s.after(id, 301, 10)) // deltas behind the last row update
	before := s.session(id)
	if before.Bytes <= bytesThen || before.Head != 311 {
		s.Fatalf("ten more events took the journal from %d to %d bytes and the head to %d", bytesThen, before.Bytes, before.Head)
	}
	s.reopen()
	after := s.session(id)
	if after.Head != 311 || after.Bytes != before.Bytes || after.State != store.Active || !bytes.Equal(after.Body, before.Body) || !bytes.Equal(after.Spec, before.Spec) {
		s.Fatalf("before %+v, after %+v", before, after)
	}
	s.checkEvents(id, s.readAll(id, 1, 311), 1, 311)
	s.must(s.after(id, 311, 1))
	var out strings.Builder
	s.ok("dump", store.Dump(s.ctx(), s.Store, id, &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 312 || !strings.Contains(lines[311], `"seq":312,`) {
		s.Fatalf("the dump has %d lines, the last one %s", len(lines), lines[len(lines)-1])
	}
	s.want("dump of an unknown session", store.Dump(s.ctx(), s.Store, event.NewID(), &out), store.ErrNotFound)
}
