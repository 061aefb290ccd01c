package memory

import (
	"cmp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// list is objects in ascending order, with how a page is cut out of them.
type list[T any] struct {
	all   []T
	id    func(T) event.ID
	place func(T) store.Place
	// seen hides those that are no cursors either, keep those that only are in no page.
	seen, keep func(T) bool
	// left is where a deleted one stood.
	left func(event.ID) (store.Place, error)
}

func (l *list[T]) page(p spec.Page) ([]T, bool, error) {
	at, step, end := 0, 1, len(l.all)
	if p.Desc {
		at, step, end = len(l.all)-1, -1, -1
	}
	if !p.After.IsZero() {
		from, err := l.find(p.After)
		if err != nil {
			return nil, false, err
		}
		for at != end && step*compare(l.place(l.all[at]), from) <= 0 {
			at += step
		}
	}
	var out []T
	for ; at != end; at += step {
		if !l.seen(l.all[at]) || !l.keep(l.all[at]) {
			continue
		}
		if p.Limit > 0 && len(out) == p.Limit {
			return out, true, nil
		}
		out = append(out, l.all[at])
	}
	return out, false, nil
}

// find is the place of a cursor.
func (l *list[T]) find(id event.ID) (store.Place, error) {
	for _, e := range l.all {
		if l.id(e) == id && l.seen(e) {
			return l.place(e), nil
		}
	}
	return l.left(id)
}

// compare orders places.
func compare(a, b store.Place) int {
	return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.N, b.N))
}
