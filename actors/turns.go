package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// Turn reads a turn with its items, as far as it has come.
func (h *Host) Turn(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	rec, err := h.turnRecord(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	return h.turnOf(ctx, owner, rec)
}

// TurnInBrief is a turn with neither items nor settings once it has ended, which costs
// one look-up.
func (h *Host) TurnInBrief(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	rec, err := h.turnRecord(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if rec.State == store.TurnOpen {
		return h.turnOf(ctx, owner, rec)
	}
	return turnOf(rec)
}

// turnRecord is the record of a turn; a note is none.
func (h *Host) turnRecord(ctx context.Context, owner string, id event.ID) (*store.Turn, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	rec, err := h.store.Turn(ctx, owner, id)
	if err == nil && rec.State == store.TurnNote {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, noTurn(err)
	}
	return rec, nil
}

func (h *Host) turnOrNote(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	rec, err := h.store.Turn(ctx, owner, id)
	if err != nil {
		return nil, noTurn(err)
	}
	return h.turnOf(ctx, owner, rec)
}

// turnOf reads the turn or the note of a record.
func (h *Host) turnOf(ctx context.Context, owner string, rec *store.Turn) (*fold.Turn, error) {
	if rec.State == store.TurnNote {
		return h.loadNote(ctx, rec)
	}
	if rec.State == store.TurnOpen {
		m := &showTurn{owner: owner, turn: rec.ID, reply: make(chan answer[*fold.Turn], 1)}
		h.root.Send(h.supervisor, &toSession{rec.Session, m})
		t, err := await(ctx, h, m.reply)
		if err != nil || t != nil {
			return t, err
		}
		// It has ended meanwhile, and its record has changed.
		if rec, err = h.store.Turn(ctx, "", rec.ID); err != nil {
			return nil, noTurn(err)
		}
	}
	return h.loadTurn(ctx, rec)
}

func noTurn(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return event.Fail(event.TurnNotFound, "there is no such turn")
	}
	return storeFailure(err)
}

// loadTurn folds an ended turn from the journal.
func (h *Host) loadTurn(ctx context.Context, rec *store.Turn) (*fold.Turn, error) {
	if rec.State == store.TurnForgotten {
		return h.slimTurn(ctx, rec)
	}
	r, err := h.newReplay(ctx, rec.Session, rec.First-1, toNow)
	if event.CodeOf(err) == event.CursorEvicted {
		return h.slimTurn(ctx, rec) // what is left of a trimmed turn
	}
	if err != nil {
		return nil, err
	}
	r.hidden[rec.ID] = false
	for r.head() < rec.Last {
		b, err := r.next(ctx, rec.Last)
		if err != nil {
			return nil, err
		}
		for i := range b.Events {
			if b.Events[i].Turn != rec.ID || b.Events[i].Kind != event.TurnEnded {
				continue
			}
			kept, err := turnOf(rec)
			if err != nil {
				return nil, err
			}
			t := *b.View(i).Turn
			t.Removed = kept.Removed
			return &t, nil
		}
	}
	return nil, storeFailure(fmt.Errorf("%w: turn %s has no end in the journal", store.ErrCorrupt, rec.ID))
}

// slimTurn is a turn as its record tells it: without items.
func (h *Host) slimTurn(ctx context.Context, rec *store.Turn) (*fold.Turn, error) {
	t, err := turnOf(rec)
	if err != nil {
		return nil, err
	}
	t.Settings, err = h.settings(ctx, "", rec.Session)
	return t, err
}

func turnOf(rec *store.Turn) (*fold.Turn, error) {
	t := new(fold.Turn)
	if err := json.Unmarshal(rec.Body, t); err != nil {
		return nil, storeFailure(fmt.Errorf("%w: record of turn %s: %w", store.ErrCorrupt, rec.ID, err))
	}
	t.Forgotten = rec.State == store.TurnForgotten
	return t, nil
}

// Turns lists a session's turns without their items.
func (h *Host) Turns(ctx context.Context, owner string, session event.ID, p spec.Page) ([]*fold.Turn, bool, error) {
	settings, err := h.settings(ctx, owner, session)
	if err != nil {
		return nil, false, err
	}
	recs, more, err := h.turnRecords(ctx, session, p)
	if err != nil {
		return nil, false, cursorFailure(err)
	}
	out := make([]*fold.Turn, 0, len(recs))
	for _, rec := range recs {
		t, err := turnOf(rec)
		if err != nil {
			return nil, false, err
		}
		if rec.State == store.TurnOpen {
			if live, err := h.Turn(ctx, owner, rec.ID); err == nil {
				t = live
			}
		}
		t.Settings = settings
		out = append(out, t)
	}
	return out, more, nil
}

// turnRecords are a page of a session's turns without the notes among them.
func (h *Host) turnRecords(ctx context.Context, session event.ID, p spec.Page) ([]*store.Turn, bool, error) {
	var out []*store.Turn
	at := p
	if p.Limit > 0 {
		at.Limit = p.Limit + 1
	}
	for {
		recs, more, err := h.store.Turns(ctx, session, at)
		if err != nil {
			return nil, false, err
		}
		for _, rec := range recs {
			at.After = rec.ID
			if rec.State == store.TurnNote {
				continue
			}
			if p.Limit > 0 && len(out) == p.Limit {
				return out, true, nil
			}
			out = append(out, rec)
		}
		if !more {
			return out, false, nil
		}
	}
}

// TurnItems lists one turn's items, the caller's messages included.
func (h *Host) TurnItems(ctx context.Context, owner string, session, turn event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	t, err := h.Turn(ctx, owner, turn)
	if err != nil {
		return nil, false, err
	}
	return itemsOf(t, session, p)
}

// itemsOf is a page of a turn's or a note's items. One that was removed is in no
// page, but still a place to go on from.
func itemsOf(t *fold.Turn, session event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	if t.Session != session {
		return nil, false, event.Fail(event.TurnNotFound, "there is no such turn")
	}
	whole := *t
	whole.Removed = nil
	items := reversed(whole.AllItems(), p.Desc)
	if !p.After.IsZero() {
		i := indexOf(items, p.After)
		if i < 0 {
			return nil, false, cursorFailure(store.ErrNotFound)
		}
		items = items[i+1:]
	}
	if gone := t.Hidden(); len(gone) > 0 {
		items = slices.DeleteFunc(items, func(i fold.ItemOf) bool { return gone[i.Item.ID] })
	}
	if p.Limit > 0 && len(items) > p.Limit {
		return items[:p.Limit], true, nil
	}
	return items, false, nil
}

func indexOf(items []fold.ItemOf, id event.ID) int {
	for i := range items {
		if items[i].Item.ID == id {
			return i
		}
	}
	return -1
}

// Items lists the items of a session's turns in the order of the turns.
func (h *Host) Items(ctx context.Context, owner string, session event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	return h.items(ctx, owner, session, p, false)
}

// items lists what Items does, and with notes those of notes.
func (h *Host) items(ctx context.Context, owner string, session event.ID, p spec.Page, notes bool) ([]fold.ItemOf, bool, error) {
	read := h.Turn
	if notes {
		read = h.turnOrNote
	}
	if err := h.usable(); err != nil {
		return nil, false, err
	}
	if _, err := h.store.Session(ctx, owner, session); err != nil {
		return nil, false, h.noSession(err)
	}
	var out []fold.ItemOf
	turns := spec.Page{Limit: 20, Desc: p.Desc}
	if !p.After.IsZero() {
		// The cursor's own turn first, from behind the cursor.
		id := event.TurnOf(p.After)
		var rest []fold.ItemOf
		var more bool
		t, err := read(ctx, owner, id)
		if err == nil {
			rest, more, err = itemsOf(t, session, p)
		}
		if err != nil {
			return nil, false, cursorFailure(store.ErrNotFound)
		}
		if more {
			return rest, true, nil
		}
		out, turns.After = rest, id
	}
	for {
		recs, more, err := h.store.Turns(ctx, session, turns)
		if err != nil {
			return nil, false, cursorFailure(err)
		}
		for _, rec := range recs {
			turns.After = rec.ID
			if rec.State == store.TurnNote && !notes {
				continue
			}
			t, err := read(ctx, owner, rec.ID)
			if err != nil {
				return nil, false, err
			}
			out = append(out, reversed(t.AllItems(), p.Desc)...)
			if p.Limit > 0 && len(out) > p.Limit {
				return out[:p.Limit], true, nil
			}
		}
		if !more {
			return out, false, nil
		}
	}
}

// CancelTurn asks for the end of a turn and returns it as it is now. A turn that
// has ended is returned unchanged.
func (h *Host) CancelTurn(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	rec, err := h.turnRecord(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if rec.State == store.TurnOpen {
		m := &cancelTurn{owner: owner, turn: id, reply: make(chan answer[*fold.Turn], 1)}
		h.root.Send(h.supervisor, &toSession{rec.Session, m})
		t, err := await(ctx, h, m.reply)
		if err != nil || t != nil {
			return t, err
		}
		return h.turnOrNote(ctx, owner, id)
	}
	return h.loadTurn(ctx, rec)
}

// ForgetTurn removes a turn's items from both wires; its id, status and usage
// stay. A turn that has not ended is cancelled first. The id of one of several legs
// removes that leg's only, and with the last of them the turn's.
func (h *Host) ForgetTurn(ctx context.Context, owner string, id event.ID) error {
	turn, _, ok := event.LegOf(id)
	rec, err := h.turnRecord(ctx, owner, turn)
	if err != nil {
		return err
	}
	if !ok || rec.State == store.TurnForgotten {
		return event.Fail(event.TurnNotFound, "there is no such turn")
	}
	m := &forgetTurn{owner: owner, turn: turn, leg: id, reply: make(chan answer[struct{}], 1)}
	h.root.Send(h.supervisor, &toSession{rec.Session, m})
	_, err = await(ctx, h, m.reply)
	return err
}

// loadSession reads a session for its actor: the nearest checkpoint and what
// follows, and the claim of its ownership. With fence it is claimed anew, so that
// a commit under way by its former actor is refused or seen.
func (h *Host) loadSession(ctx context.Context, id event.ID, fence bool) (*store.Session, *fold.State, error) {
	rec, err := h.store.Session(ctx, "", id)
	if err != nil {
		return nil, nil, storeFailure(err)
	}
	if rec.State == store.Deleted {
		return rec, nil, nil
	}
	former := rec.Host
	if rec.Host != h.id || fence {
		if rec, err = h.store.Claim(ctx, id, h.id); err != nil {
			return nil, nil, storeFailure(err)
		}
	}
	r, err := h.newReplay(ctx, id, rec.Head, toNow)
	if err != nil {
		return nil, nil, err
	}
	rec.Host = former
	return rec, r.state, nil
}
