package server

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// caller is who asks the engine, in the context of a request. What the engine was
// asked for is noted in it, for the audit.
type caller struct {
	*holder
	operation string
	// shared says that sessions of owner are this caller's to use too; nil is none.
	shared func(owner string) bool

	mu             sync.Mutex
	session, agent string // what was made
	owner          string // whose what was reached is, when it is another's
}

type callerKey struct{}

func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// thing is a kind of what principals own.
type thing uint8

const (
	aSession thing = iota // with its turns, responses, items, artifacts
	anAgent
	aFile
)

// visible is the one place that says whether the caller may use what is another's.
func (c *caller) visible(what thing, owner string) bool {
	switch {
	case owner == "" || c == nil:
		return false
	case c.id == owner || c.admin:
		return true
	}
	return what == aSession && c.shared != nil && c.shared(owner)
}

// looks says that there may be something of others that the caller can see.
func (c *caller) looks(what thing) bool {
	return c != nil && (c.admin || what == aSession && c.shared != nil)
}

func (c *caller) reached(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owner = owner
}

// made notes what a request made or was about.
func (c *caller) made(session, agent event.ID) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !session.IsZero() {
		c.session = session.With(event.PrefixSession)
	}
	if !agent.IsZero() {
		c.agent = agent.With(event.PrefixAgent)
	}
}

// sight is the engine as callers see it: what they own, and beyond that what visible
// lets them see. Every look-up is one by (owner, id); only when it finds nothing is
// the owner of the id asked for, and only for a caller that can see something of
// others. So for everybody else a foreign id takes the way of an unknown one, and
// where the owner is not visible the answer is the one that was there before.
type sight struct{ Host }

// owned tells whose the thing is that a look-up was about.
type owned func(ctx context.Context) (owner string, err error)

func seen[T any](ctx context.Context, what thing, owner string, whose owned, look func(owner string) (T, error)) (T, error) {
	v, err := look(owner)
	c := callerOf(ctx)
	if err == nil || !c.looks(what) || !absent(err) {
		return v, err
	}
	other, oerr := whose(ctx)
	if oerr != nil || other == owner || !c.visible(what, other) {
		return v, err
	}
	c.reached(other)
	return look(other)
}

// absent says that a look-up found nothing.
func absent(err error) bool {
	return slices.Contains([]event.Code{
		event.NotFound, event.SessionNotFound, event.TurnNotFound, event.AgentNotFound,
		event.FileNotFound, event.ArtifactNotFound, event.ItemNotFound, event.SubagentNotFound, event.ModelNotFound,
	}, event.CodeOf(err))
}

func (e *sight) ofSession(id event.ID) owned {
	return func(ctx context.Context) (string, error) { return e.SessionOwner(ctx, id) }
}

func (e *sight) ofTurn(id event.ID) owned {
	return func(ctx context.Context) (string, error) { return e.TurnOwner(ctx, id) }
}

func (e *sight) ofAgent(id event.ID) owned {
	return func(ctx context.Context) (string, error) { return e.AgentOwner(ctx, id) }
}

func (e *sight) ofFile(id event.ID) owned {
	return func(ctx context.Context) (string, error) { return e.FileOwner(ctx, id) }
}

// none is look for what answers with an error only.
func none(look func(owner string) error) func(string) (struct{}, error) {
	return func(owner string) (struct{}, error) { return struct{}{}, look(owner) }
}

// page is a part of a list.
type page[T any] struct {
	list []T
	more bool
}

func paged[T any](look func(owner string) ([]T, bool, error)) func(string) (page[T], error) {
	return func(owner string) (page[T], error) {
		list, more, err := look(owner)
		return page[T]{list, more}, err
	}
}

// everybodys is whose list the caller sees: its own, an admin everybody's.
func everybodys(ctx context.Context, owner, operation string) string {
	if c := callerOf(ctx); c != nil && c.admin && c.operation == operation {
		return ""
	}
	return owner
}

