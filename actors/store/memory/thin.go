package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Thin replaces whole commits by one that says less.
func (s *Store) Thin(_ context.Context, id event.ID, first, last int64, events []event.Event) error {
	if err := store.CheckThin(first, last, events); err != nil {
		return err
	}
	if err := s.settled(); err != nil {
		return err
	}
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	got, err := s.find("", id)
	if err != nil {
		return err
	}
	if first <= got.Trimmed {
		return store.ErrTrimmed
	}
	from := slices.IndexFunc(got.chunks, func(k chunk) bool { return k.first == first })
	to := slices.IndexFunc(got.chunks, func(k chunk) bool { return k.last() == last })
	if from < 0 || to < from {
		return fmt.Errorf("%w: events %d to %d of session %s are not whole commits", store.ErrHead, first, last, id)
	}
	k := newChunk(first, events)
	for _, old := range got.chunks[from : to+1] {
		got.Bytes -= old.bytes
	}
	got.Bytes += k.bytes
	got.chunks = slices.Replace(slices.Clone(got.chunks), from, to+1, k)
	return nil
}
