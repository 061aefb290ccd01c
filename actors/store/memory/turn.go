package memory

import (
	"context"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// Turn looks a turn up.
func (s *Store) Turn(_ context.Context, owner string, id event.ID) (*store.Turn, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	t := s.data.turns[id]
	if t == nil || s.data.seen(owner, t.Session) == nil {
		return nil, store.ErrNotFound
	}
	v := *t
	return &v, nil
}

// Turns lists a session's turns by ordinal.
func (s *Store) Turns(_ context.Context, id event.ID, p spec.Page) ([]*store.Turn, bool, error) {
	if err := s.readable(); err != nil {
		return nil, false, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	got, err := s.find("", id)
	if err != nil {
		return nil, false, err
	}
	all := func(*store.Turn) bool { return true }
	turns := list[*store.Turn]{
		all:   got.turns,
		id:    func(t *store.Turn) event.ID { return t.ID },
		place: func(t *store.Turn) store.Place { return store.Place{N: t.Ordinal} },
		seen:  all,
		keep:  all,
		left:  func(event.ID) (store.Place, error) { return store.Place{}, store.ErrNotFound }, // turns go with their session
	}
	found, more, err := turns.page(p)
	out := make([]*store.Turn, len(found))
	for i, t := range found {
		v := *t
		out[i] = &v
	}
	return out, more, err
}

// NextNumber is one more than the highest acceptance number ever stored.
func (s *Store) NextNumber(context.Context) (int64, error) {
	if err := s.readable(); err != nil {
		return 0, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	return s.data.number + 1, nil
}

// Key looks an idempotency key up.
func (s *Store) Key(_ context.Context, owner, value string, now int64) (*store.Key, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	k := s.data.keys[keyName{owner, value}]
	if k == nil || now-k.Created >= store.KeyTTL {
		return nil, store.ErrNotFound
	}
	return cloneKey(k), nil
}
