package store_test

import (
	"errors"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

func TestPlacesAreBounded(t *testing.T) {
	t.Parallel()
	var p store.Places
	first, last := event.NewID(), event.NewID()
	p.Left("note", "ann", first, store.Place{Created: 1, N: 1})
	for i := range int64(5000) {
		p.Left("note", "ann", event.NewID(), store.Place{Created: 2, N: i})
	}
	p.Left("note", "ann", last, store.Place{Created: 3, N: 9})
	p.Left("note", "ann", last, store.Place{Created: 3, N: 9}) // a change that was tried twice
	if _, err := p.Of("note", "ann", first); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the oldest of 5,002 is still known: %v", err)
	}
	if at, err := p.Of("note", "", last); err != nil || at != (store.Place{Created: 3, N: 9}) {
		t.Errorf("the newest is at %v, %v", at, err)
	}
	for _, c := range []struct{ kind, owner string }{{"note", "bob"}, {"agent", "ann"}} {
		if _, err := p.Of(c.kind, c.owner, last); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("known as %s of %s: %v", c.kind, c.owner, err)
		}
	}
}
