package actors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// Subscription reads a session's events by position: recent ones from memory,
// older ones from the store. It is used by one goroutine.
type Subscription struct {
	host    *Host
	session event.ID
	pid     *actor.PID
	ring    *ring
	pos     int64 // last event handed out
	// since is the session's last event when the subscription was made: a turn that
	// was forgotten later is still shown.
	since  int64
	replay *replay
	closed bool
}

// After is the number of the last event handed out, and before the first call of
// Next the place the subscription starts after.
func (s *Subscription) After() int64 { return s.pos }

// Next returns a batch that holds the event after the last one handed out; it
// may begin earlier. Caught up, it returns a channel that is closed when there is
// more. The error is io.EOF after a deleted session's last event, or a *Failure.
// Reading old events blocks for as long as the store takes.
func (s *Subscription) Next() (*fold.Batch, <-chan struct{}, error) {
	w := s.ring.window.Load()
	if s.pos < w.head {
		shown := w.shown(s.since)
		if s.pos+1 >= shown {
			b := w.find(s.pos + 1)
			s.replay, s.pos = nil, b.Last()
			return handed(b), nil, nil
		}
		b, err := s.old(shown - 1)
		if err != nil {
			return nil, nil, err
		}
		s.pos = b.Last()
		return b, nil, nil
	}
	if w.end != nil {
		return nil, nil, w.end
	}
	return nil, w.wake, nil
}

// old reads the store up to event to, where the window begins. The events of a
// deleted session are gone, and so is its reader's reason to go on.
func (s *Subscription) old(to int64) (*fold.Batch, error) {
	ctx := context.Background()
	if s.replay == nil || s.replay.head() != s.pos {
		r, err := s.host.newReplay(ctx, s.session, s.pos, s.since)
		if event.CodeOf(err) == event.NotFound {
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		s.replay = r
	}
	b, err := s.replay.next(ctx, to)
	if err != nil {
		s.replay = nil
	}
	if event.CodeOf(err) == event.NotFound {
		return nil, io.EOF
	}
	return b, err
}

// Close gives the subscription's place back. It is safe to call twice.
func (s *Subscription) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.host.root.Send(s.pid, &unsubscribe{})
}

// replay folds a session's stored events from a place on.
type replay struct {
	host    *Host
	session event.ID
	state   *fold.State
	since   int64             // turns forgotten up to this event are shown without content
	hidden  map[event.ID]bool // turns seen so far: whether they are
}

// toNow hides every turn that is forgotten.
const toNow = math.MaxInt64

const replayBytes = 256 << 10

// newReplay prepares to read what follows event after: it restores the nearest
// checkpoint and folds up to there.
func (h *Host) newReplay(ctx context.Context, session event.ID, after, since int64) (*replay, error) {
	r := &replay{host: h, session: session, state: fold.New(), since: since, hidden: map[event.ID]bool{}}
	cp, err := h.store.CheckpointBefore(ctx, session, after)
	if err != nil {
		return nil, storeFailure(err)
	}
	if cp.Seq > 0 {
		if r.state, err = fold.Restore(cp.Body); err != nil {
			return nil, storeFailure(fmt.Errorf("%w: %w", store.ErrCorrupt, err))
		}
	}
	for r.head() < after {
		events, err := r.read(ctx, after)
		if err != nil {
			return nil, err
		}
		last := len(events) - 1
		covered := events[last].Seq > after
		if covered {
			events = events[:last] // a Skipped event: the reader stands in it, and begins with it
		}
		if len(events) > 0 {
			if _, err := r.apply(events); err != nil {
				return nil, err
			}
		}
		if covered {
			break
		}
	}
	if after == cp.Seq && after > 0 || after == 0 {
		// The events behind a checkpoint may be gone as well; ask before the reader
		// is told that it may go on.
		if rec, err := h.store.Session(ctx, "", session); err == nil && rec.Trimmed > after {
			return nil, h.evicted(ctx, session)
		}
	}
	return r, nil
}

func (r *replay) head() int64 { return r.state.Session().Head }

// next returns the events after the last one, at most up to to.
func (r *replay) next(ctx context.Context, to int64) (*fold.Batch, error) {
	events, err := r.read(ctx, to)
	if err != nil {
		return nil, err
	}
	return r.apply(events)
}

