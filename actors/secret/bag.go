package secret

import (
	"container/list"
	"slices"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Values are header values by server and header.
type Values map[string]map[string]spec.Secret

// Set keeps one value.
func (v Values) Set(server, header string, value spec.Secret) {
	if v[server] == nil {
		v[server] = map[string]spec.Secret{}
	}
	v[server][header] = value
}

func (v Values) size() int64 {
	n := int64(bundleCost)
	for server, headers := range v {
		for name, value := range headers {
			n += int64(len(server) + len(name) + len(value.Reveal()) + valueCost)
		}
	}
	return n
}

// What a bundle and a value cost beside their text, roughly.
const (
	bundleCost = 512
	valueCost  = 128
)

// Bag holds bundles of values. When it is full the bundle that was not used for the
// longest time goes: whoever needs it is told to send the values again, as after a
// restart.
type Bag struct {
	max int64

	mu      sync.Mutex
	bytes   int64
	bundles map[event.ID]*bundle
	owners  map[event.ID][]event.ID
	order   *list.List // of event.ID; the front was used last
}

type bundle struct {
	owner   event.ID
	values  Values
	bytes   int64
	at      *list.Element
	retired bool
}

// NewBag makes an empty bag of at most maxBytes.
func NewBag(maxBytes int64) *Bag {
	return &Bag{max: maxBytes, bundles: map[event.ID]*bundle{}, owners: map[event.ID][]event.ID{}, order: list.New()}
}

// Put keeps values for owner, a session or an agent, and names them. The zero id is
// that of no values. The bag owns the map from here on.
func (b *Bag) Put(owner event.ID, values Values) event.ID {
	if len(values) == 0 {
		return event.ID{}
	}
	id, n := event.NewID(), values.size()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bundles[id] = &bundle{owner: owner, values: values, bytes: n, at: b.order.PushFront(id)}
	b.owners[owner] = append(b.owners[owner], id)
	b.bytes += n
	for b.bytes > b.max && b.order.Len() > 1 {
		b.drop(b.order.Back().Value.(event.ID))
	}
	return id
}

// Get finds one value.
func (b *Bag) Get(id event.ID, server, header string) (spec.Secret, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one, ok := b.bundles[id]
	if !ok {
		return spec.Secret{}, false
	}
	b.order.MoveToFront(one.at)
	v, ok := one.values[server][header]
	return v, ok
}

// Drop forgets a bundle.
func (b *Bag) Drop(id event.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(id)
}

// Retire forgets a bundle whose settings were replaced, but not before the next one
// of the same owner: a turn that is just starting may still look it up.
func (b *Bag) Retire(id event.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one, ok := b.bundles[id]
	if !ok {
		return
	}
	for _, other := range slices.Clone(b.owners[one.owner]) {
		if b.bundles[other].retired && other != id {
			b.drop(other)
		}
	}
	one.retired = true
}

// DropOwner forgets all that was kept for owner.
func (b *Bag) DropOwner(owner event.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range slices.Clone(b.owners[owner]) {
		b.drop(id)
	}
}

// Len is the number of bundles.
func (b *Bag) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.bundles)
}

func (b *Bag) drop(id event.ID) {
	one, ok := b.bundles[id]
	if !ok {
		return
	}
	delete(b.bundles, id)
	b.order.Remove(one.at)
	b.bytes -= one.bytes
	left := slices.DeleteFunc(b.owners[one.owner], func(other event.ID) bool { return other == id })
	if len(left) == 0 {
		delete(b.owners, one.owner)
		return
	}
	b.owners[one.owner] = left
}
