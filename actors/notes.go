package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a session about items that stand beside its turns.
type (
	postItems struct {
		owner string
		items []*event.Item
		key   *store.Key
		reply chan answer[*Posted]
	}
	// removeItem is answered once the item is out of every list for good.
	removeItem struct {
		owner string
		turn  event.ID // or note
		item  event.ID
		reply chan answer[struct{}]
	}
)

// PostItems puts items into a session without asking for a turn; they are durable
// when the call returns, and the agent is told of them at its next turn. The
// result's one turn is their note, which is no turn on either wire.
func (h *Host) PostItems(ctx context.Context, owner string, session event.ID, items []*event.Item, key *spec.Key) (*Posted, error) {
	done, earlier, err := h.keyed(ctx, owner, key)
	if err != nil || earlier != nil {
		return earlier, err
	}
	if err = h.changing(ctx); err == nil {
		_, err = h.settings(ctx, owner, session)
	}
	if err != nil {
		done()
		return nil, err
	}
	m := &postItems{owner: owner, items: items, key: h.key(owner, key), reply: make(chan answer[*Posted], 1)}
	h.root.Send(h.supervisor, &toSession{session, m})
	return h.posted(ctx, m.reply, done, func() {})
}

// RemoveItem takes one item out of a session's lists for good. One of a turn that
// has not ended is refused. What the turn's CLI heard or said it may still know,
// and the turn's own objects still tell it; forgetting the turn ends that.
func (h *Host) RemoveItem(ctx context.Context, owner string, session, item event.ID) error {
	if err := h.usable(); err != nil {
		return err
	}
	if err := h.changing(ctx); err != nil {
		return err
	}
	rec, err := h.store.Turn(ctx, owner, event.TurnOf(item))
	if err == nil && rec.Session != session {
		err = store.ErrNotFound
	}
	if err != nil {
		return noItem(err)
	}
	m := &removeItem{owner: owner, turn: rec.ID, item: item, reply: make(chan answer[struct{}], 1)}
	h.root.Send(h.supervisor, &toSession{session, m})
	_, err = await(ctx, h, m.reply)
	return err
}

// Item reads one item of a session, those of notes included; of any session of the
// owner when session is zero.
func (h *Host) Item(ctx context.Context, owner string, session, item event.ID) (*fold.ItemOf, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	t, err := h.turnOrNote(ctx, owner, event.TurnOf(item))
	switch {
	case event.CodeOf(err) == event.TurnNotFound:
		return nil, noItem(store.ErrNotFound)
	case err != nil:
		return nil, err
	case t.Session != session && !session.IsZero():
		return nil, noItem(store.ErrNotFound)
	}
	items := t.AllItems()
	i := indexOf(items, item)
	if i < 0 {
		return nil, noItem(store.ErrNotFound)
	}
	return &items[i], nil
}

// AllItems is Items with those of notes, in the order in which they were accepted.
func (h *Host) AllItems(ctx context.Context, owner string, session event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	return h.items(ctx, owner, session, p, true)
}

func noItem(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return event.Fail(event.ItemNotFound, "there is no such item")
	}
	return storeFailure(err)
}

// loadNote reads a note; one whose event was trimmed has no items any more.
func (h *Host) loadNote(ctx context.Context, rec *store.Turn) (*fold.Turn, error) {
	t, err := turnOf(rec)
	if err != nil {
		return nil, err
	}
	events, err := h.store.Read(ctx, rec.Session, rec.First, rec.First, 1)
	if errors.Is(err, store.ErrTrimmed) {
		return t, nil
	}
	if err != nil {
		return nil, storeFailure(err)
	}
	if len(events) == 0 || events[0].Turn != rec.ID {
		return nil, storeFailure(fmt.Errorf("%w: note %s has no event %d", store.ErrCorrupt, rec.ID, rec.First))
	}
	if in, ok := events[0].Body.(*event.Input); ok {
		t.Input = in
	}
	return t, nil
}

func (s *session) postItems(c actor.Context, m *postItems) {
	if err := s.check(m.owner); err != nil {
		m.reply <- answer[*Posted]{err: err}
		return
	}
	posted := &Posted{Before: s.state.Session().Head}
	g := s.group(m.key)
	g.durable, g.body = true, true
	s.note(g, m.items, posted)
	posted.Session = s.state.Session()
	answerOf(g.key, posted)
	g.then = append(g.then, func(_ actor.Context, err error) {
		if err != nil {
			m.reply <- answer[*Posted]{err: err}
			return
		}
		m.reply <- answer[*Posted]{value: posted}
	})
	s.flush(c)
}

// note folds posted items into g.
func (s *session) note(g *group, items []*event.Item, posted *Posted) {
	id := event.NewTurnID()
	body := &event.Input{Items: make([]*event.Item, len(items))}
	for i, it := range items {
		own := *it
		own.ID = event.ItemID(id, uint32(i))
		body.Items[i] = &own
	}
	before := g.batch.Bytes
	v := s.add(g, event.Event{Kind: event.ItemsPosted, Turn: id, Body: body})
	s.sinceBytes += g.batch.Bytes - before
	posted.Turns = append(posted.Turns, v.Turn)
	s.record(g, v.Turn, store.TurnNote)
}

func (s *session) removeItem(c actor.Context, m *removeItem) {
	err := s.check(m.owner)
	if err == nil && s.state.IsOpen(m.turn) {
		err = event.FailParam(event.ItemInUse, "item_id", "this item belongs to a response that is still running; delete it when the response has ended, or cancel that first")
	}
	if err != nil {
		m.reply <- answer[struct{}]{err: err}
		return
	}
	s.amend(c, &amendment{turn: m.turn, reply: m.reply, change: func(g *group, t *fold.Turn) error {
		if indexOf(t.AllItems(), m.item) < 0 {
			return noItem(store.ErrNotFound)
		}
		s.add(g, event.Event{Kind: event.ItemRemoved, Turn: t.ID, Item: m.item})
		g.durable, g.body = true, true
		less := *t
		less.Removed = append(slices.Clone(t.Removed), m.item)
		state := store.TurnEnded
		if t.Note {
			state = store.TurnNote
		}
		s.record(g, &less, state)
		return nil
	}})
}

// brief puts what was posted before t, and its agent has not heard, into what is
// handed to the CLI. The fold says the same when it folds the turn's start, so it
// is said once.
func (s *session) brief(t *fold.Turn) {
	told := s.state.Told(t)
	in := *t.Input
	if len(told.Before) > 0 || told.Cut {
		in.Prompt = spec.Prompt(spec.Preface(append(told.Before, in.Before...), told.Cut), in.Items)
	}
	if len(told.Instructions) > 0 {
		o := t.Overrides()
		first := t.Settings.Agent.Instructions
		if o.Instructions != nil {
			first = *o.Instructions
		}
		texts := told.Instructions
		if first != "" {
			texts = append([]string{first}, texts...)
		}
		all := strings.Join(texts, "\n\n")
		o.Instructions = &all
		in.Overrides, _ = json.Marshal(&o)
	}
	t.Input = &in
}
