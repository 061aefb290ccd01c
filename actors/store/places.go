package store

import (
	"sync"

	"github.com/agenthost/agenthost/actors/event"
)

// Place is where an object stands in the list of its kind, which is by creation. N
// tells those of the same moment apart.
type Place struct{ Created, N int64 }

// SessionPlaces is the kind that Places has sessions under; a record has its own.
const SessionPlaces = "session"

// maxPlaces bounds what Places remembers; a page has at most a hundred objects.
const maxPlaces = 4096

// Places remembers where deleted objects stood, so that a caller who deletes what a
// page has shown can still turn to the page behind it. It is in memory and has the
// newest few thousand: else such a cursor names nothing. The zero value is ready, and
// safe for concurrent use.
type Places struct {
	mu   sync.Mutex
	at   map[placed]ownPlace
	made []placed // in the order of their deletion
	next int      // in made, once that is full
}

type placed struct {
	kind string
	id   event.ID
}

type ownPlace struct {
	owner string
	place Place
}

// Left takes note of an object that is being deleted. Saying so of one that then stays
// does no harm: who finds an object does not ask for its place.
func (p *Places) Left(kind, owner string, id event.ID, at Place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at == nil {
		p.at = make(map[placed]ownPlace)
	}
	key := placed{kind, id}
	if _, known := p.at[key]; !known {
		if len(p.made) < maxPlaces {
			p.made = append(p.made, key)
		} else {
			delete(p.at, p.made[p.next])
			p.made[p.next] = key
			p.next = (p.next + 1) % maxPlaces
		}
	}
	p.at[key] = ownPlace{owner, at}
}

// Of is where an object of the owner stood; owner "" is any. ErrNotFound when that is
// not known.
func (p *Places) Of(kind, owner string, id event.ID) (Place, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	got, ok := p.at[placed{kind, id}]
	if !ok || owner != "" && got.owner != owner {
		return Place{}, ErrNotFound
	}
	return got.place, nil
}
