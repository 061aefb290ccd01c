package agents

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files/filestest"
)

// fakeEngine keeps sessions as stories, which a test tells on; accepted input
// waits until the test starts its turn.
type fakeEngine struct {
	filestest.Engine
	t        testing.TB
	mu       sync.Mutex
	agents   []*spec.Agent
	sessions []*story
	turns    byte
	keys     map[string]string
	news     []*spec.NewSession
	updates  []*spec.Update
	posts    [][]spec.Action
	subs     int
	trimmed  int64
	files    []*fakeArtifact
	gone     map[event.ID]bool
	line     []*spec.Waiting
}

func (e *fakeEngine) Queue(_ context.Context, owner string) (list []*spec.Waiting, err error) {
	for _, w := range e.line {
		if owner == "" || w.Principal == owner {
			list = append(list, w)
		}
	}
	return list, nil
}

var _ Engine = (*fakeEngine)(nil)

func newFakeEngine(t testing.TB) *fakeEngine {
	return &fakeEngine{t: t, keys: map[string]string{}, gone: map[event.ID]bool{}}
}

func (e *fakeEngine) last() *story {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[len(e.sessions)-1]
}

func (e *fakeEngine) open() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.subs
}

func (e *fakeEngine) find(owner string, id event.ID) (*story, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		if s.id == id && !e.gone[id] && s.owner() == owner {
			return s, nil
		}
	}
	return nil, event.Fail(event.SessionNotFound, "the engine's own words")
}

func (s *story) owner() string { s.mu.Lock(); defer s.mu.Unlock(); return s.state.Session().Owner }

func (s *story) session() *fold.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.state.Session()
	return &v
}

func (e *fakeEngine) CreateSession(_ context.Context, owner string, n *spec.NewSession) (*call.Posted, error) {
	e.mu.Lock()
	e.news = append(e.news, n)
	set := &spec.Session{
		ID: fixedID(0x5e, byte(len(e.sessions)+1)), Owner: owner, Created: storyStart,
		Agent: n.Agent, Environment: n.Environment, Metadata: n.Metadata, Extra: n.Extra, SpendControl: n.SpendControl,
	}
	set.Environment.ID = fixedID(0xe5, 1)
	if set.Agent.ID.IsZero() {
		set.Agent.ID = fixedID(0xa9, 0xff)
	}
	s := newStoryOf(e.t, set)
	e.sessions = append(e.sessions, s)
	e.mu.Unlock()
	if n.Input != nil {
		e.accept(s, n.Input)
	}
	return &call.Posted{Session: *s.session()}, nil
}

func (e *fakeEngine) accept(s *story, in *spec.NewInput) {
	e.mu.Lock()
	e.turns++
	n := e.turns
	e.mu.Unlock()
	s.acceptInput(n, in)
}

func (e *fakeEngine) Post(_ context.Context, owner string, id event.ID, actions []spec.Action, key *spec.Key) (*call.Posted, error) {
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	if key != nil {
		if hash, ok := e.keys[key.Value]; ok {
			defer e.mu.Unlock()
			if hash != key.Hash {
				return nil, event.Fail(event.IdempotencyMismatch, "this key was used for another request")
			}
			return &call.Posted{Replayed: true}, nil
		}
		e.keys[key.Value] = key.Hash
	}
	e.posts = append(e.posts, actions)
	e.mu.Unlock()
	for _, a := range actions {
		if a.Input != nil {
			e.accept(s, a.Input)
		}
	}
	return &call.Posted{Session: *s.session()}, nil
}

func (e *fakeEngine) UpdateSession(_ context.Context, owner string, id event.ID, u *spec.Update) (*fold.Session, error) {
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.updates = append(e.updates, u)
	e.mu.Unlock()
	v := s.session()
	set := *v.Settings
	if u.Metadata != nil {
		set.Metadata = *u.Metadata
	}
	if u.Extra != nil {
		set.Extra = *u.Extra
	}
	if u.SpendControl != nil {
		set.SpendControl = *u.SpendControl
	}
	if u.Model != nil {
		set.Agent.Model = *u.Model
	}
	if u.Reasoning != nil {
		set.Agent.Reasoning = *u.Reasoning
	}
	v.Settings = &set
	return v, nil
}

func (e *fakeEngine) DeleteSession(_ context.Context, owner string, id event.ID) error {
	s, err := e.find(owner, id)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.gone[id] = true
	e.mu.Unlock()
	s.add(event.Event{Kind: event.SessionDeleted})
	return nil
}

