package responses_test

import (
	"cmp"
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// post writes a note and publishes it.
func (s *fakeSession) post(items []*event.Item) *fold.Turn {
	id := event.NewTurnID()
	in := &event.Input{}
	for i, it := range items {
		own := *it
		own.ID = event.ItemID(id, uint32(i))
		in.Items = append(in.Items, &own)
	}
	s.h.add(event.Event{Kind: event.ItemsPosted, Turn: id, Body: in})
	s.publish()
	return s.turns[id]
}

func (e *fakeEngine) PostItems(_ context.Context, owner string, id event.ID, items []*event.Item, key *spec.Key) (*call.Posted, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p, err := e.known(key); p != nil || err != nil {
		return p, err
	}
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	p := &call.Posted{Turns: []*fold.Turn{s.post(items)}, Session: s.h.state.Session()}
	if key != nil {
		e.keys[key.Value], e.hashes[key.Value] = p, key.Hash
	}
	return p, nil
}

func (s *fakeSession) items() (all []fold.ItemOf) {
	turns := []*fold.Turn{}
	for id, t := range s.turns {
		if now, ok := s.h.state.Turn(id); ok {
			t = now
		}
		turns = append(turns, t)
	}
	slices.SortFunc(turns, func(a, b *fold.Turn) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	for _, t := range turns {
		all = append(all, t.AllItems()...)
	}
	return all
}

func (e *fakeEngine) AllItems(_ context.Context, owner string, id event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.find(owner, id)
	if err != nil {
		return nil, false, err
	}
	items := s.items()
	if p.Desc {
		slices.Reverse(items)
	}
	if !p.After.IsZero() {
		at := slices.IndexFunc(items, func(i fold.ItemOf) bool { return i.Item.ID == p.After })
		if at < 0 {
			return nil, false, event.Fail(event.CursorNotFound, "no such cursor")
		}
		items = items[at+1:]
	}
	n := min(len(items), p.Limit)
	return items[:n], n < len(items), nil
}

func (e *fakeEngine) Item(_ context.Context, owner string, session, item event.ID) (*fold.ItemOf, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, s := range e.sessions {
		if s.owner != owner || !session.IsZero() && id != session {
			continue
		}
		for _, i := range s.items() {
			if i.Item.ID == item {
				return &i, nil
			}
		}
	}
	return nil, event.Fail(event.ItemNotFound, "no such item")
}

func (e *fakeEngine) RemoveItem(ctx context.Context, owner string, session, item event.ID) error {
	if _, err := e.Item(ctx, owner, session, item); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[session]
	for id, t := range s.turns {
		if slices.ContainsFunc(t.AllItems(), func(i fold.ItemOf) bool { return i.Item.ID == item }) {
			if !t.Status.Ended() {
				return event.FailParam(event.ItemInUse, "item_id", "it runs")
			}
			s.h.add(event.Event{Kind: event.ItemRemoved, Turn: id, Item: item})
		}
	}
	s.publish()
	return nil
}

func (e *fakeEngine) UpdateSession(_ context.Context, owner string, id event.ID, u *spec.Update) (*fold.Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	s.h.set(*u.Apply(s.h.state.Settings()))
	s.publish()
	now := s.h.state.Session()
	return &now, nil
}

func (e *fakeEngine) DeleteSession(_ context.Context, owner string, id event.ID) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.find(owner, id); err != nil {
		return err
	}
	delete(e.sessions, id)
	return nil
}
