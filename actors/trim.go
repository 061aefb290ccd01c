package actors

import (
	"context"
	"errors"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// trimmed says that a trim has ended, and how far the journal has no deltas to drop.
type trimmed struct{ thin int64 }

// trim makes a journal that outgrew its limit smaller.
func (s *session) trim(c actor.Context) {
	if s.sinceBytes != 0 {
		return // only just behind a checkpoint
	}
	if s.trimming {
		s.trimAgain = true
		return
	}
	s.trimming, s.trimAgain = true, false
	host, id, self, thin := s.host, s.id, c.Self(), s.thin
	host.work.Go(func() {
		host.root.Send(self, &trimmed{host.trimJournal(id, thin)})
	})
}

// slimmer goes on after a trim.
func (s *session) slimmer(c actor.Context, thin int64) {
	s.trimming, s.thin = false, thin
	if s.trimAgain && s.state.AtRest() {
		s.trim(c)
	}
}

// trimJournal drops deltas of a session's finished turns, and then its oldest turns,
// until it fits its limit. Turns are cut off at checkpoints only, so every cursor kept
// can be served, and never into the newest one. Up to event thin there are no deltas;
// it returns the new place.
func (h *Host) trimJournal(id event.ID, thin int64) int64 {
	ctx := context.Background()
	rec, err := h.store.Session(ctx, "", id)
	if err == nil && rec.Bytes > h.cfg.limits.JournalMaxBytes {
		if thin, err = h.thin(ctx, rec, thin); err == nil {
			rec, err = h.store.Session(ctx, "", id)
		}
	}
	for err == nil && rec.Bytes > h.cfg.limits.JournalMaxBytes {
		var cp, newest store.Checkpoint
		if cp, err = h.store.CheckpointAfter(ctx, id, rec.Trimmed+1); err != nil || cp.Seq == 0 {
			break
		}
		if newest, err = h.store.CheckpointBefore(ctx, id, rec.Head); err != nil || newest.Seq == cp.Seq {
			break
		}
		if _, err = h.store.Trim(ctx, id, cp.Seq); err != nil {
			break
		}
		before := rec.Trimmed
		if rec, err = h.store.Session(ctx, "", id); err == nil && rec.Trimmed == before {
			break
		}
	}
	if err != nil && !errors.Is(err, store.ErrClosed) {
		h.log.Warn("journal could not be trimmed", "session", id, "error", err)
	}
	return thin
}
