package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// Posted is what the host accepted. It is durable when the call returns.
type Posted = fold.Posted

// CreateSession makes a session, with its first input if n has one. owner is the
// principal it belongs to; it may not be empty.
func (h *Host) CreateSession(ctx context.Context, owner string, n *spec.NewSession) (*Posted, error) {
	if owner == "" {
		return nil, event.Fail(event.InvalidRequest, "a session needs an owner")
	}
	done, earlier, err := h.keyed(ctx, owner, n.Key)
	if err != nil || earlier != nil {
		return earlier, err
	}
	settings, err := h.newSettings(ctx, owner, n)
	var input *spec.NewInput
	if err == nil {
		input, err = h.keepNew(settings, n.Input)
	}
	if err != nil {
		done()
		return nil, err
	}
	m := &open{settings: settings, input: input, items: n.Items, key: h.key(owner, n.Key), reply: make(chan answer[*Posted], 1)}
	h.root.Send(h.supervisor, &openSession{settings.ID, m})
	return h.posted(ctx, m.reply, done, func() { h.bag.DropOwner(settings.ID) })
}

// newSettings are those of a session that may be created.
func (h *Host) newSettings(ctx context.Context, owner string, n *spec.NewSession) (*spec.Session, error) {
	if !n.Conversation {
		if err := h.may(ctx, owner, n.Agent.Adapter, policy.Start); err != nil {
			return nil, err
		}
	}
	if err := h.accepting(ctx); err != nil {
		return nil, err
	}
	if count, err := h.store.SessionCount(ctx); err != nil {
		return nil, storeFailure(err)
	} else if count >= h.cfg.limits.MaxSessions {
		if made, err := h.makeRoom(ctx); err != nil {
			return nil, err
		} else if !made {
			f := event.Fail(event.TooManySessions, "the host keeps as many sessions as limits.max_sessions allows, and each of them is in use; delete some or raise it")
			f.RetryAfter = h.freeSlot(h.cfg.limits.MaxConcurrentTurns, time.Minute) // one that is idle makes room
			return nil, f
		}
	}
	settings := &spec.Session{
		ID: event.NewID(), Owner: owner, Agent: n.Agent, Environment: n.Environment,
		Metadata: n.Metadata, Created: h.now().UnixMilli(), Extra: n.Extra, SpendControl: n.SpendControl,
	}
	if n.Input != nil {
		if err := h.spentOut(owner); err != nil {
			return nil, err
		}
	}
	if n.Conversation {
		settings.Agent, settings.Environment = spec.Agent{}, spec.Environment{}
		return settings, nil
	}
	if settings.Agent.ID.IsZero() {
		settings.Agent.ID = event.NewID()
	}
	if err := h.place(settings); err != nil {
		return nil, err
	}
	if err := h.admissible(ctx, settings, n.Input); err != nil {
		return nil, err
	}
	if err := h.workspaceThere(ctx, settings, n.Environment.Workspace != ""); err != nil || n.Input == nil {
		return settings, err
	}
	return settings, h.hurried(&settings.Agent, 1)
}

// joined are the settings of a session without an agent, with the one that its
// first input brings.
func (h *Host) joined(s *spec.Session, a *spec.Agent) (*spec.Session, error) {
	if a == nil {
		return nil, event.FailParam(event.AdapterRequired, "model", "this conversation has no agent yet; create a response in it first, with a model")
	}
	next := *s
	next.Agent = *a
	if next.Agent.ID.IsZero() {
		next.Agent.ID = event.NewID()
	}
	return &next, h.place(&next)
}

// Post does a list of actions on a session, all or none.
func (h *Host) Post(ctx context.Context, owner string, session event.ID, actions []spec.Action, key *spec.Key) (*Posted, error) {
	done, earlier, err := h.keyed(ctx, owner, key)
	if err != nil || earlier != nil {
		return earlier, err
	}
	joined, busy, err := h.postable(ctx, owner, session, actions)
	if err != nil {
		done()
		return nil, err
	}
	actions, forget, err := h.keepActions(session, actions)
	if err != nil {
		done()
		return nil, err
	}
	m := &post{owner: owner, actions: actions, joined: joined, busy: busy, key: h.key(owner, key), reply: make(chan answer[*Posted], 1)}
	h.root.Send(h.supervisor, &toSession{session, m})
	return h.posted(ctx, m.reply, done, forget)
}

