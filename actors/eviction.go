package actors

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/asynkron/protoactor-go/actor"
)

// Sessions that nobody uses go by themselves: those idle for longer than
// Limits.SessionTTL, and, the longest idle first, as many as it takes to hold
// Limits.MaxSessions and Limits.StoreMaxBytes. One with queued, running or waiting
// turns, or with a reader, never goes. An evicted session is as gone as a deleted
// one: unknown, with its turns, artifacts and private workspace.

// evict asks a session to go, if it still rests and was not active after since.
// The refusal is errInUse.
type evict struct {
	since int64
	reply chan answer[struct{}]
}

var errInUse = errors.New("the session is in use")

const (
	// evictEvery is how often the caps are looked at.
	evictEvery = 10 * time.Second
	// evictPass bounds the sessions that one pass asks to go.
	evictPass = 64
	// sessionBytes is about what a session takes beside its journal.
	sessionBytes = 4 << 10
)

// evictor is what passes remember of each other. One pass runs at a time.
type evictor struct {
	mu   sync.Mutex
	next time.Time // of the gauge's clock
	// past are sessions that could not go; the next pass begins behind them.
	past store.IdleSession
}

// evictLater starts a pass in a goroutine of its own when one is due.
func (h *Host) evictLater(now time.Time) {
	e := &h.evictor
	if !e.mu.TryLock() {
		return // one runs
	}
	if now.Before(e.next) {
		e.mu.Unlock()
		return
	}
	h.work.Go(func() {
		defer e.mu.Unlock()
		// A pass that had its fill is followed by another one soon.
		if e.next = now.Add(evictEvery); h.evictSome(context.Background()) >= evictPass {
			e.next = now
		}
	})
}

// evictSome is one pass: it returns how many sessions it asked to go.
func (h *Host) evictSome(ctx context.Context) (asked int) {
	l := &h.cfg.limits
	count, err := h.store.SessionCount(ctx)
	var used int64
	var purging bool
	if err == nil && l.StoreMaxBytes > 0 {
		used, purging, err = h.store.Used(ctx)
	}
	excess := used - l.StoreMaxBytes
	if purging {
		excess = 0 // what goes already may be enough
	}
	surplus := count - l.MaxSessions
	old := h.now().Add(-l.SessionTTL).UnixMilli()
	list, lerr := h.idleSessions(ctx)
	if err = errors.Join(err, lerr); err != nil {
		h.evictFailed(err)
		return 0
	}
	went := 0
	for _, one := range list {
		if one.Active >= old && surplus <= 0 && (excess <= 0 || l.StoreMaxBytes <= 0) {
			break
		}
		asked++
		gone, err := h.evict(ctx, one)
		if event.CodeOf(err) == event.ShuttingDown {
			return 0
		}
		if err != nil {
			h.log.Warn("an idle session could not be evicted", "session", one.ID, "error", err)
		}
		if gone {
			went++
			surplus--
			excess -= one.Bytes + sessionBytes
		}
	}
	h.evictor.past = store.IdleSession{}
	if asked > 0 && went == 0 {
		h.evictor.past = list[asked-1]
	}
	return asked
}

// idleSessions are the candidates of one pass; from the beginning again when there
// is none behind those that could not go.
func (h *Host) idleSessions(ctx context.Context) ([]store.IdleSession, error) {
	list, err := h.store.IdleSessions(ctx, h.evictor.past, evictPass)
	if err == nil && len(list) == 0 && h.evictor.past != (store.IdleSession{}) {
		list, err = h.store.IdleSessions(ctx, store.IdleSession{}, evictPass)
	}
	return list, err
}

func (h *Host) evictFailed(err error) {
	if !errors.Is(err, store.ErrClosed) {
		h.log.Warn("idle sessions could not be looked for", "error", err)
	}
}

// evict asks one session to go.
func (h *Host) evict(ctx context.Context, one store.IdleSession) (gone bool, err error) {
	m := &evict{since: one.Active, reply: make(chan answer[struct{}], 1)}
	h.root.Send(h.supervisor, &toSession{one.ID, m})
	_, err = await(ctx, h, m.reply)
	if errors.Is(err, errInUse) || event.CodeOf(err) == event.SessionNotFound {
		return false, nil // or it was deleted meanwhile
	}
	if err != nil {
		return false, err
	}
	h.stats.evicted.Add(1)
	h.log.Info("session evicted", "session", one.ID, "idle_since", time.UnixMilli(one.Active).UTC())
	return true, nil
}

// makeRoom evicts the longest idle session for one that is being created.
func (h *Host) makeRoom(ctx context.Context) (made bool, err error) {
	e := &h.evictor
	e.mu.Lock()
	defer e.mu.Unlock()
	list, err := h.idleSessions(ctx)
	if err != nil {
		return false, storeFailure(err)
	}
	for _, one := range list {
		if gone, err := h.evict(ctx, one); gone || ctx.Err() != nil {
			return gone, ctx.Err()
		} else if err != nil {
			h.log.Warn("an idle session could not be evicted", "session", one.ID, "error", err)
		}
		e.past = one
	}
	return false, nil
}

func (s *session) evict(c actor.Context, m *evict) {
	if !s.restful() || s.state.Session().LastActive > m.since {
		m.reply <- answer[struct{}]{err: errInUse}
		return
	}
	s.removals = append(s.removals, m.reply)
	s.behavior.Become(s.closing)
	s.erase(c)
}