func (r *replay) apply(events []event.Event) (*fold.Batch, error) {
	b, err := fold.NewBatch(r.state, events)
	if err != nil {
		return nil, storeFailure(fmt.Errorf("%w: %w", store.ErrCorrupt, err))
	}
	return b, nil
}

// read gives the events behind the fold, at least one.
func (r *replay) read(ctx context.Context, to int64) ([]event.Event, error) {
	from := r.head() + 1
	events, err := r.host.store.Read(ctx, r.session, from, to, replayBytes)
	if errors.Is(err, store.ErrTrimmed) {
		return nil, r.host.evicted(ctx, r.session)
	}
	if err != nil {
		return nil, storeFailure(err)
	}
	if len(events) == 0 {
		if rec, err := r.host.store.Session(ctx, "", r.session); err != nil || rec.State == store.Deleted {
			return nil, io.EOF
		}
		return nil, storeFailure(fmt.Errorf("%w: events %d..%d of session %s", store.ErrCorrupt, from, to, r.session))
	}
	for i := range events {
		if err := r.hide(ctx, &events[i]); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// hide takes the content out of a forgotten turn's event; its number stays.
func (r *replay) hide(ctx context.Context, ev *event.Event) error {
	if ev.Turn.IsZero() {
		return nil
	}
	hidden, known := r.hidden[ev.Turn]
	if !known {
		t, err := r.host.store.Turn(ctx, "", ev.Turn)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return storeFailure(err)
		}
		hidden = err == nil && t.State == store.TurnForgotten && t.Last <= r.since
		r.hidden[ev.Turn] = hidden
	}
	if !hidden {
		return nil
	}
	switch b := ev.Body.(type) {
	case *event.Input:
		in := *b
		in.Items, in.Prompt, in.Before, in.Echo, in.Overrides = nil, "", nil, nil, nil
		ev.Body = &in
		return nil
	case *event.Item:
		ev.Body = nil
	default: // settings and ends are not the turn's content
	}
	switch ev.Kind {
	case event.ItemStarted, event.ItemDone, event.TextDelta, event.ReasoningDelta, event.OutputDelta, event.Notice, event.Unknown,
		event.SubagentStarted, event.SubagentItem:
		ev.Kind, ev.Text, ev.Item, ev.Body = event.Notice, "", event.ID{}, nil
	}
	return nil
}

// evicted is the refusal of a cursor whose events are gone.
func (h *Host) evicted(ctx context.Context, session event.ID) error {
	f := event.Fail(event.CursorEvicted, "the events after this cursor were removed to keep the session within its journal limit; read on from the oldest cursor kept")
	rec, err := h.store.Session(ctx, "", session)
	if err != nil {
		return storeFailure(err)
	}
	cp, err := h.store.CheckpointAfter(ctx, session, rec.Trimmed)
	if err != nil {
		return storeFailure(err)
	}
	f.Oldest = fmt.Sprintf("evt_%016d", max(cp.Seq, rec.Trimmed))
	return f
}

// storeFailure makes a store's error fit for a caller.
func storeFailure(err error) error {
	if _, ok := event.AsFailure(err); ok {
		return err
	}
	f := &event.Failure{Code: event.StorageFailed, Message: "the store could not answer; the server's log has the cause", Cause: err}
	switch {
	case errors.Is(err, store.ErrNotFound):
		f.Code, f.Message = event.NotFound, "there is no such object"
	case errors.Is(err, store.ErrFull):
		f.Message, f.RetryAfter = "the disk below the state directory is full or nearly so; nothing was accepted", 30
	case errors.Is(err, store.ErrCorrupt):
		f.Code, f.Message = event.SessionQuarantined, "stored data of this session is damaged, so it is not served; `agenthost store dump` shows what is readable, and `agenthost store repair`, without the server, keeps what can be kept"
	case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrHead):
		f.Code, f.Message = event.NotOwner, "the session is served by another host"
	case errors.Is(err, store.ErrClosed):
		f.Code, f.Message = event.ShuttingDown, "the server is shutting down"
	}
	return f
}
