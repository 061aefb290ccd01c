package storetest

import (
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

func foreignIsUnknown(s *suite) {
	id := s.create("ann", 1)
	turn := event.NewID()
	c := s.after(id, 1, 1)
	c.Turns = []store.Turn{{ID: turn, Ordinal: 1, Number: 1}}
	s.must(c)
	rec := &store.Record{Kind: "agent", ID: event.NewID(), Owner: "ann", Name: "helper", Created: 1, Body: []byte("b")}
	s.ok("put", s.PutRecord(s.ctx(), rec))

	_, err := s.Session(s.ctx(), "ann", id)
	s.ok("own session", err)
	_, err = s.Session(s.ctx(), "", id)
	s.ok("any session", err)
	_, err = s.Turn(s.ctx(), "ann", turn)
	s.ok("own turn", err)
	_, err = s.GetRecord(s.ctx(), "agent", "", rec.ID)
	s.ok("any record", err)

	_, err = s.Session(s.ctx(), "bob", id)
	s.want("foreign session", err, store.ErrNotFound)
	_, err = s.Turn(s.ctx(), "bob", turn)
	s.want("foreign turn", err, store.ErrNotFound)
	_, err = s.GetRecord(s.ctx(), "agent", "bob", rec.ID)
	s.want("foreign record", err, store.ErrNotFound)
	s.want("deleting a foreign record", s.DeleteRecord(s.ctx(), "agent", "bob", rec.ID), store.ErrNotFound)
	stolen := *rec
	stolen.Owner = "bob"
	s.want("overwriting a foreign record", s.PutRecord(s.ctx(), &stolen), store.ErrExists)
	_, _, err = s.Sessions(s.ctx(), store.SessionFilter{Owner: "bob"}, spec.Page{Limit: 5, After: id})
	s.want("foreign cursor", err, store.ErrNotFound)
	list, more, err := s.Sessions(s.ctx(), store.SessionFilter{Owner: "bob"}, spec.Page{Limit: 5})
	s.ok("list", err)
	if len(list) != 0 || more {
		s.Fatalf("bob sees %d sessions", len(list))
	}
}

// pagesOf walks a list in pages of limit.
func (s *suite) pagesOf(limit int, desc bool, page func(spec.Page) ([]event.ID, bool, error)) []event.ID {
	s.Helper()
	var all []event.ID
	p := spec.Page{Limit: limit, Desc: desc}
	for range 1000 {
		ids, more, err := page(p)
		s.ok("page", err)
		if len(ids) > limit || more && len(ids) < limit {
			s.Fatalf("a page of %d has %d entries and more=%v", limit, len(ids), more)
		}
		all = append(all, ids...)
		if !more {
			return all
		}
		p.After = ids[len(ids)-1]
	}
	s.T.Fatal("the pages do not end")
	return nil
}

// checkPages walks the list both ways with several limits.
func (s *suite) checkPages(want []event.ID, page func(spec.Page) ([]event.ID, bool, error)) {
	s.Helper()
	down := slices.Clone(want)
	slices.Reverse(down)
	for _, limit := range []int{1, 2, 7, len(want), len(want) + 1, 100} {
		equalIDs(s.T, "ascending", s.pagesOf(limit, false, page), want)
		equalIDs(s.T, "descending", s.pagesOf(limit, true, page), down)
	}
	_, _, err := page(spec.Page{Limit: 3, After: event.NewID()})
	s.want("unknown cursor", err, store.ErrNotFound)
}

func sessionPages(s *suite) {
	const n = 14
	byTime, all := make([]event.ID, n), make([]event.ID, 2*n)
	for _, i := range shuffled(n) {
		byTime[i] = s.createAt("ann", 1, int64(1000+i))
		all[2*i] = byTime[i]
		all[2*i+1] = s.createAt("bob", 1, int64(1000+i)) // the same moment: in the order of their making
	}
	page := func(owner string) func(spec.Page) ([]event.ID, bool, error) {
		return func(p spec.Page) (ids []event.ID, more bool, err error) {
			list, more, err := s.Sessions(s.ctx(), store.SessionFilter{Owner: owner}, p)
			for _, r := range list {
				ids = append(ids, r.ID)
			}
			return ids, more, err
		}
	}
	s.checkPages(byTime, page("ann"))
	s.checkPages(all, page(""))
	s.ok("remove", s.Remove(s.ctx(), byTime[3]))
	s.checkPages(slices.Delete(slices.Clone(byTime), 3, 4), page("ann"))
	s.checkGone(byTime, 3, page)
	s.checkDeletedAsTurned(slices.Delete(byTime, 3, 4), page("ann"), func(id event.ID) error { return s.Remove(s.ctx(), id) })
}

// checkGone pages behind object i of ann's, which was deleted: it is in no page, but
// still a place to go on from, and only for its owner.
func (s *suite) checkGone(ids []event.ID, i int, page func(owner string) func(spec.Page) ([]event.ID, bool, error)) {
	s.Helper()
	up, more, err := page("ann")(spec.Page{Limit: 2, After: ids[i]})
	s.ok("behind a deleted one", err)
	equalIDs(s.T, "behind a deleted one", up, ids[i+1:i+3])
	down, _, err := page("ann")(spec.Page{Limit: 2, After: ids[i], Desc: true})
	s.ok("before a deleted one", err)
	equalIDs(s.T, "before a deleted one", down, []event.ID{ids[i-1], ids[i-2]})
	if !more {
		s.Error("no more behind a deleted one")
	}
	_, _, err = page("")(spec.Page{Limit: 3, After: ids[i]})
	s.ok("for the host itself", err)
	_, _, err = page("bob")(spec.Page{Limit: 3, After: ids[i]})
	s.want("a foreign deleted one", err, store.ErrNotFound)
}

// checkDeletedAsTurned deletes what each page shows before it turns to the next.
func (s *suite) checkDeletedAsTurned(want []event.ID, page func(spec.Page) ([]event.ID, bool, error), del func(event.ID) error) {
	s.Helper()
	equalIDs(s.T, "deleted page by page", s.pagesOf(3, false, func(p spec.Page) ([]event.ID, bool, error) {
		ids, more, err := page(p)
		for _, id := range ids {
			s.ok("delete", del(id))
		}
		return ids, more, err
	}), want)
}

func sessionFilter(s *suite) {
	var want []event.ID
	for i := range 150 {
		id := event.NewID()
		body := []byte("odd")
		if i%50 == 0 {
			body = []byte("fiftieth")
			want = append(want, id)
		}
		s.must(&store.Commit{Session: id, Host: s.host, Epoch: 1, Create: &store.NewSession{Owner: "ann", Created: int64(i)}, Body: body})
	}
	s.checkPages(want, func(p spec.Page) (ids []event.ID, more bool, err error) {
		list, more, err := s.Sessions(s.ctx(), store.SessionFilter{Owner: "ann", Match: func(r *store.Session) bool { return string(r.Body) == "fiftieth" }}, p)
		for _, r := range list {
			ids = append(ids, r.ID)
		}
		return ids, more, err
	})
}

func activeSessionsAreFound(s *suite) {
	active, idle := store.Active, store.Idle
	var want []event.ID
	for i := range 150 {
		id := s.create("ann", 1)
		c := s.after(id, 1, 0)
		c.State = &active
		s.must(c)
		switch i % 3 {
		case 0:
			want = append(want, id)
		case 1:
			c = s.after(id, 1, 1)
			c.State = &idle
			s.must(c)
		case 2:
			s.ok("remove", s.Remove(s.ctx(), id))
		}
	}
	for range 2 {
		list, err := s.ActiveSessions(s.ctx())
		s.ok("active sessions", err)
		var got []event.ID
		for _, r := range list {
			got = append(got, r.ID)
		}
		equalIDs(s.T, "active", got, want)
		n, err := s.SessionCount(s.ctx())
		s.ok("count", err)
		if n != 100 {
			s.Fatalf("%d sessions, want 100", n)
		}
		s.reopen()
	}
}

func turnPages(s *suite) {
	id, other := s.create("ann", 0), s.create("ann", 0)
	var want []event.ID
	for i := range int64(14) {
		c, d := s.after(id, i, 1), s.after(other, i, 1)
		want = append(want, event.NewID())
		c.Turns = []store.Turn{{ID: want[i], Ordinal: i + 1, State: store.TurnEnded, First: i + 1, Last: i + 1, Number: 2*i + 1}}
		d.Turns = []store.Turn{{ID: event.NewID(), Ordinal: i + 1, State: store.TurnEnded, First: i + 1, Last: i + 1, Number: 2*i + 2}}
		s.must(c)
		s.must(d)
		if i == 13 {
			_, _, err := s.Turns(s.ctx(), id, spec.Page{Limit: 1, After: d.Turns[0].ID})
			s.want("a cursor of another session", err, store.ErrNotFound)
		}
	}
	s.checkPages(want, func(p spec.Page) (ids []event.ID, more bool, err error) {
		list, more, err := s.Turns(s.ctx(), id, p)
		for _, t := range list {
			if t.Session != id {
				s.Fatalf("turn of session %s", t.Session)
			}
			ids = append(ids, t.ID)
		}
		return ids, more, err
	})
	_, _, err := s.Turns(s.ctx(), event.NewID(), spec.Page{Limit: 1})
	s.want("turns of an unknown session", err, store.ErrNotFound)
}

func turnIsReplaced(s *suite) {
	id, turn := s.create("ann", 0), event.NewID()
	c := s.after(id, 0, 1)
	c.Turns = []store.Turn{{ID: turn, Ordinal: 1, State: store.TurnOpen, First: 1, Number: 9, Body: []byte("open")}}
	s.must(c)
	c = s.after(id, 1, 1)
	c.Turns = []store.Turn{{ID: turn, Ordinal: 1, State: store.TurnEnded, First: 1, Last: 2, Number: 9, Body: []byte("a longer body for the end")}}
	s.must(c)
	for range 2 {
		got, err := s.Turn(s.ctx(), "ann", turn)
		s.ok("turn", err)
		if got.State != store.TurnEnded || got.Last != 2 || string(got.Body) != "a longer body for the end" {
			s.Fatalf("got %+v", got)
		}
		list, _, err := s.Turns(s.ctx(), id, spec.Page{Limit: 5})
		s.ok("turns", err)
		if len(list) != 1 {
			s.Fatalf("%d turns, want 1", len(list))
		}
		s.reopen()
	}
	c = s.after(id, 2, 1)
	c.Turns = []store.Turn{{ID: event.NewID(), Ordinal: 1, Number: 10}}
	s.want("a second turn of that ordinal", s.commit(c), store.ErrExists)
}

func numbersSurvive(s *suite) {
	n, err := s.NextNumber(s.ctx())
	s.ok("number", err)
	if n != 1 {
		s.Fatalf("an empty store starts at %d, want 1", n)
	}
	id := s.create("ann", 0)
	for i, number := range []int64{41, 7} {
		c := s.after(id, int64(i), 1)
		c.Turns = []store.Turn{{ID: event.NewID(), Ordinal: int64(i + 1), Number: number}}
		s.must(c)
	}
	s.ok("remove", s.Remove(s.ctx(), id))
	for range 2 {
		n, err = s.NextNumber(s.ctx())
		s.ok("number", err)
		if n != 42 {
			s.Fatalf("next number %d, want 42", n)
		}
		s.reopen()
	}
}

func keysLiveADay(s *suite) {
	const day = store.KeyTTL
	id := event.NewID()
	s.must(&store.Commit{
		Session: id, Host: s.host, Epoch: 1, Events: Events(id, 1, 1), Create: &store.NewSession{Owner: "ann"},
		Key: &store.Key{Owner: "ann", Value: "k", Hash: "h", Created: 1000, Answer: []byte("answer")},
	})
	got, err := s.Key(s.ctx(), "ann", "k", 1000+day-1)
	s.ok("key", err)
	if got.Owner != "ann" || got.Value != "k" || got.Hash != "h" || got.Created != 1000 || string(got.Answer) != "answer" {
		s.Fatalf("got %+v", got)
	}
	for _, miss := range []struct {
		owner, value string
		now          int64
	}{{"ann", "k", 1000 + day}, {"bob", "k", 1000}, {"ann", "other", 1000}} {
		_, err := s.Key(s.ctx(), miss.owner, miss.value, miss.now)
		s.want("no key", err, store.ErrNotFound)
	}
	c := s.after(id, 1, 1)
	c.Key = &store.Key{Owner: "ann", Value: "k", Hash: "other", Created: 1000 + day - 1}
	s.want("a live key", s.commit(c), store.ErrExists)
	c = s.after(id, 1, 1)
	c.Key = &store.Key{Owner: "bob", Value: "k", Hash: "h", Created: 1000}
	s.must(c)
	c = s.after(id, 2, 1)
	c.Key = &store.Key{Owner: "ann", Value: "k", Hash: "new", Created: 1000 + day}
	s.must(c)
	s.reopen()
	got, err = s.Key(s.ctx(), "ann", "k", 1000+day)
	s.ok("key", err)
	if got.Hash != "new" {
		s.Fatalf("got %+v", got)
	}
}