// postable refuses what the session's agent cannot do. Of a session without one it
// gives the settings that it will have.
func (h *Host) postable(ctx context.Context, owner string, session event.ID, actions []spec.Action) (joined *spec.Session, b busy, err error) {
	if err := h.accepting(ctx); err != nil {
		return nil, b, err
	}
	settings, err := h.settings(ctx, owner, session)
	if err != nil {
		return nil, b, err
	}
	for _, a := range actions {
		if err := h.fed(ctx, settings, &a); err != nil {
			return nil, b, err
		}
	}
	for _, a := range actions {
		if a.Answer != nil {
			return nil, b, h.answerable(ctx, owner, session, actions)
		}
	}
	for _, a := range actions {
		if a.Input == nil {
			continue
		}
		if !settings.Settled() {
			if joined, err = h.joined(settings, a.Input.Agent); err != nil {
				return nil, b, err
			}
			settings = joined
		}
		if err := h.admissible(ctx, settings, a.Input); err != nil {
			return nil, b, err
		}
		if settings == joined {
			if err := h.workspaceThere(ctx, settings, false); err != nil {
				return nil, b, err
			}
		}
		if b, err = h.busy(settings); err != nil {
			return nil, b, err
		}
	}
	return joined, b, h.hurried(&settings.Agent, inputsOf(actions))
}

// fed refuses an action that reaches a CLI which the policy keeps its sender from. To
// end a turn reaches none.
func (h *Host) fed(ctx context.Context, s *spec.Session, a *spec.Action) error {
	switch {
	case a.Cancel:
		return nil
	case s.Settled():
		return h.may(ctx, s.Owner, s.Agent.Adapter, policy.Feed)
	case a.Input != nil && a.Input.Agent != nil:
		return h.may(ctx, s.Owner, a.Input.Agent.Adapter, policy.Start)
	}
	return nil
}

// posted waits for a session's answer and then gives the request's key back. A
// caller that leaves earlier leaves the key taken until the answer is there: its
// repeat must find what was stored. undo is called when the session refused.
func (h *Host) posted(ctx context.Context, reply chan answer[*Posted], done, undo func()) (*Posted, error) {
	select {
	case a := <-reply:
		done()
		if a.err != nil {
			undo()
		}
		return a.value, a.err
	case <-ctx.Done():
		h.work.Go(func() {
			defer done()
			select {
			case a := <-reply:
				if a.err != nil {
					undo()
				}
			case <-h.quit:
			}
		})
		return nil, ctx.Err()
	case <-h.quit:
		done()
		return await(ctx, h, reply)
	}
}

// changing refuses what would change a session while the host goes down.
func (h *Host) changing(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if h.Draining() {
		f := event.Fail(event.ShuttingDown, "the server is shutting down")
		f.RetryAfter = 5
		return f
	}
	return nil
}

// accepting refuses work that could not be served.
func (h *Host) accepting(ctx context.Context) error {
	if err := h.changing(ctx); err != nil {
		return err
	}
	if h.stats.waiting.Load() >= int64(h.cfg.limits.MaxWaitingTurns) {
		f := event.Fail(event.HostBusy, "as many turns wait as limits.max_waiting_turns allows")
		f.RetryAfter = h.freeSlot(h.cfg.limits.MaxConcurrentTurns, 10*time.Second)
		return f
	}
	return nil
}

// settings reads what a session runs with.
func (h *Host) settings(ctx context.Context, owner string, id event.ID) (*spec.Session, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	rec, err := h.store.Session(ctx, owner, id)
	if err != nil {
		return nil, h.noSession(err)
	}
	s := new(spec.Session)
	if err := json.Unmarshal(rec.Spec, s); err != nil {
		return nil, storeFailure(fmt.Errorf("%w: settings of session %s: %w", store.ErrCorrupt, id, err))
	}
	return s, nil
}

func (h *Host) noSession(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return event.Fail(event.SessionNotFound, "there is no such session")
	}
	return storeFailure(err)
}

