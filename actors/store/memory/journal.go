package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// Read returns events of a window.
func (s *Store) Read(_ context.Context, id event.ID, from, to int64, limit int) ([]event.Event, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	got, err := s.find("", id)
	if err != nil {
		return nil, err
	}
	from = max(from, 1)
	if from <= got.Trimmed {
		return nil, store.ErrTrimmed
	}
	if from > to {
		return nil, nil
	}
	at, _ := slices.BinarySearchFunc(got.chunks, from, func(k chunk, seq int64) int { return cmp.Compare(k.last(), seq) })
	var events []event.Event
	var size int64
	for _, k := range got.chunks[min(at, len(got.chunks)):] {
		if k.first > to || len(events) > 0 && size >= int64(limit) {
			break
		}
		if in := k.window(from, to); len(in) > 0 {
			events = append(events, in...)
			size += k.bytes
		}
	}
	return events, nil
}

// CheckpointBefore returns the newest checkpoint with Seq <= seq.
func (s *Store) CheckpointBefore(_ context.Context, id event.ID, seq int64) (store.Checkpoint, error) {
	if err := s.readable(); err != nil {
		return store.Checkpoint{}, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	got, err := s.find("", id)
	if err != nil {
		return store.Checkpoint{}, err
	}
	for i := len(got.checkpoints) - 1; i >= 0; i-- {
		if got.checkpoints[i].Seq <= seq {
			return got.checkpoints[i], nil
		}
	}
	return store.Checkpoint{}, nil
}

// CheckpointAfter returns the oldest checkpoint with Seq >= seq.
func (s *Store) CheckpointAfter(_ context.Context, id event.ID, seq int64) (store.Checkpoint, error) {
	if err := s.readable(); err != nil {
		return store.Checkpoint{}, err
	}
	s.data.mu.RLock()
	defer s.data.mu.RUnlock()
	got, err := s.find("", id)
	if err != nil {
		return store.Checkpoint{}, err
	}
	for _, k := range got.checkpoints {
		if k.Seq >= seq {
			return k, nil
		}
	}
	return store.Checkpoint{}, nil
}

// Trim removes whole commits up to and including seq, and the checkpoints that
// no reader can start from any more.
func (s *Store) Trim(_ context.Context, id event.ID, seq int64) (int64, error) {
	if err := s.settled(); err != nil {
		return 0, err
	}
	s.data.mu.Lock()
	defer s.data.mu.Unlock()
	got, err := s.find("", id)
	if err != nil {
		return 0, err
	}
	n := 0
	for n < len(got.chunks) && got.chunks[n].last() <= seq {
		got.Trimmed = got.chunks[n].last()
		got.Bytes -= got.chunks[n].bytes
		n++
	}
	got.chunks = slices.Delete(got.chunks, 0, n)
	old := 0
	for old+1 < len(got.checkpoints) && got.checkpoints[old+1].Seq <= got.Trimmed {
		old++
	}
	got.checkpoints = slices.Delete(got.checkpoints, 0, old)
	return got.Trimmed, nil
}
