package responses

import (
	"context"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// Engine is what this wire needs of the host.
type Engine interface {
	files.Source
	CreateSession(ctx context.Context, owner string, n *spec.NewSession) (*call.Posted, error)
	Post(ctx context.Context, owner string, session event.ID, actions []spec.Action, key *spec.Key) (*call.Posted, error)
	CancelTurn(ctx context.Context, owner string, turn event.ID) (*fold.Turn, error)
	ForgetTurn(ctx context.Context, owner string, turn event.ID) error
	UpdateSession(ctx context.Context, owner string, id event.ID, u *spec.Update) (*fold.Session, error)
	DeleteSession(ctx context.Context, owner string, id event.ID) error
	// PostItems puts items into a session without asking for a turn. The result's one
	// turn is their note: its items are the posted ones.
	PostItems(ctx context.Context, owner string, session event.ID, items []*event.Item, key *spec.Key) (*call.Posted, error)
	// AllItems lists the items of turns and of notes, Item reads one; of any session
	// of the owner when session is zero.
	AllItems(ctx context.Context, owner string, session event.ID, p spec.Page) ([]fold.ItemOf, bool, error)
	Item(ctx context.Context, owner string, session, item event.ID) (*fold.ItemOf, error)
	RemoveItem(ctx context.Context, owner string, session, item event.ID) error
	Session(ctx context.Context, owner string, id event.ID) (*fold.Session, error)
	Turn(ctx context.Context, owner string, id event.ID) (*fold.Turn, error)
	// TurnInBrief is a turn without items once it has ended.
	TurnInBrief(ctx context.Context, owner string, id event.ID) (*fold.Turn, error)
	// Subscribe's context bounds the call, not the stream.
	Subscribe(ctx context.Context, owner string, session event.ID, after int64) (call.Stream, error)
	ResolveModel(ctx context.Context, owner, model, pinned string) (*spec.Agent, error)
	Agent(ctx context.Context, owner string, id event.ID) (*spec.Agent, error)
	AgentsNamed(ctx context.Context, owner, name string) ([]*spec.Agent, error)
	Agents(ctx context.Context, owner string, p spec.Page) ([]*spec.Agent, bool, error)
}

// Adapter is a mounted adapter, which is a model of this wire.
type Adapter struct {
	Name    string
	Aliases []string
	// Images says that it takes pictures in a message.
	Images bool
}

// Options of a Wire.
type Options struct {
	Adapters []Adapter
	// Started is when the host started, in Unix seconds: the age of its models.
	Started int64
	// CancelWait is how long a cancel waits for the turn's end before it answers
	// with the response as it stands; 10 s when zero, more than the kill ladder
	// takes.
	CancelWait time.Duration
}

// Wire answers the operations of the Responses wire.
type Wire struct {
	engine Engine
	opts   Options
}

// New makes the wire over engine.
func New(engine Engine, opts Options) *Wire {
	if opts.CancelWait <= 0 {
		opts.CancelWait = 10 * time.Second
	}
	return &Wire{engine: engine, opts: opts}
}

// adapter finds a mounted adapter by name or alias.
func (w *Wire) adapter(name string) (Adapter, bool) {
	for _, a := range w.opts.Adapters {
		if a.Name == name {
			return a, true
		}
		for _, alias := range a.Aliases {
			if alias == name {
				return a, true
			}
		}
	}
	return Adapter{}, false
}

// Unavailable answers operations of this wire that are not built.
func (w *Wire) Unavailable(c *call.Call) {
	c.Fail(event.FailParam(event.OperationUnavailable, c.Operation, "the operation "+c.Operation+" is not available on this host"))
}

// Compact answers POST /responses/compact.
func (w *Wire) Compact(c *call.Call) { w.Unavailable(c) }

// CountInputTokens answers POST /responses/input_tokens.
func (w *Wire) CountInputTokens(c *call.Call) { w.Unavailable(c) }