// others notes that a list had what is another's.
func others[T any](ctx context.Context, owner string, list []T, whose func(T) string) {
	c := callerOf(ctx)
	if c == nil {
		return
	}
	for _, one := range list {
		if of := whose(one); of != owner && of != "" {
			c.reached("*")
			return
		}
	}
}

// keyFor is an idempotency key of principal among those of owner, whose own keys must
// neither meet nor answer it.
func keyFor(principal, owner string, key *spec.Key) *spec.Key {
	if key == nil || principal == owner {
		return key
	}
	return &spec.Key{Value: "of " + principal + ": " + key.Value, Hash: key.Hash}
}

// Sessions.

func (e *sight) CreateSession(ctx context.Context, owner string, n *spec.NewSession) (*call.Posted, error) {
	p, err := e.Host.CreateSession(ctx, owner, n)
	if err == nil {
		callerOf(ctx).made(p.Session.ID, n.Agent.ID)
	}
	return p, err
}

func (e *sight) Post(ctx context.Context, owner string, session event.ID, actions []spec.Action, key *spec.Key) (*call.Posted, error) {
	callerOf(ctx).made(session, event.ID{})
	return seen(ctx, aSession, owner, e.ofSession(session), func(of string) (*call.Posted, error) {
		return e.Host.Post(ctx, of, session, actions, keyFor(owner, of, key))
	})
}

func (e *sight) PostItems(ctx context.Context, owner string, session event.ID, items []*event.Item, key *spec.Key) (*call.Posted, error) {
	return seen(ctx, aSession, owner, e.ofSession(session), func(of string) (*call.Posted, error) {
		return e.Host.PostItems(ctx, of, session, items, keyFor(owner, of, key))
	})
}

func (e *sight) UpdateSession(ctx context.Context, owner string, id event.ID, u *spec.Update) (*fold.Session, error) {
	return seen(ctx, aSession, owner, e.ofSession(id), func(of string) (*fold.Session, error) { return e.Host.UpdateSession(ctx, of, id, u) })
}

func (e *sight) DeleteSession(ctx context.Context, owner string, id event.ID) error {
	_, err := seen(ctx, aSession, owner, e.ofSession(id), none(func(of string) error { return e.Host.DeleteSession(ctx, of, id) }))
	return err
}

func (e *sight) Session(ctx context.Context, owner string, id event.ID) (*fold.Session, error) {
	return seen(ctx, aSession, owner, e.ofSession(id), func(of string) (*fold.Session, error) { return e.Host.Session(ctx, of, id) })
}

func (e *sight) Sessions(ctx context.Context, owner string, q spec.SessionQuery, p spec.Page) ([]*fold.Session, bool, error) {
	list, more, err := e.Host.Sessions(ctx, everybodys(ctx, owner, "agents.sessions.list"), q, p)
	others(ctx, owner, list, func(s *fold.Session) string { return s.Owner })
	return list, more, err
}

func (e *sight) Subscribe(ctx context.Context, owner string, session event.ID, after int64) (call.Stream, error) {
	return seen(ctx, aSession, owner, e.ofSession(session), func(of string) (call.Stream, error) { return e.Host.Subscribe(ctx, of, session, after) })
}

// Turns, items and subagents.

func (e *sight) Turn(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	return seen(ctx, aSession, owner, e.ofTurn(id), func(of string) (*fold.Turn, error) { return e.Host.Turn(ctx, of, id) })
}

func (e *sight) TurnInBrief(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	return seen(ctx, aSession, owner, e.ofTurn(id), func(of string) (*fold.Turn, error) { return e.Host.TurnInBrief(ctx, of, id) })
}

func (e *sight) CancelTurn(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	return seen(ctx, aSession, owner, e.ofTurn(id), func(of string) (*fold.Turn, error) { return e.Host.CancelTurn(ctx, of, id) })
}

