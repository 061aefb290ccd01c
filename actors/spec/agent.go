package spec

import (
	"encoding/json"
	"time"

	"github.com/agenthost/agenthost/actors/event"
)

// Permissions is what an agent may do to the machine. Adapters map each to
// flags of their CLI or refuse it; none is ever widened.
type Permissions string

// The closed set of permissions. Empty means the runtime's configured default.
const (
	ReadOnly       Permissions = "read_only"
	WorkspaceWrite Permissions = "workspace_write"
	FullAccess     Permissions = "full_access"
	Ask            Permissions = "ask"
)

// Reasoning is the wish for thinking effort and its summary. Empty is unset.
type Reasoning struct {
	Effort  string `json:"effort,omitempty"`  // none minimal low medium high xhigh max
	Summary string `json:"summary,omitempty"` // concise detailed auto
}

// TextFormat is the wish for the answer's form.
type TextFormat struct {
	Type      string          `json:"type,omitempty"`   // "" or text, json_schema
	Schema    json.RawMessage `json:"schema,omitempty"` // of json_schema
	Name      string          `json:"name,omitempty"`
	Verbosity string          `json:"verbosity,omitempty"` // low medium high
}

// MultiAgent is the wish for subagents.
type MultiAgent struct {
	Enabled bool `json:"enabled,omitempty"`
	Max     *int `json:"max,omitempty"` // at once
	// Disabled says that there shall be none. Neither leaves it to the CLI.
	Disabled bool `json:"disabled,omitempty"`
}

// Function is a tool that the caller runs: the host offers it to the CLI and hands
// its calls on.
type Function struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON schema of the arguments, an object; nil for none.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Strict     bool            `json:"strict,omitempty"`
}

// Limits bound one turn, if they do not say otherwise. Zero means the host's own.
type Limits struct {
	TurnTimeout time.Duration `json:"turn_timeout,omitempty"`
	IdleTimeout time.Duration `json:"idle_timeout,omitempty"`
	MaxTurns    int           `json:"max_turns,omitempty"` // of the CLI's inner loop
	MaxUSD      float64       `json:"max_usd,omitempty"`
	MaxTokens   int64         `json:"max_tokens,omitempty"`
	// SessionTokens and SessionUSD bound all turns of a session together.
	SessionTokens int64   `json:"session_tokens,omitempty"`
	SessionUSD    float64 `json:"session_usd,omitempty"`
	// The rest bounds what a turn's processes take of the machine; OutputBytes is what
	// the CLI may print.
	CPU         time.Duration `json:"cpu,omitempty"`
	MemoryBytes int64         `json:"memory_bytes,omitempty"`
	Processes   int           `json:"processes,omitempty"` // with their threads
	FileBytes   int64         `json:"file_bytes,omitempty"`
	OpenFiles   int           `json:"open_files,omitempty"`
	OutputBytes int64         `json:"output_bytes,omitempty"`
	// Concurrency is how many turns of the agent run at once in all its sessions,
	// TurnsPerMinute how many inputs it takes.
	Concurrency    int `json:"concurrency,omitempty"`
	TurnsPerMinute int `json:"turns_per_minute,omitempty"`
}

// Agent is a saved or an inline agent.
type Agent struct {
	ID    event.ID `json:"id"`
	Owner string   `json:"owner,omitempty"`
	Name  string   `json:"name,omitempty"`
	// Adapter is the adapter's name, resolved; never an alias.
	Adapter      string            `json:"adapter"`
	Model        string            `json:"model,omitempty"` // as the caller named it
	Instructions string            `json:"instructions,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
	Reasoning    Reasoning         `json:"reasoning,omitzero"`
	ServiceTier  string            `json:"service_tier,omitempty"`
	Text         TextFormat        `json:"text,omitzero"`
	MultiAgent   MultiAgent        `json:"multi_agent,omitzero"`
	// Tools is the caller's list as the wire gives it back; nil for none.
	Tools json.RawMessage `json:"tools,omitempty"`
	// Functions are the caller's own among them.
	Functions   []Function           `json:"functions,omitempty"`
	MCP         map[string]MCPServer `json:"mcp,omitempty"`
	Permissions Permissions          `json:"permissions,omitempty"`
	Limits      Limits               `json:"limits,omitzero"`
	// Env is set for the CLI as it is. SecretEnv maps a variable of the CLI to
	// the variable of the host's environment that holds its value.
	Env       map[string]string `json:"env,omitempty"`
	SecretEnv map[string]string `json:"secret_env,omitempty"`
	Workspace string            `json:"workspace,omitempty"`
	// Saved says that the agent has a record of its own.
	Saved bool `json:"saved,omitempty"`
	// Locked marks an agent of the configuration, which callers cannot change.
	Locked  bool  `json:"locked,omitempty"`
	Created int64 `json:"created,omitempty"` // Unix seconds
	Updated int64 `json:"updated,omitempty"`
	// Secrets names what the host keeps in memory of the header values of MCP; zero
	// for none.
	Secrets event.ID `json:"secrets,omitzero"`
	// LLM is the provider of an agent of the configuration; nil for its adapter's.
	LLM *LLM `json:"llm,omitempty"`
}

// LLM says where an agent's provider is. What is empty is as for others of its adapter.
type LLM struct {
	// BaseURL is the address, BaseURLEnv and APIKeyEnv the variables of the host's
	// environment that hold address and key.
	BaseURL    string `json:"base_url,omitempty"`
	BaseURLEnv string `json:"base_url_env,omitempty"`
	APIKeyEnv  string `json:"api_key_env,omitempty"`
	WireAPI    string `json:"wire_api,omitempty"`
}

// Continue is the model that a session of a goes on with when its caller now names
// other: nil for its own. Another agent than the session's is refused.
func (a *Agent) Continue(other *Agent) (*string, error) {
	if other.Adapter != a.Adapter || other.Saved && other.ID != a.ID {
		return nil, event.FailParam(event.InvalidRequest, "model", "this conversation belongs to "+a.Adapter+" and cannot go on with another agent; start a new one")
	}
	named := other.CLIModel()
	if other.Saved || named == "" || named == a.Model {
		return nil, nil
	}
	return &named, nil
}

// CLIModel is the model to name to the CLI: "" when the caller's model only
// chose the adapter.
func (a *Agent) CLIModel() string {
	if a.Model == a.Adapter {
		return ""
	}
	return a.Model
}
