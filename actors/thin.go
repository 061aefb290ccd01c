package actors

import (
	"context"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// thinBytes bounds what one step of thinning reads and writes.
const thinBytes = 1 << 20

// thin drops the deltas behind event from of items that are done, the oldest first,
// until the journal fits its limit. A done item says everything that its deltas said,
// so a cursor among them stays good: what follows it is whole. It returns how far the
// journal has no more to drop.
func (h *Host) thin(ctx context.Context, rec *store.Session, from int64) (to int64, err error) {
	from = max(from, rec.Trimmed)
	done, err := h.doneItems(ctx, rec, from)
	if err != nil {
		return from, err
	}
	for bytes := rec.Bytes; from < rec.Head && bytes > h.cfg.limits.JournalMaxBytes; {
		// Not over a checkpoint: whole turns are cut there later.
		cp, err := h.store.CheckpointAfter(ctx, rec.ID, from+1)
		if err != nil {
			return from, err
		}
		end := rec.Head
		if cp.Seq > 0 {
			end = min(end, cp.Seq)
		}
		events, err := h.store.Read(ctx, rec.ID, from+1, end, thinBytes)
		if err != nil || len(events) == 0 {
			return from, err
		}
		last := events[len(events)-1].Seq
		if slim := without(events, done); len(slim) < len(events) {
			if err := h.store.Thin(ctx, rec.ID, from+1, last, slim); err != nil {
				return from, err
			}
			now, err := h.store.Session(ctx, "", rec.ID)
			if err != nil {
				return last, err
			}
			bytes = now.Bytes
		}
		from = last
	}
	return from, nil
}

// doneItems are those whose end is in the journal.
func (h *Host) doneItems(ctx context.Context, rec *store.Session, from int64) (map[event.ID]bool, error) {
	done := map[event.ID]bool{}
	for from < rec.Head {
		events, err := h.store.Read(ctx, rec.ID, from+1, rec.Head, thinBytes)
		if err != nil || len(events) == 0 {
			return done, err
		}
		for i := range events {
			if events[i].Kind == event.ItemDone {
				done[events[i].Item] = true
			}
		}
		from = events[len(events)-1].Seq
	}
	return done, nil
}

// without are the events less the deltas of done items. A Skipped event
// of their turn stands for each run of them.
func without(events []event.Event, done map[event.ID]bool) []event.Event {
	slim := make([]event.Event, 0, len(events))
	for i := range events {
		ev := events[i]
		switch ev.Kind {
		case event.TextDelta, event.ReasoningDelta, event.OutputDelta:
			if !done[ev.Item] {
				break
			}
			ev = event.Event{Kind: event.Skipped, Seq: ev.Seq, At: ev.At, Turn: ev.Turn}
		}
		if n := len(slim); n > 0 && thinned(&ev) && thinned(&slim[n-1]) && slim[n-1].Turn == ev.Turn {
			slim[n-1] = ev
			continue
		}
		slim = append(slim, ev)
	}
	return slim
}

// thinned says that an event stands for deltas that were dropped.
func thinned(ev *event.Event) bool { return ev.Kind == event.Skipped && !ev.Turn.IsZero() }