func (e *sight) ForgetTurn(ctx context.Context, owner string, id event.ID) error {
	_, err := seen(ctx, aSession, owner, e.ofTurn(event.TurnOf(id)), none(func(of string) error { return e.Host.ForgetTurn(ctx, of, id) }))
	return err
}

func (e *sight) Turns(ctx context.Context, owner string, session event.ID, p spec.Page) ([]*fold.Turn, bool, error) {
	l, err := seen(ctx, aSession, owner, e.ofSession(session), paged(func(of string) ([]*fold.Turn, bool, error) { return e.Host.Turns(ctx, of, session, p) }))
	return l.list, l.more, err
}

func (e *sight) Items(ctx context.Context, owner string, session event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	l, err := seen(ctx, aSession, owner, e.ofSession(session), paged(func(of string) ([]fold.ItemOf, bool, error) { return e.Host.Items(ctx, of, session, p) }))
	return l.list, l.more, err
}

func (e *sight) AllItems(ctx context.Context, owner string, session event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	l, err := seen(ctx, aSession, owner, e.ofSession(session), paged(func(of string) ([]fold.ItemOf, bool, error) { return e.Host.AllItems(ctx, of, session, p) }))
	return l.list, l.more, err
}

func (e *sight) TurnItems(ctx context.Context, owner string, session, turn event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	l, err := seen(ctx, aSession, owner, e.ofTurn(turn), paged(func(of string) ([]fold.ItemOf, bool, error) { return e.Host.TurnItems(ctx, of, session, turn, p) }))
	return l.list, l.more, err
}

func (e *sight) Item(ctx context.Context, owner string, session, item event.ID) (*fold.ItemOf, error) {
	return seen(ctx, aSession, owner, e.ofTurn(event.TurnOf(item)), func(of string) (*fold.ItemOf, error) { return e.Host.Item(ctx, of, session, item) })
}

func (e *sight) RemoveItem(ctx context.Context, owner string, session, item event.ID) error {
	_, err := seen(ctx, aSession, owner, e.ofTurn(event.TurnOf(item)), none(func(of string) error { return e.Host.RemoveItem(ctx, of, session, item) }))
	return err
}

func (e *sight) Subagent(ctx context.Context, owner string, session, id event.ID) (*fold.Subagent, error) {
	return seen(ctx, aSession, owner, e.ofSession(session), func(of string) (*fold.Subagent, error) { return e.Host.Subagent(ctx, of, session, id) })
}

func (e *sight) Subagents(ctx context.Context, owner string, session event.ID, p spec.Page) ([]*fold.Subagent, bool, error) {
	l, err := seen(ctx, aSession, owner, e.ofSession(session), paged(func(of string) ([]*fold.Subagent, bool, error) { return e.Host.Subagents(ctx, of, session, p) }))
	return l.list, l.more, err
}

// Artifacts.

func (e *sight) Artifacts(ctx context.Context, owner string, session, environment event.ID, p spec.Page) ([]*spec.Artifact, bool, error) {
	l, err := seen(ctx, aSession, owner, e.ofSession(session), paged(func(of string) ([]*spec.Artifact, bool, error) {
		return e.Host.Artifacts(ctx, of, session, environment, p)
	}))
	return l.list, l.more, err
}

func (e *sight) Artifact(ctx context.Context, owner string, session, id event.ID) (*spec.Artifact, error) {
	return seen(ctx, aSession, owner, e.ofSession(session), func(of string) (*spec.Artifact, error) { return e.Host.Artifact(ctx, of, session, id) })
}

// opened is a thing with its content.
type opened[T any] struct {
	thing   T
	content io.ReadSeekCloser
}

