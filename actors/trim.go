package actors

import (
	"context"
	"errors"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// trimmed says that a trim has ended.
type trimmed struct{}

// trim removes the oldest turns of a journal that outgrew its limit.
func (s *session) trim(c actor.Context) {
	if s.trimming || s.sinceBytes != 0 {
		return // only just behind a checkpoint
	}
	s.trimming = true
	host, id, self := s.host, s.id, c.Self()
	host.work.Go(func() {
		host.trimJournal(id)
		host.root.Send(self, &trimmed{})
	})
}

// trimJournal drops a session's oldest turns until it fits its limit. It cuts at
// checkpoints only, so every cursor kept can be served, and never into the newest
// one.
func (h *Host) trimJournal(id event.ID) {
	ctx := context.Background()
	rec, err := h.store.Session(ctx, "", id)
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
}
