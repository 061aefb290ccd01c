package storetest

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// thinIsWholeCommits: commits 1-5, 6-10, 11-15, 16-20.
func thinIsWholeCommits(s *suite) {
	id := s.create("ann", 5)
	for head := int64(5); head < 20; head += 5 {
		s.must(s.after(id, head, 5))
	}
	before := s.session(id)
	gap := func(seq int64) event.Event {
		return event.Event{Kind: event.Skipped, Seq: seq, At: 1, Turn: id}
	}
	slim := []event.Event{sample(id, 6), gap(14), sample(id, 15)}
	s.want("not from a beginning", s.Thin(s.ctx(), id, 7, 15, []event.Event{gap(15)}), store.ErrHead)
	s.want("not to an end", s.Thin(s.ctx(), id, 6, 14, []event.Event{gap(14)}), store.ErrHead)
	s.want("unknown session", s.Thin(s.ctx(), event.NewID(), 6, 15, slim), store.ErrNotFound)
	for what, err := range map[string]error{
		"a number left out": s.Thin(s.ctx(), id, 6, 15, []event.Event{sample(id, 6), sample(id, 8), gap(15)}),
		"a short end":       s.Thin(s.ctx(), id, 6, 15, []event.Event{gap(14)}),
		"nothing":           s.Thin(s.ctx(), id, 6, 15, nil),
	} {
		if err == nil {
			s.Errorf("thin with %s was taken", what)
		}
	}
	s.checkEvents(id, s.readAll(id, 1, 20), 1, 20)
	s.ok("thin", s.Thin(s.ctx(), id, 6, 15, slim))
	check := func() {
		s.Helper()
		list := s.readAll(id, 1, 20)
		if len(list) != 13 || list[5] != sample(id, 6) || list[6] != gap(14) || list[7] != sample(id, 15) || list[8] != sample(id, 16) {
			s.Fatalf("read %+v", list)
		}
		for _, from := range []int64{7, 10, 14} { // a reader who stands in the gap
			list, err := s.Read(s.ctx(), id, from, 20, 4096)
			s.ok("read", err)
			if len(list) == 0 || list[0] != gap(14) {
				s.Fatalf("from %d: %+v", from, list)
			}
		}
		rec := s.session(id)
		if rec.Head != 20 || rec.Trimmed != 0 || rec.Bytes >= before.Bytes {
			s.Fatalf("%+v", rec)
		}
	}
	check()
	s.reopen()
	check()
	s.must(s.after(id, 20, 1))
	// What was made one is cut as one.
	mark, err := s.Trim(s.ctx(), id, 12)
	s.ok("trim", err)
	if mark != 5 {
		s.Fatalf("trimmed to %d, want 5", mark)
	}
	s.want("thin of what is gone", s.Thin(s.ctx(), id, 1, 5, []event.Event{gap(5)}), store.ErrTrimmed)
}