func (e *sight) OpenArtifact(ctx context.Context, owner string, session, id event.ID) (*spec.Artifact, io.ReadSeekCloser, error) {
	o, err := seen(ctx, aSession, owner, e.ofSession(session), func(of string) (o opened[*spec.Artifact], err error) {
		o.thing, o.content, err = e.Host.OpenArtifact(ctx, of, session, id)
		return o, err
	})
	return o.thing, o.content, err
}

func (e *sight) DeleteArtifact(ctx context.Context, owner string, session, id event.ID) error {
	_, err := seen(ctx, aSession, owner, e.ofSession(session), none(func(of string) error { return e.Host.DeleteArtifact(ctx, of, session, id) }))
	return err
}

// Saved agents.

func (e *sight) CreateAgent(ctx context.Context, owner string, a *spec.Agent, key *spec.Key) error {
	err := e.Host.CreateAgent(ctx, owner, a, key)
	if err == nil {
		callerOf(ctx).made(event.ID{}, a.ID)
	}
	return err
}

func (e *sight) SaveAgent(ctx context.Context, owner string, a *spec.Agent) error {
	of, c := owner, callerOf(ctx)
	if c.looks(anAgent) { // it is no look-up, which could fail first
		if other, err := e.AgentOwner(ctx, a.ID); err == nil && other != owner && c.visible(anAgent, other) {
			of = other
			c.reached(other)
		}
	}
	return e.Host.SaveAgent(ctx, of, a)
}

func (e *sight) Agent(ctx context.Context, owner string, id event.ID) (*spec.Agent, error) {
	return seen(ctx, anAgent, owner, e.ofAgent(id), func(of string) (*spec.Agent, error) { return e.Host.Agent(ctx, of, id) })
}

func (e *sight) Agents(ctx context.Context, owner string, p spec.Page) ([]*spec.Agent, bool, error) {
	list, more, err := e.Host.Agents(ctx, everybodys(ctx, owner, "agents.definitions.list"), p)
	others(ctx, owner, list, func(a *spec.Agent) string { return a.Owner })
	return list, more, err
}

func (e *sight) DeleteAgent(ctx context.Context, owner string, id event.ID) error {
	_, err := seen(ctx, anAgent, owner, e.ofAgent(id), none(func(of string) error { return e.Host.DeleteAgent(ctx, of, id) }))
	return err
}

func (e *sight) ResolveModel(ctx context.Context, owner, model, pinned string) (*spec.Agent, error) {
	id, ok := event.Parse(model, event.PrefixAgent)
	if !ok {
		return e.Host.ResolveModel(ctx, owner, model, pinned)
	}
	return seen(ctx, anAgent, owner, e.ofAgent(id), func(of string) (*spec.Agent, error) { return e.Host.ResolveModel(ctx, of, model, pinned) })
}

// Stored files.

func (e *sight) File(ctx context.Context, owner string, id event.ID) (*spec.File, error) {
	return seen(ctx, aFile, owner, e.ofFile(id), func(of string) (*spec.File, error) { return e.Host.File(ctx, of, id) })
}

func (e *sight) Files(ctx context.Context, owner, purpose string, p spec.Page) ([]*spec.File, bool, error) {
	list, more, err := e.Host.Files(ctx, everybodys(ctx, owner, "agents.files.list"), purpose, p)
	others(ctx, owner, list, func(f *spec.File) string { return f.Owner })
	return list, more, err
}

func (e *sight) OpenFile(ctx context.Context, owner string, id event.ID) (*spec.File, io.ReadSeekCloser, error) {
	o, err := seen(ctx, aFile, owner, e.ofFile(id), func(of string) (o opened[*spec.File], err error) {
		o.thing, o.content, err = e.Host.OpenFile(ctx, of, id)
		return o, err
	})
	return o.thing, o.content, err
}

func (e *sight) DeleteFile(ctx context.Context, owner string, id event.ID) error {
	_, err := seen(ctx, aFile, owner, e.ofFile(id), none(func(of string) error { return e.Host.DeleteFile(ctx, of, id) }))
	return err
}
