package memory

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// data is what was applied. Handles of one simulated disk share it.
type data struct {
	mu       sync.RWMutex
	sessions map[event.ID]*session
	order    []*session // by creation
	turns    map[event.ID]*store.Turn
	keys     map[keyName]*store.Key
	records  map[recordName]*record
	left     store.Places
	spent    map[spentOn]store.Spend
	made     int64 // counts sessions and records ever made, to break ties
	number   int64
	crashed  bool
}

type session struct {
	store.Session
	n           int64
	chunks      []chunk
	turns       []*store.Turn // by ordinal
	checkpoints []store.Checkpoint
}

// chunk is the events of one commit, the grain of Trim, and the first number that
// they cover.
type chunk struct {
	first  int64
	events []event.Event
	bytes  int64
}

func newChunk(first int64, events []event.Event) chunk {
	k := chunk{first: first, events: slices.Clone(events)}
	for i := range events {
		k.bytes += int64(len(events[i].Text)) + 64
	}
	return k
}

func (c *chunk) last() int64 { return c.events[len(c.events)-1].Seq }

// window is the events of the numbers from..to.
func (c *chunk) window(from, to int64) []event.Event {
	bySeq := func(ev event.Event, seq int64) int { return cmp.Compare(ev.Seq, seq) }
	lo, _ := slices.BinarySearchFunc(c.events, from, bySeq)
	hi, _ := slices.BinarySearchFunc(c.events, to, bySeq)
	if c.first <= to && hi < len(c.events) {
		hi++ // the event at to, or the one that covers it
	}
	return c.events[min(lo, hi):hi]
}

type keyName struct{ owner, value string }

func newData() *data {
	return &data{
		sessions: map[event.ID]*session{}, turns: map[event.ID]*store.Turn{},
		keys: map[keyName]*store.Key{}, records: map[recordName]*record{},
		spent: map[spentOn]store.Spend{},
	}
}

