package actors

import (
	"context"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// Subagent reads a subagent of a session with what it did, as far as it has come.
func (h *Host) Subagent(ctx context.Context, owner string, session, id event.ID) (*fold.Subagent, error) {
	t, err := h.Turn(ctx, owner, event.TurnOf(id))
	if code := event.CodeOf(err); code == event.TurnNotFound || code == event.NotFound {
		return nil, noSubagent()
	}
	if err != nil {
		return nil, err
	}
	s := t.FindSubagent(id)
	if s == nil || t.Session != session {
		return nil, noSubagent()
	}
	return s, nil
}

func noSubagent() error { return event.Fail(event.SubagentNotFound, "there is no such subagent") }

// Subagents lists a session's subagents in the order they began, turn by turn.
// Turns that had none are not read.
func (h *Host) Subagents(ctx context.Context, owner string, session event.ID, p spec.Page) ([]*fold.Subagent, bool, error) {
	if err := h.usable(); err != nil {
		return nil, false, err
	}
	if _, err := h.store.Session(ctx, owner, session); err != nil {
		return nil, false, h.noSession(err)
	}
	var out []*fold.Subagent
	turns := spec.Page{Limit: 100, Desc: p.Desc}
	if !p.After.IsZero() {
		// The cursor's own turn first, from behind the cursor.
		s, err := h.Subagent(ctx, owner, session, p.After)
		if err != nil {
			return nil, false, cursorFailure(store.ErrNotFound)
		}
		turns.After = s.Turn
		t, err := h.Turn(ctx, owner, s.Turn)
		if err != nil {
			return nil, false, err
		}
		list := reversed(slices.Clone(t.Subagents), p.Desc)
		for i := range list {
			if list[i].ID() == p.After {
				out = append(out, list[i+1:]...)
				break
			}
		}
	}
	for {
		if p.Limit > 0 && len(out) > p.Limit {
			return out[:p.Limit], true, nil
		}
		recs, more, err := h.store.Turns(ctx, session, turns)
		if err != nil {
			return nil, false, cursorFailure(err)
		}
		for _, rec := range recs {
			turns.After = rec.ID
			slim, err := turnOf(rec)
			if err != nil {
				return nil, false, err
			}
			if slim.SubagentCount == 0 && rec.State != store.TurnOpen {
				continue
			}
			t, err := h.Turn(ctx, owner, rec.ID)
			if err != nil {
				return nil, false, err
			}
			if out = append(out, reversed(slices.Clone(t.Subagents), p.Desc)...); p.Limit > 0 && len(out) > p.Limit {
				return out[:p.Limit], true, nil
			}
		}
		if !more {
			return out, false, nil
		}
	}
}