func (e *fakeEngine) Session(_ context.Context, owner string, id event.ID) (*fold.Session, error) {
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	return s.session(), nil
}

func (e *fakeEngine) Sessions(_ context.Context, owner string, q spec.SessionQuery, p spec.Page) ([]*fold.Session, bool, error) {
	e.mu.Lock()
	all := slices.Clone(e.sessions)
	e.mu.Unlock()
	var list []*fold.Session
next:
	for _, s := range all {
		v := s.session()
		if v.Owner != owner || v.Deleted || q.Settled && !v.Settings.Settled() || !q.AgentID.IsZero() && q.AgentID != v.Settings.Agent.ID {
			continue
		}
		for k, want := range q.Metadata {
			if v.Settings.Metadata[k] != want {
				continue next
			}
		}
		list = append(list, v)
	}
	return cutPage(list, p, func(v *fold.Session) event.ID { return v.ID })
}

// cutPage is a page of list, which is in order of creation.
func cutPage[T any](list []T, p spec.Page, id func(T) event.ID) ([]T, bool, error) {
	list = slices.Clone(list)
	if p.Desc {
		slices.Reverse(list)
	}
	if !p.After.IsZero() {
		at := slices.IndexFunc(list, func(v T) bool { return id(v) == p.After })
		if at < 0 {
			return nil, false, event.FailParam(event.CursorNotFound, "after", "the engine's own words")
		}
		list = list[at+1:]
	}
	if len(list) > p.Limit {
		return list[:p.Limit], true, nil
	}
	return list, false, nil
}

// told are all turns of a session, as its events tell them.
func (s *story) told() []*fold.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*fold.Turn
	for i := range s.events {
		v := s.views[i]
		if v == nil || v.Turn == nil {
			continue
		}
		at := slices.IndexFunc(list, func(t *fold.Turn) bool { return t.ID == v.Turn.ID })
		if at < 0 {
			list = append(list, v.Turn)
		} else {
			list[at] = v.Turn
		}
	}
	for i, t := range list {
		if live, ok := s.state.Turn(t.ID); ok {
			list[i] = live
		}
	}
	return list
}

func (e *fakeEngine) Turn(_ context.Context, owner string, id event.ID) (*fold.Turn, error) {
	e.mu.Lock()
	all := slices.Clone(e.sessions)
	e.mu.Unlock()
	for _, s := range all {
		if s.owner() != owner {
			continue
		}
		for _, t := range s.told() {
			if t.ID == id {
				return t, nil
			}
		}
	}
	return nil, event.Fail(event.TurnNotFound, "the engine's own words")
}

func (e *fakeEngine) Turns(_ context.Context, owner string, id event.ID, p spec.Page) ([]*fold.Turn, bool, error) {
	s, err := e.find(owner, id)
	if err != nil {
		return nil, false, err
	}
	return cutPage(s.told(), p, func(t *fold.Turn) event.ID { return t.ID })
}

func (e *fakeEngine) Items(_ context.Context, owner string, id event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	s, err := e.find(owner, id)
	if err != nil {
		return nil, false, err
	}
	var list []fold.ItemOf
	for _, t := range s.told() {
		list = append(list, t.AllItems()...)
	}
	return cutPage(list, p, func(i fold.ItemOf) event.ID { return i.Item.ID })
}

func (e *fakeEngine) TurnItems(ctx context.Context, owner string, _, turn event.ID, p spec.Page) ([]fold.ItemOf, bool, error) {
	t, err := e.Turn(ctx, owner, turn)
	if err != nil {
		return nil, false, err
	}
	return cutPage(t.AllItems(), p, func(i fold.ItemOf) event.ID { return i.Item.ID })
}

func (e *fakeEngine) Subagent(ctx context.Context, owner string, session, id event.ID) (*fold.Subagent, error) {
	list, _, err := e.Subagents(ctx, owner, session, spec.Page{Limit: 1 << 20})
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.ID() == id {
			return s, nil
		}
	}
	return nil, event.Fail(event.SubagentNotFound, "the engine's own words")
}

func (e *fakeEngine) Subagents(_ context.Context, owner string, id event.ID, p spec.Page) ([]*fold.Subagent, bool, error) {
	s, err := e.find(owner, id)
	if err != nil {
		return nil, false, err
	}
	var list []*fold.Subagent
	for _, t := range s.told() {
		list = append(list, t.Subagents...)
	}
	return cutPage(list, p, (*fold.Subagent).ID)
}

