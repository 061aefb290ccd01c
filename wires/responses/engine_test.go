package responses_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files/filestest"
	"github.com/agenthost/agenthost/wires/responses"
)

// fakeEngine keeps sessions in memory. What a turn does is up to play, which is
// called in a goroutine of its own for each accepted turn.
type fakeEngine struct {
	filestest.Engine
	t    *testing.T
	play func(h *fakeTurn)
	wg   sync.WaitGroup

	mu       sync.Mutex
	sessions map[event.ID]*fakeSession
	agents   []*spec.Agent
	keys     map[string]*call.Posted
	hashes   map[string]string
	cancels  map[event.ID]chan struct{}
	inputs   []*spec.NewInput
	answered [][]spec.Action // posted instead of an input
	created  []*spec.NewSession
	pins     []string
	// refusals are answered by the method of that name.
	refusals map[string]error
	subs     int
}

type fakeSession struct {
	owner   string
	h       *history
	batches []*fold.Batch
	turns   map[event.ID]*fold.Turn
	wake    chan struct{}
	ended   bool // streams end
}

func newEngine(t *testing.T, play func(*fakeTurn)) *fakeEngine {
	e := &fakeEngine{
		t: t, play: play, sessions: map[event.ID]*fakeSession{}, keys: map[string]*call.Posted{}, hashes: map[string]string{},
		cancels: map[event.ID]chan struct{}{}, refusals: map[string]error{},
	}
	t.Cleanup(e.wg.Wait)
	return e
}

// fakeTurn is a turn while it plays.
type fakeTurn struct {
	e         *fakeEngine
	s         *fakeSession
	id        event.ID
	cancelled <-chan struct{}
}

// do writes events of the turn and publishes them.
func (f *fakeTurn) do(write func(h *history)) {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	f.s.h.turn = f.id
	f.s.h.items = 1 // the caller's message
	if t, ok := f.s.h.state.Turn(f.id); ok {
		f.s.h.items += uint32(len(t.Items))
	}
	write(f.s.h)
	f.s.publish()
}

// publish makes a batch of the events that are not in one yet.
func (s *fakeSession) publish() {
	from := 0
	for _, b := range s.batches {
		from += len(b.Events)
	}
	events, views := s.h.events[from:], s.h.views[from:]
	if len(events) == 0 {
		return
	}
	b := &fold.Batch{Session: s.h.state.Session().ID, Events: slices.Clone(events), Views: slices.Clone(views)}
	s.batches = append(s.batches, b)
	for i := range events {
		if v := views[i]; v != nil && v.Turn != nil {
			s.turns[v.Turn.ID] = v.Turn
		}
		if events[i].Kind == event.TurnForgotten {
			forgotten := *s.turns[events[i].Turn]
			forgotten.Forgotten = true
			s.turns[events[i].Turn] = &forgotten
		}
		if events[i].Kind == event.ItemRemoved {
			less := *s.turns[events[i].Turn]
			less.Removed = append(slices.Clone(less.Removed), events[i].Item)
			s.turns[events[i].Turn] = &less
		}
	}
	close(s.wake)
	s.wake = make(chan struct{})
}

func (e *fakeEngine) CreateSession(_ context.Context, owner string, n *spec.NewSession) (*call.Posted, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refusals["CreateSession"]; err != nil {
		return nil, err
	}
	if p, err := e.known(n.Key); p != nil || err != nil {
		return p, err
	}
	e.created = append(e.created, n)
	set := spec.Session{ID: event.NewID(), Owner: owner, Agent: n.Agent, Metadata: n.Metadata, Created: 1_700_000_000_000}
	h := &history{t: e.t, state: fold.New(), clock: set.Created}
	h.session(set)
	s := &fakeSession{owner: owner, h: h, turns: map[event.ID]*fold.Turn{}, wake: make(chan struct{})}
	s.publish()
	e.sessions[set.ID] = s
	if len(n.Items) > 0 {
		s.post(n.Items)
	}
	if n.Input == nil {
		p := &call.Posted{Session: s.h.state.Session()}
		if n.Key != nil {
			e.keys[n.Key.Value], e.hashes[n.Key.Value] = p, n.Key.Hash
		}
		return p, nil
	}
	return e.accept(s, n.Input, n.Key)
}

func (e *fakeEngine) known(key *spec.Key) (*call.Posted, error) {
	if key == nil || e.keys[key.Value] == nil {
		return nil, nil
	}
	if e.hashes[key.Value] != key.Hash {
		return nil, event.Fail(event.IdempotencyMismatch, "the key was used for another request")
	}
	p := *e.keys[key.Value]
	p.Replayed = true
	return &p, nil
}

func (e *fakeEngine) Post(_ context.Context, owner string, id event.ID, actions []spec.Action, key *spec.Key) (*call.Posted, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refusals["Post"]; err != nil {
		return nil, err
	}
	if p, err := e.known(key); p != nil || err != nil {
		return p, err
	}
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	if actions[0].Answer != nil {
		e.answered = append(e.answered, actions)
		return &call.Posted{Session: s.h.state.Session()}, nil
	}
	return e.accept(s, actions[0].Input, key)
}

