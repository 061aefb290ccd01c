package storetest

import (
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

func records(s *suite) {
	a := &store.Record{Kind: "agent", ID: event.NewID(), Owner: "ann", Name: "helper", Created: 5, Body: []byte("first")}
	b := &store.Record{Kind: "agent", ID: event.NewID(), Owner: "ann", Name: "helper", Created: 6}
	other := &store.Record{Kind: "note", ID: a.ID, Owner: "bob", Name: "helper", Created: 1}
	for _, r := range []*store.Record{a, b, other} {
		s.ok("put", s.PutRecord(s.ctx(), r))
	}
	a.Name, a.Body = "renamed", []byte("second")
	s.ok("replace", s.PutRecord(s.ctx(), a))
	for range 2 {
		got, err := s.GetRecord(s.ctx(), "agent", "ann", a.ID)
		s.ok("get", err)
		if got.Kind != "agent" || got.ID != a.ID || got.Owner != "ann" || got.Name != "renamed" || got.Created != 5 || string(got.Body) != "second" {
			s.Fatalf("got %+v", got)
		}
		for name, want := range map[string][]event.ID{"helper": {b.ID}, "renamed": {a.ID}, "nobody": nil} {
			list, err := s.RecordsNamed(s.ctx(), "agent", "ann", name)
			s.ok("named", err)
			var ids []event.ID
			for _, r := range list {
				ids = append(ids, r.ID)
			}
			equalIDs(s.T, name, ids, want)
		}
		s.reopen()
	}
	s.ok("delete", s.DeleteRecord(s.ctx(), "agent", "ann", a.ID))
	s.want("second delete", s.DeleteRecord(s.ctx(), "agent", "ann", a.ID), store.ErrNotFound)
	_, err := s.GetRecord(s.ctx(), "agent", "ann", a.ID)
	s.want("get", err, store.ErrNotFound)
	_, err = s.GetRecord(s.ctx(), "note", "bob", a.ID)
	s.ok("a record of another kind", err)
}

func recordPages(s *suite) {
	const n = 14
	mine, all := make([]event.ID, n), make([]event.ID, 0, 2*n)
	for _, i := range shuffled(n) {
		mine[i] = event.NewID()
		s.ok("put", s.PutRecord(s.ctx(), &store.Record{Kind: "agent", ID: mine[i], Owner: "ann", Name: fmt.Sprint(i), Created: int64(i)}))
		s.ok("put", s.PutRecord(s.ctx(), &store.Record{Kind: "other", ID: event.NewID(), Owner: "ann", Created: int64(i)}))
	}
	all = append(all, mine...)
	for i := range n {
		id := event.NewID()
		all = append(all, id)
		s.ok("put", s.PutRecord(s.ctx(), &store.Record{Kind: "agent", ID: id, Owner: "bob", Created: int64(100 + i)}))
	}
	page := func(owner string) func(spec.Page) ([]event.ID, bool, error) {
		return func(p spec.Page) (ids []event.ID, more bool, err error) {
			list, more, err := s.Store.Records(s.ctx(), "agent", owner, p)
			for _, r := range list {
				ids = append(ids, r.ID)
			}
			return ids, more, err
		}
	}
	s.checkPages(mine, page("ann"))
	s.checkPages(all, page(""))
	s.ok("delete", s.DeleteRecord(s.ctx(), "agent", "ann", mine[3]))
	s.checkPages(slices.Delete(slices.Clone(mine), 3, 4), page("ann"))
	s.checkGone(mine, 3, page)
	s.checkDeletedAsTurned(slices.Delete(mine, 3, 4), page("ann"), func(id event.ID) error { return s.DeleteRecord(s.ctx(), "agent", "ann", id) })
}

func recordsBringKeys(s *suite) {
	r := &store.Record{Kind: "file", ID: event.NewID(), Owner: "ann", Name: "a", Created: 1000, Body: []byte("{}")}
	r.Key = &store.Key{Owner: "ann", Value: "k", Hash: "h", Created: 1000, Answer: []byte("answer")}
	s.ok("put", s.PutRecord(s.ctx(), r))
	s.ok("put again", s.PutRecord(s.ctx(), r))
	other := &store.Record{Kind: "file", ID: event.NewID(), Owner: "ann", Created: 1001, Body: []byte("{}")}
	other.Key = &store.Key{Owner: "ann", Value: "k", Hash: "other", Created: 1001, Answer: []byte("other")}
	s.want("a live key", s.PutRecord(s.ctx(), other), store.ErrExists)
	_, err := s.GetRecord(s.ctx(), "file", "ann", other.ID)
	s.want("the record of a refused key", err, store.ErrNotFound)
	s.reopen()
	k, err := s.Key(s.ctx(), "ann", "k", 1001)
	s.ok("key", err)
	if k.Hash != "h" || string(k.Answer) != "answer" {
		s.Fatalf("got %+v", k)
	}
	got, err := s.GetRecord(s.ctx(), "file", "ann", r.ID)
	s.ok("get", err)
	if got.Key != nil || string(got.Body) != "{}" {
		s.Fatalf("got %+v", got)
	}
}