// UpdateSession changes a session from its next turn on.
func (h *Host) UpdateSession(ctx context.Context, owner string, id event.ID, u *spec.Update) (*fold.Session, error) {
	settings, err := h.settings(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if u.MCP != nil {
		if err := settings.Agent.Taken(*u.MCP); err != nil {
			return nil, err
		}
	}
	if settings.Settled() {
		if err := h.admissible(ctx, u.Apply(settings), nil); err != nil {
			return nil, err
		}
	}
	u, err = h.keepUpdate(id, u)
	if err != nil {
		return nil, err
	}
	m := &update{owner: owner, change: u, reply: make(chan answer[*fold.Session], 1)}
	h.root.Send(h.supervisor, &toSession{id, m})
	s, err := await(ctx, h, m.reply)
	switch {
	case u.MCP == nil || ctx.Err() != nil: // of a caller that left it is not known what became of it
	case err == nil:
		h.bag.Retire(settings.Agent.Secrets)
	default:
		h.bag.Drop(u.Secrets)
	}
	return s, err
}

// DeleteSession cancels what the session does, waits until nothing of it runs,
// and removes it.
func (h *Host) DeleteSession(ctx context.Context, owner string, id event.ID) error {
	if err := h.usable(); err != nil {
		return err
	}
	if _, err := h.store.Session(ctx, owner, id); err != nil {
		return h.noSession(err)
	}
	m := &remove{owner: owner, reply: make(chan answer[struct{}], 1)}
	h.root.Send(h.supervisor, &toSession{id, m})
	_, err := await(ctx, h, m.reply)
	return err
}

// Session reads a session.
func (h *Host) Session(ctx context.Context, owner string, id event.ID) (*fold.Session, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	rec, err := h.store.Session(ctx, owner, id)
	if err != nil {
		return nil, h.noSession(err)
	}
	return sessionOf(rec)
}

func sessionOf(rec *store.Session) (*fold.Session, error) {
	s, set := new(fold.Session), new(spec.Session)
	if err := errors.Join(json.Unmarshal(rec.Body, s), json.Unmarshal(rec.Spec, set)); err != nil {
		return nil, storeFailure(fmt.Errorf("%w: record of session %s: %w", store.ErrCorrupt, rec.ID, err))
	}
	s.Settings = set
	return s, nil
}

// Sessions lists the owner's sessions by creation.
func (h *Host) Sessions(ctx context.Context, owner string, q spec.SessionQuery, p spec.Page) ([]*fold.Session, bool, error) {
	if err := h.usable(); err != nil {
		return nil, false, err
	}
	f := store.SessionFilter{Owner: owner}
	if !q.AgentID.IsZero() || len(q.Metadata) > 0 || q.Settled {
		f.Match = func(rec *store.Session) bool {
			set := new(spec.Session)
			if json.Unmarshal(rec.Spec, set) != nil || !q.AgentID.IsZero() && set.Agent.ID != q.AgentID || q.Settled && !set.Settled() {
				return false
			}
			for k, v := range q.Metadata {
				if got, ok := set.Metadata[k]; !ok || got != v {
					return false
				}
			}
			return true
		}
	}
	recs, more, err := h.store.Sessions(ctx, f, p)
	if err != nil {
		return nil, false, cursorFailure(err)
	}
	out := make([]*fold.Session, 0, len(recs))
	for _, rec := range recs {
		s, err := sessionOf(rec)
		if err != nil {
			// A list must show the others; the session itself says what it is.
			h.log.Error("a session's record is damaged; it is left out of the list", "session", rec.ID, "error", err)
			continue
		}
		out = append(out, s)
	}
	return out, more, nil
}

// cursorFailure is storeFailure for a list, where not found is the cursor.
func cursorFailure(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return event.FailParam(event.CursorNotFound, "after", "the list has no object with the id that after names")
	}
	return storeFailure(err)
}

// Subscribe reads a session's events after the one with number after; 0 is the
// whole session, -1 only what is still to come. The reader is registered when
// the call returns, so nothing that follows is missed. Close it.
func (h *Host) Subscribe(ctx context.Context, owner string, session event.ID, after int64) (*Subscription, error) {
	if err := h.usable(); err != nil {
		return nil, err
	}
	rec, err := h.store.Session(ctx, owner, session)
	if err != nil {
		return nil, h.noSession(err)
	}
	if after >= 0 && after < rec.Trimmed {
		if cp, err := h.store.CheckpointAfter(ctx, session, rec.Trimmed); err != nil || after < cp.Seq {
			return nil, h.evicted(ctx, session)
		}
	}
	m := &subscribe{owner: owner, after: after, reply: make(chan answer[*Subscription], 1)}
	h.root.Send(h.supervisor, &toSession{session, m})
	sub, err := await(ctx, h, m.reply)
	if err != nil && ctx.Err() != nil {
		h.work.Go(func() { // the answer may still come; its place must not be lost
			select {
			case a := <-m.reply:
				if a.value != nil {
					a.value.Close()
				}
			case <-h.quit:
			}
		})
	}
	return sub, err
}

// await waits for an actor's answer within ctx and the host's life.
func await[T any](ctx context.Context, h *Host, reply chan answer[T]) (T, error) {
	select {
	case a := <-reply:
		return a.value, a.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	case <-h.quit:
		select {
		case a := <-reply:
			return a.value, a.err
		default:
		}
		var zero T
		return zero, event.Fail(event.ShuttingDown, "the server is shutting down")
	}
}

// reversed returns list back to front when desc is set.
func reversed[T any](list []T, desc bool) []T {
	if desc {
		slices.Reverse(list)
	}
	return list
}
