package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/store"
)

// IdleSessions lists the sessions that rest, the longest idle first.
func (s *Store) IdleSessions(_ context.Context, after store.IdleSession, limit int) ([]store.IdleSession, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	var list []store.IdleSession
	for _, r := range s.data.order {
		one := store.IdleSession{ID: r.ID, Active: r.Active, Bytes: r.Bytes, N: r.n}
		if r.State == store.Idle && byIdleness(one, after) > 0 {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, byIdleness)
	return list[:min(limit, len(list))], nil
}

func byIdleness(a, b store.IdleSession) int {
	return cmp.Or(cmp.Compare(a.Active, b.Active), cmp.Compare(a.N, b.N))
}

// Room always is: there is no disk.
func (s *Store) Room() error { return nil }

// Used sums the journals. Removed sessions are gone at once.
func (s *Store) Used(context.Context) (bytes int64, purging bool, err error) {
	if err := s.readable(); err != nil {
		return 0, false, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	for _, r := range s.data.order {
		bytes += r.Bytes
	}
	return bytes, false, nil
}
