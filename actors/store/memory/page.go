package memory

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// page cuts a page out of all, which is in ascending order. keep hides entries;
// the cursor must be a kept one or one that known accepts.
func page[T any](all []T, p spec.Page, id func(T) event.ID, seen func(T) bool, keep func(T) bool) ([]T, bool, error) {
	at, step, end := 0, 1, len(all)
	if p.Desc {
		at, step, end = len(all)-1, -1, -1
	}
	if !p.After.IsZero() {
		for at != end && (id(all[at]) != p.After || !seen(all[at])) {
			at += step
		}
		if at == end {
			return nil, false, store.ErrNotFound
		}
		at += step
	}
	var list []T
	for ; at != end; at += step {
		if !seen(all[at]) || !keep(all[at]) {
			continue
		}
		if p.Limit > 0 && len(list) == p.Limit {
			return list, true, nil
		}
		list = append(list, all[at])
	}
	return list, false, nil
}