func (e *fakeEngine) Subscribe(_ context.Context, owner string, id event.ID, after int64) (call.Stream, error) {
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	head := int64(len(s.events))
	s.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case after > head:
		return nil, event.Fail(event.CursorNotFound, "the engine's own words")
	case after >= 0 && after < e.trimmed:
		return nil, &event.Failure{Code: event.CursorEvicted, Message: "gone", Oldest: string(appendCursor(nil, e.trimmed, 0))}
	case after < 0:
		after = head
	}
	e.subs++
	return &fakeStream{engine: e, story: s, pos: after}, nil
}

// fakeStream hands out batches with fixed borders, so they often begin before
// what is asked for.
type fakeStream struct {
	engine *fakeEngine
	story  *story
	pos    int64
	closed bool
}

const fakeBatch = 3

func (f *fakeStream) Next() (*fold.Batch, <-chan struct{}, error) {
	s := f.story
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.events)
	if int(f.pos) == n {
		if s.state.Session().Deleted {
			return nil, nil, io.EOF
		}
		return nil, s.wake, nil
	}
	from := int(f.pos) / fakeBatch * fakeBatch
	to := min(from+fakeBatch, n)
	f.pos = int64(to)
	return s.cut(from, to), nil, nil
}

func (f *fakeStream) After() int64 { return f.pos }

func (f *fakeStream) Close() {
	f.engine.mu.Lock()
	defer f.engine.mu.Unlock()
	if !f.closed {
		f.closed = true
		f.engine.subs--
	}
}

func (e *fakeEngine) CreateAgent(ctx context.Context, owner string, a *spec.Agent, key *spec.Key) error {
	if key != nil {
		e.mu.Lock()
		hash, ok := e.keys[key.Value]
		e.keys[key.Value] = key.Hash
		e.mu.Unlock()
		if ok && hash != key.Hash {
			return event.Fail(event.IdempotencyMismatch, "this key was used for another request")
		}
		if ok {
			*a = *e.agents[len(e.agents)-1]
			return nil
		}
	}
	return e.SaveAgent(ctx, owner, a)
}

func (e *fakeEngine) SaveAgent(_ context.Context, owner string, a *spec.Agent) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	saved := *a
	saved.Owner = owner
	for i, old := range e.agents {
		if old.ID == a.ID {
			e.agents[i] = &saved
			return nil
		}
	}
	e.agents = append(e.agents, &saved)
	return nil
}

func (e *fakeEngine) Agent(_ context.Context, owner string, id event.ID) (*spec.Agent, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.agents {
		if a.ID == id && a.Owner == owner {
			return a, nil
		}
	}
	return nil, event.Fail(event.AgentNotFound, "the engine's own words")
}

func (e *fakeEngine) Agents(_ context.Context, owner string, p spec.Page) ([]*spec.Agent, bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []*spec.Agent
	for _, a := range e.agents {
		if a.Owner == owner {
			list = append(list, a)
		}
	}
	return cutPage(list, p, func(a *spec.Agent) event.ID { return a.ID })
}

func (e *fakeEngine) DeleteAgent(ctx context.Context, owner string, id event.ID) error {
	if _, err := e.Agent(ctx, owner, id); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.agents = slices.DeleteFunc(e.agents, func(a *spec.Agent) bool { return a.ID == id })
	return nil
}

// ResolveModel knows codex and claude-code, saved agents by name, and takes any
// gpt- model for the pinned adapter or codex.
func (e *fakeEngine) ResolveModel(_ context.Context, owner, model, pin string) (*spec.Agent, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.agents {
		if a.Owner == owner && a.Name == model {
			return a, nil
		}
	}
	switch {
	case model == "codex", model == "claude-code":
		return &spec.Agent{Adapter: model, Model: model}, nil
	case len(model) > 4 && model[:4] == "gpt-":
		return &spec.Agent{Adapter: or(pin, "codex"), Model: model}, nil
	}
	return nil, event.FailParam(event.ModelNotFound, "model", "nobody here takes the model "+model)
}

// subscriber opens streams of st as its owner.
func subscriber(e *fakeEngine, st *story) func(after int64) (call.Stream, error) {
	return func(after int64) (call.Stream, error) {
		return e.Subscribe(context.Background(), st.owner(), st.id, after)
	}
}