// apply is one commit: all of it or nothing.
func (d *data) apply(c *store.Commit) error {
	if err := c.Check(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[c.Session]
	if done, err := d.admit(s, c); done || err != nil {
		return err
	}
	if s == nil {
		d.made++
		s = &session{n: d.made, Session: store.Session{
			ID: c.Session, Owner: c.Create.Owner, Created: c.Create.Created, State: store.Idle,
			Host: c.Host, Epoch: c.Epoch, Head: c.Create.Trimmed, Trimmed: c.Create.Trimmed, Reserved: c.Create.Trimmed + store.Ahead, Active: c.Create.Created,
		}}
		d.sessions[c.Session] = s
		at, _ := slices.BinarySearchFunc(d.order, s, byCreation)
		d.order = slices.Insert(d.order, at, s)
	}
	s.append(c.Events)
	if c.State != nil {
		s.State = *c.State
	}
	if c.Active != 0 {
		s.Active = c.Active
	}
	if c.Body != nil {
		s.Body = bytes.Clone(c.Body)
	}
	if c.Spec != nil {
		s.Spec = bytes.Clone(c.Spec)
	}
	for i := range c.Turns {
		d.putTurn(s, c.Turns[i])
	}
	if c.Checkpoint != nil {
		s.checkpoint(store.Checkpoint{Seq: c.Last(), Body: bytes.Clone(c.Checkpoint)})
	}
	if c.Spend != nil {
		d.spend(s.Owner, c.Spend)
	}
	d.putKey(c.Key)
	return nil
}

// admitKey refuses a key that stands for another request.
func (d *data) admitKey(k *store.Key) error {
	if k == nil {
		return nil
	}
	if old := d.keys[keyName{k.Owner, k.Value}]; old != nil && k.Created-old.Created < store.KeyTTL && !sameKey(old, k) {
		return store.ErrExists
	}
	return nil
}

func (d *data) putKey(k *store.Key) {
	if k != nil {
		d.keys[keyName{k.Owner, k.Value}] = cloneKey(k)
	}
}

// admit decides before anything is changed. done means that c was applied
// before and its answer was lost.
func (d *data) admit(s *session, c *store.Commit) (done bool, err error) {
	switch {
	case s == nil && c.Create == nil, s != nil && s.State == store.Deleted:
		return false, store.ErrNotFound
	case s == nil:
	case s.Host != c.Host || s.Epoch != c.Epoch:
		if c.Create != nil {
			return false, store.ErrExists
		}
		return false, store.ErrFenced
	case s.holds(c):
		return true, nil
	case c.Create != nil:
		if len(c.Events) == 0 && s.Owner == c.Create.Owner && s.Created == c.Create.Created {
			return true, nil
		}
		return false, store.ErrExists
	case s.Head != c.Head:
		return false, store.ErrHead
	}
	if err := d.admitKey(c.Key); err != nil {
		return false, err
	}
	return false, d.admitTurns(s, c)
}

func (d *data) admitTurns(s *session, c *store.Commit) error {
	for i := range c.Turns {
		t := &c.Turns[i]
		if old := d.turns[t.ID]; old != nil && (old.Session != c.Session || old.Ordinal != t.Ordinal) {
			return store.ErrExists
		}
		for j := range c.Turns[:i] {
			if c.Turns[j].Ordinal == t.Ordinal && c.Turns[j].ID != t.ID {
				return store.ErrExists
			}
		}
		if s == nil {
			continue
		}
		if at, ok := slices.BinarySearchFunc(s.turns, t.Ordinal, byOrdinal); ok && s.turns[at].ID != t.ID {
			return store.ErrExists
		}
	}
	return nil
}

// holds reports whether the events of c are already a commit of s.
func (s *session) holds(c *store.Commit) bool {
	if len(c.Events) == 0 || c.Head >= s.Head {
		return false
	}
	at, ok := slices.BinarySearchFunc(s.chunks, c.Head+1, func(k chunk, seq int64) int { return cmp.Compare(k.first, seq) })
	return ok && reflect.DeepEqual(s.chunks[at].events, c.Events)
}

func (s *session) append(events []event.Event) {
	if len(events) == 0 {
		return
	}
	k := newChunk(s.Head+1, events)
	s.chunks = append(s.chunks, k)
	s.Head = k.last()
	if s.Head >= s.Reserved {
		s.Reserved, s.Uncertain = s.Head+store.Ahead, false
	}
	s.Bytes += k.bytes
}

func (s *session) checkpoint(k store.Checkpoint) {
	if n := len(s.checkpoints); n > 0 && s.checkpoints[n-1].Seq == k.Seq {
		s.checkpoints[n-1] = k
		return
	}
	s.checkpoints = append(s.checkpoints, k)
}

func (d *data) putTurn(s *session, t store.Turn) {
	t.Session, t.Body = s.ID, bytes.Clone(t.Body)
	d.number = max(d.number, t.Number)
	d.turns[t.ID] = &t
	at, found := slices.BinarySearchFunc(s.turns, t.Ordinal, byOrdinal)
	if found {
		s.turns[at] = &t
		return
	}
	s.turns = slices.Insert(s.turns, at, &t)
}

func byOrdinal(t *store.Turn, ordinal int64) int { return cmp.Compare(t.Ordinal, ordinal) }

func byCreation(a, b *session) int {
	return compare(a.place(), b.place())
}

func (s *session) place() store.Place { return store.Place{Created: s.Created, N: s.n} }

func cloneKey(k *store.Key) *store.Key {
	c := *k
	c.Answer = bytes.Clone(k.Answer)
	return &c
}

func sameKey(a, b *store.Key) bool {
	return a.Hash == b.Hash && a.Created == b.Created && bytes.Equal(a.Answer, b.Answer)
}

// seen is the live session of the owner, or nil.
func (d *data) seen(owner string, id event.ID) *session {
	s := d.sessions[id]
	if s == nil || s.State == store.Deleted || owner != "" && s.Owner != owner {
		return nil
	}
	return s
}

func (s *session) view() *store.Session {
	v := s.Session
	return &v
}
