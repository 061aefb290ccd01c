package memory

import (
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// Session looks a record up.
func (s *Store) Session(_ context.Context, owner string, id event.ID) (*store.Session, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	got, err := s.find(owner, id)
	if err != nil {
		return nil, err
	}
	return got.view(), nil
}

// Sessions lists records by creation.
func (s *Store) Sessions(_ context.Context, f store.SessionFilter, p spec.Page) ([]*store.Session, bool, error) {
	if err := s.readable(); err != nil {
		return nil, false, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	sessions := list[*session]{
		all:   s.data.order,
		id:    func(r *session) event.ID { return r.ID },
		place: (*session).place,
		seen:  func(r *session) bool { return s.data.seen(f.Owner, r.ID) != nil },
		keep:  func(r *session) bool { return f.Match == nil || f.Match(r.view()) },
		left:  func(id event.ID) (store.Place, error) { return s.data.left.Of(store.SessionPlaces, f.Owner, id) },
	}
	got, more, err := sessions.page(p)
	out := make([]*store.Session, len(got))
	for i, r := range got {
		out[i] = r.view()
	}
	return out, more, err
}

// ActiveSessions lists every session whose State is Active.
func (s *Store) ActiveSessions(context.Context) ([]*store.Session, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	var list []*store.Session
	for _, r := range s.data.order {
		if r.State == store.Active {
			list = append(list, r.view())
		}
	}
	return list, nil
}

// SessionCount counts records that are not deleted.
func (s *Store) SessionCount(context.Context) (int64, error) {
	if err := s.readable(); err != nil {
		return 0, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	return int64(len(s.data.order)), nil
}

// Claim makes host the owner and returns the new epoch.
func (s *Store) Claim(_ context.Context, id, host event.ID) (*store.Session, error) {
	if err := s.settled(); err != nil {
		return nil, err
	}
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	got, err := s.find("", id)
	if err != nil {
		return nil, err
	}
	got.Host = host
	got.Epoch++
	return got.view(), nil
}

// Remove deletes the session with everything below it.
func (s *Store) Remove(_ context.Context, id event.ID) error {
	if err := s.settled(); err != nil {
		return err
	}
	d := s.data
	d.mu.Lock()
	defer d.mu.Unlock()
	got, err := s.find("", id)
	if err != nil {
		return err
	}
	for _, t := range got.turns {
		delete(d.turns, t.ID)
	}
	delete(d.sessions, id)
	d.left.Left(store.SessionPlaces, got.Owner, id, got.place())
	if at, ok := slices.BinarySearchFunc(d.order, got, byCreation); ok {
		d.order = slices.Delete(d.order, at, at+1)
	}
	return nil
}
