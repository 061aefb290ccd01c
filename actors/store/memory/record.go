package memory

import (
	"bytes"
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

type recordName struct {
	kind string
	id   event.ID
}

type record struct {
	store.Record
	n int64
}

func (r *record) place() store.Place { return store.Place{Created: r.Created, N: r.n} }

func (r *record) view() *store.Record {
	v := r.Record
	return &v
}

// PutRecord inserts or replaces by (kind, id). ErrExists when the id is another
// owner's.
func (s *Store) PutRecord(_ context.Context, r *store.Record) error {
	if err := s.settled(); err != nil {
		return err
	}
	d := s.data
	d.mu.Lock()
	defer d.mu.Unlock()
	name := recordName{r.Kind, r.ID}
	put := &record{Record: *r}
	put.Body, put.Key = bytes.Clone(r.Body), nil
	if old := d.records[name]; old != nil {
		if old.Owner != r.Owner {
			return store.ErrExists
		}
		put.n = old.n
	}
	if err := d.admitKey(r.Key); err != nil {
		return err
	}
	if put.n == 0 {
		d.made++
		put.n = d.made
	}
	d.records[name] = put
	d.putKey(r.Key)
	return nil
}

// GetRecord looks a record up.
func (s *Store) GetRecord(_ context.Context, kind, owner string, id event.ID) (*store.Record, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	r := s.data.records[recordName{kind, id}]
	if r == nil || owner != "" && r.Owner != owner {
		return nil, store.ErrNotFound
	}
	return r.view(), nil
}

// RecordsNamed returns the owner's records of that name.
func (s *Store) RecordsNamed(_ context.Context, kind, owner, name string) ([]*store.Record, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	var list []*store.Record
	for _, r := range s.records(kind, owner) {
		if r.Name == name {
			list = append(list, r.view())
		}
	}
	return list, nil
}

// Records lists by creation.
func (s *Store) Records(_ context.Context, kind, owner string, p spec.Page) ([]*store.Record, bool, error) {
	if err := s.readable(); err != nil {
		return nil, false, err
	}
	all := func(*record) bool { return true }
	records := list[*record]{
		all:   s.records(kind, owner),
		id:    func(r *record) event.ID { return r.ID },
		place: (*record).place,
		seen:  all,
		keep:  all,
		left:  func(id event.ID) (store.Place, error) { return s.data.left.Of(kind, owner, id) },
	}
	got, more, err := records.page(p)
	out := make([]*store.Record, len(got))
	for i, r := range got {
		out[i] = r.view()
	}
	return out, more, err
}

// DeleteRecord removes one.
func (s *Store) DeleteRecord(_ context.Context, kind, owner string, id event.ID) error {
	if err := s.settled(); err != nil {
		return err
	}
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	name := recordName{kind, id}
	r := s.data.records[name]
	if r == nil || owner != "" && r.Owner != owner {
		return store.ErrNotFound
	}
	delete(s.data.records, name)
	s.data.left.Left(kind, r.Owner, id, r.place())
	return nil
}

// records is the owner's records by creation; owner "" is any.
func (s *Store) records(kind, owner string) []*record {
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	var list []*record
	for name, r := range s.data.records {
		if name.kind == kind && (owner == "" || r.Owner == owner) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *record) int {
		return compare(a.place(), b.place())
	})
	return list
}