func (e *fakeEngine) accept(s *fakeSession, in *spec.NewInput, key *spec.Key) (*call.Posted, error) {
	e.inputs = append(e.inputs, in)
	if now := *s.h.state.Settings(); !now.Settled() && in.Agent != nil {
		now.Agent = *in.Agent
		s.h.set(now)
	}
	before := s.h.state.Session().Head
	var overrides []byte
	if in.Overrides != nil {
		var err error
		if overrides, err = json.Marshal(in.Overrides); err != nil {
			return nil, err
		}
	}
	id := event.NewTurnID()
	s.h.input(id, event.Input{
		Items: in.Items, Prompt: in.Prompt(), Waiting: s.h.state.Session().Open > 0, Overrides: overrides,
		Wire: in.Wire, Echo: in.Echo, Background: in.Background, Forget: in.Forget,
	})
	s.publish()
	p := &call.Posted{Session: s.h.state.Session(), Turns: []*fold.Turn{s.turns[id]}, Before: before}
	if key != nil {
		e.keys[key.Value], e.hashes[key.Value] = p, key.Hash
	}
	cancelled := make(chan struct{})
	e.cancels[id] = cancelled
	e.wg.Go(func() { e.play(&fakeTurn{e: e, s: s, id: id, cancelled: cancelled}) })
	return p, nil
}

func (e *fakeEngine) find(owner string, id event.ID) (*fakeSession, error) {
	s := e.sessions[id]
	if s == nil || s.owner != owner {
		return nil, event.Fail(event.SessionNotFound, "no such session: "+id.Hex())
	}
	return s, nil
}

func (e *fakeEngine) turn(owner string, id event.ID) (*fakeSession, *fold.Turn, error) {
	for _, s := range e.sessions {
		if t := s.turns[id]; t != nil && s.owner == owner {
			if now, ok := s.h.state.Turn(id); ok {
				t = now
			}
			return s, t, nil
		}
	}
	return nil, nil, event.Fail(event.TurnNotFound, "no such turn: "+id.Hex())
}

func (e *fakeEngine) Turn(_ context.Context, owner string, id event.ID) (*fold.Turn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refusals["Turn"]; err != nil {
		return nil, err
	}
	_, t, err := e.turn(owner, id)
	return t, err
}

func (e *fakeEngine) TurnInBrief(ctx context.Context, owner string, id event.ID) (*fold.Turn, error) {
	t, err := e.Turn(ctx, owner, id)
	if err != nil || !t.Status.Ended() {
		return t, err
	}
	brief := *t
	brief.Items, brief.Settings = nil, nil
	return &brief, nil
}

func (e *fakeEngine) Session(_ context.Context, owner string, id event.ID) (*fold.Session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	now := s.h.state.Session()
	return &now, nil
}

func (e *fakeEngine) CancelTurn(_ context.Context, owner string, id event.ID) (*fold.Turn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, t, err := e.turn(owner, id)
	if err != nil {
		return nil, err
	}
	if err := e.refusals["CancelTurn"]; err != nil {
		return nil, err
	}
	if c := e.cancels[id]; c != nil && !t.Status.Ended() {
		close(c)
		delete(e.cancels, id)
	}
	return t, nil
}

func (e *fakeEngine) ForgetTurn(_ context.Context, owner string, id event.ID) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, t, err := e.turn(owner, event.TurnOf(id))
	if err != nil {
		return err
	}
	if _, some := t.Without(id); some {
		s.h.add(event.Event{Kind: event.ItemRemoved, Turn: t.ID, Item: id})
	} else {
		s.h.on(t.ID, event.TurnForgotten)
	}
	s.publish()
	return nil
}

func (e *fakeEngine) ResolveModel(_ context.Context, _, model, pinned string) (*spec.Agent, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pins = append(e.pins, pinned)
	for _, a := range e.agents {
		if a.Name == model {
			found := *a
			return &found, nil
		}
	}
	switch {
	case model == "codex" || model == "claude-code":
		return &spec.Agent{Adapter: model, Model: model}, nil
	case model == "nobody":
		return nil, event.Fail(event.AdapterRequired, "no adapter takes this model")
	case pinned != "":
		return &spec.Agent{Adapter: pinned, Model: model}, nil
	}
	return &spec.Agent{Adapter: "codex", Model: model}, nil
}

func (e *fakeEngine) Agent(_ context.Context, _ string, id event.ID) (*spec.Agent, error) {
	for _, a := range e.agents {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, event.Fail(event.AgentNotFound, "no such agent")
}

func (e *fakeEngine) AgentsNamed(_ context.Context, _, name string) ([]*spec.Agent, error) {
	var out []*spec.Agent
	for _, a := range e.agents {
		if a.Name == name {
			out = append(out, a)
		}
	}
	return out, nil
}

func (e *fakeEngine) Agents(_ context.Context, _ string, p spec.Page) ([]*spec.Agent, bool, error) {
	if err := e.refusals["Agents"]; err != nil {
		return nil, false, err
	}
	from := 0
	for i, a := range e.agents {
		if a.ID == p.After {
			from = i + 1
		}
	}
	to := min(from+p.Limit, len(e.agents))
	return e.agents[from:to], to < len(e.agents), nil
}

func (e *fakeEngine) Subscribe(_ context.Context, owner string, id event.ID, after int64) (call.Stream, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refusals["Subscribe"]; err != nil {
		return nil, err
	}
	s, err := e.find(owner, id)
	if err != nil {
		return nil, err
	}
	e.subs++
	return &fakeStream{e: e, s: s, after: after}, nil
}

type fakeStream struct {
	e     *fakeEngine
	s     *fakeSession
	after int64
}

func (f *fakeStream) After() int64 { return f.after }

func (f *fakeStream) Next() (*fold.Batch, <-chan struct{}, error) {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	if err := f.e.refusals["Next"]; err != nil {
		return nil, nil, err
	}
	for _, b := range f.s.batches {
		if b.Last() > f.after {
			f.after = b.Last()
			return b, nil, nil
		}
	}
	if f.s.ended {
		return nil, nil, io.EOF
	}
	return nil, f.s.wake, nil
}

func (f *fakeStream) Close() {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	f.e.subs--
}

var _ responses.Engine = (*fakeEngine)(nil)
