package actors

import (
	"context"
	"errors"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// The four say whose something is, "" when there is nothing of that id. They are for
// who decides whether a principal may see what is another's: every other method of
// the Host looks at one owner's and knows no more than that.

// SessionOwner is the principal of a session.
func (h *Host) SessionOwner(ctx context.Context, id event.ID) (string, error) {
	if err := h.usable(); err != nil {
		return "", err
	}
	rec, err := h.store.Session(ctx, "", id)
	if err != nil {
		return "", unowned(err)
	}
	return rec.Owner, nil
}

// TurnOwner is the principal of a turn's session.
func (h *Host) TurnOwner(ctx context.Context, id event.ID) (string, error) {
	if err := h.usable(); err != nil {
		return "", err
	}
	rec, err := h.store.Turn(ctx, "", id)
	if err != nil {
		return "", unowned(err)
	}
	return h.SessionOwner(ctx, rec.Session)
}

// AgentOwner is the principal of a saved agent; one of the configuration has none.
func (h *Host) AgentOwner(ctx context.Context, id event.ID) (string, error) {
	return h.recordOwner(ctx, agentKind, id)
}

// FileOwner is the principal of a stored file.
func (h *Host) FileOwner(ctx context.Context, id event.ID) (string, error) {
	return h.recordOwner(ctx, fileKind, id)
}

func (h *Host) recordOwner(ctx context.Context, kind string, id event.ID) (string, error) {
	if err := h.usable(); err != nil {
		return "", err
	}
	rec, err := h.store.GetRecord(ctx, kind, "", id)
	if err != nil {
		return "", unowned(err)
	}
	return rec.Owner, nil
}

func unowned(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return storeFailure(err)
}
