package agents

import (
	"context"
	"io"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// Engine is what the wire needs of the host. Errors for the caller are
// *event.Failure; owner is the principal whose records are looked at.
type Engine interface {
	files.Source
	CreateSession(ctx context.Context, owner string, n *spec.NewSession) (*call.Posted, error)
	Post(ctx context.Context, owner string, session event.ID, actions []spec.Action, key *spec.Key) (*call.Posted, error)
	UpdateSession(ctx context.Context, owner string, id event.ID, u *spec.Update) (*fold.Session, error)
	DeleteSession(ctx context.Context, owner string, id event.ID) error
	Session(ctx context.Context, owner string, id event.ID) (*fold.Session, error)
	Sessions(ctx context.Context, owner string, q spec.SessionQuery, p spec.Page) (list []*fold.Session, more bool, err error)
	Turn(ctx context.Context, owner string, id event.ID) (*fold.Turn, error)
	Turns(ctx context.Context, owner string, session event.ID, p spec.Page) ([]*fold.Turn, bool, error)
	Items(ctx context.Context, owner string, session event.ID, p spec.Page) ([]fold.ItemOf, bool, error)
	TurnItems(ctx context.Context, owner string, session, turn event.ID, p spec.Page) ([]fold.ItemOf, bool, error)
	Subagent(ctx context.Context, owner string, session, id event.ID) (*fold.Subagent, error)
	Subagents(ctx context.Context, owner string, session event.ID, p spec.Page) ([]*fold.Subagent, bool, error)
	// Queue lists the turns of owner, of everybody for "", that wait for a slot, the
	// next one first. The list is shared.
	Queue(ctx context.Context, owner string) ([]*spec.Waiting, error)
	// Subscribe reads a session's events after the given number; 0 is all of them,
	// -1 only those to come. CursorNotFound for a number that was never given.
	Subscribe(ctx context.Context, owner string, session event.ID, after int64) (call.Stream, error)
	// Artifacts lists by publication; the zero environment is any.
	Artifacts(ctx context.Context, owner string, session, environment event.ID, p spec.Page) ([]*spec.Artifact, bool, error)
	Artifact(ctx context.Context, owner string, session, id event.ID) (*spec.Artifact, error)
	OpenArtifact(ctx context.Context, owner string, session, id event.ID) (*spec.Artifact, io.ReadSeekCloser, error)
	DeleteArtifact(ctx context.Context, owner string, session, id event.ID) error
	// CreateAgent keeps a new agent, one for a key; a becomes what was made.
	CreateAgent(ctx context.Context, owner string, a *spec.Agent, key *spec.Key) error
	SaveAgent(ctx context.Context, owner string, a *spec.Agent) error
	Agent(ctx context.Context, owner string, id event.ID) (*spec.Agent, error)
	Agents(ctx context.Context, owner string, p spec.Page) ([]*spec.Agent, bool, error)
	DeleteAgent(ctx context.Context, owner string, id event.ID) error
	// ResolveModel gives a saved agent's copy, or a nameless one with Adapter and
	// Model set.
	ResolveModel(ctx context.Context, owner, model, pinned string) (*spec.Agent, error)
}

// Options of the wire. The zero value is usable.
type Options struct {
	// Hosted accepts environments of type openai_hosted and stands in for them with
	// a private directory of this host.
	Hosted bool
	// Now is the clock of agents' created_at; nil means time.Now.
	Now func() time.Time
}

// Wire answers the operations of the Agents API. Its methods are call.Handlers.
type Wire struct {
	engine Engine
	hosted bool
	now    func() time.Time
}

// New builds the wire over engine.
func New(engine Engine, o Options) *Wire {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Wire{engine: engine, hosted: o.Hosted, now: o.Now}
}
