package spec

import (
	"encoding/json"
	"time"

	"github.com/agenthost/agenthost/actors/event"
)

// Kinds of environment.
const (
	EnvNone       = "none"
	EnvSelfHosted = "self_hosted"
)

// Environment is where a session's agent works.
type Environment struct {
	Type string   `json:"type"`
	ID   event.ID `json:"id"`
	// Workspace is an absolute directory; "" means private to the session,
	// below the state directory.
	Workspace  string   `json:"workspace,omitempty"`
	Capability []string `json:"capability,omitempty"` // capability directories
}

// Session is a session's settings: what its next turn runs with. It is the
// payload of event.Settings.
type Session struct {
	ID          event.ID          `json:"id"`
	Owner       string            `json:"owner"`
	Agent       Agent             `json:"agent"`
	Environment Environment       `json:"environment"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Created     int64             `json:"created"` // Unix milliseconds
	// Extra is wire-only settings given back as they came (review,
	// prompt_cache_options, vault_ids, ...), a JSON object or nil.
	Extra json.RawMessage `json:"extra,omitempty"`
	// SpendControl is the caller's own budget for the session.
	SpendControl SpendControl `json:"spend_control,omitzero"`
}

// SpendControl is a caller's budget for a session. The zero value is none.
type SpendControl struct {
	// Asked says that the caller set it, with a limit or without.
	Asked bool `json:"asked,omitempty"`
	// Limit is in US cents; 0 is no limit.
	Limit int64 `json:"limit,omitempty"`
}

// Overrides is what one turn changes for itself alone.
type Overrides struct {
	Model        *string     `json:"model,omitempty"`
	Instructions *string     `json:"instructions,omitempty"`
	Reasoning    *Reasoning  `json:"reasoning,omitempty"`
	Text         *TextFormat `json:"text,omitempty"`
	Functions    *[]Function `json:"functions,omitempty"`
	// MCP are servers of this turn besides the agent's; Secrets is as in Agent.
	MCP     *map[string]MCPServer `json:"mcp,omitempty"`
	Secrets event.ID              `json:"secrets,omitzero"`
	// BaseURL is the provider that the request names; see ProviderKey.
	BaseURL *string `json:"base_url,omitempty"`
}

// Servers are those of the turn; o may be nil.
func (o *Overrides) Servers() map[string]MCPServer {
	if o == nil || o.MCP == nil {
		return nil
	}
	return *o.MCP
}

// NewSession asks the host for a session, and for its first input if Input is
// not nil.
type NewSession struct {
	Agent       Agent
	Environment Environment
	Metadata    map[string]string
	Extra       json.RawMessage
	Input       *NewInput
	// Conversation says that there is no agent yet: the first input brings it. Items
	// are posted into it from the start.
	Conversation bool
	Items        []*event.Item
	Key          *Key
	// SpendControl is the caller's budget.
	SpendControl SpendControl
}

// Imported is the adapter, and the model, of sessions that another server kept. It
// runs nothing: they can be read, not continued.
const Imported = "imported"

// Settled reports whether the session has an agent. A conversation has none before
// its first input.
func (s *Session) Settled() bool { return s.Agent.Adapter != "" }

// NewInput asks for one turn.
type NewInput struct {
	// Items are the caller's messages. Their ids are set at acceptance.
	Items []*event.Item
	// Before is what was said before the messages, a line an entry, oldest first; the
	// prompt tells the newest of it as a preface. It is no item.
	Before []string
	// Agent is who answers in a conversation that has no agent yet; one that has must
	// be able to go on with it (Agent.Continue).
	Agent     *Agent
	Overrides *Overrides
	Wire      string // "responses" or "agents"
	// Echo is given back in Responses objects.
	Echo       json.RawMessage
	Background bool
	Forget     bool
	// OnBusy is the request's own wish.
	OnBusy OnBusy
	// After, when set, must be the session's newest turn, or the newest completed
	// one when all later ones failed or were cancelled; else the input is refused
	// with PreviousNotLatest.
	After event.ID
}

// Key makes a creating call safe to repeat for 24 hours.
type Key struct {
	Value string // of the Idempotency-Key header
	Hash  string // of method, path and body
}

// Update changes a live session from its next turn on. nil fields stay.
type Update struct {
	Metadata     *map[string]string
	Model        *string
	Instructions *string
	Reasoning    *Reasoning
	ServiceTier  *string
	Tools        *json.RawMessage
	Functions    *[]Function
	// MCP are the servers that callers bring; those of the configuration stay.
	MCP          *map[string]MCPServer
	Extra        *json.RawMessage
	SpendControl *SpendControl
	// Secrets names what the host keeps of the header values of MCP.
	Secrets event.ID
}

// Action is one thing a caller posts to a session: exactly one field is set.
type Action struct {
	Input *NewInput
	// Cancel ends the running turn, else the oldest queued one; on an idle session
	// it does nothing.
	Cancel bool
	Answer *Answer
}

// Answer is what a caller says to an open item of a waiting turn. Actions that
// answer stand alone: they are not mixed with others, and all are of one turn.
type Answer struct {
	// Item is the FunctionCall or the Approval.
	Item event.ID
	// Output or Parts is what a function gave; Failed and Error say that it failed.
	Output string
	Parts  []event.Part
	Failed bool
	Error  string
	// Approve is the decision on an approval, Reason what the agent is told.
	Approve bool
	Reason  string
	// Cancel denies an approval and ends the turn.
	Cancel bool
	// Permission says that this answers an Approval, and no FunctionCall.
	Permission bool
	// Leg, of a Responses request, must answer all that is open. It stands at the
	// first answer.
	Leg *Leg
}

// Leg is how a Responses request goes on with a turn.
type Leg struct {
	Echo       json.RawMessage
	Background bool
	Forget     bool
	// Conclude ends the turn as completed once it has its answers: the caller goes on
	// elsewhere.
	Conclude bool
}

// Page bounds a list. After is exclusive; the zero ID starts at the beginning.
type Page struct {
	After event.ID
	Limit int
	Desc  bool
}

// SessionQuery narrows a list of sessions. Zero fields match all.
type SessionQuery struct {
	AgentID  event.ID
	Metadata map[string]string
	// Settled leaves out conversations that have no agent yet.
	Settled bool
}

// Waiting is a turn that waits for a slot of the host.
type Waiting struct {
	Session, Turn event.ID
	Principal     string
	// Position is 1 for who is expected to get the next slot; Wait is how long that may
	// take, 0 while nothing is known of turns here. Since is when it came, in
	// milliseconds.
	Position int
	Wait     time.Duration
	Since    int64
}
