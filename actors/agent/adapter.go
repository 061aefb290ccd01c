package agent

import (
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// Adapter knows one CLI. It is stateless and safe for concurrent use.
type Adapter interface {
	// Name is the adapter's name: [a-z0-9-]+.
	Name() string
	// Aliases are other names callers use for it.
	Aliases() []string
	// Binary is the program's usual file name.
	Binary() string
	// Capabilities says what it can do with the exec driver.
	Capabilities() Capabilities
	// Validate refuses a turn that this CLI cannot run, before anything is
	// spawned: an *event.Failure naming the field.
	Validate(*Request) error
	// Invocation says what to run for the turn. It is called after Validate and
	// may not do I/O.
	Invocation(*Request) (*Invocation, error)
	// NewParser reads the output of one run.
	NewParser(*Request) Parser
}

// Locator is implemented by an adapter whose installed command is only a
// wrapper: Locate gives the program to spawn instead. It may look at the file
// system; it is called once per installed binary, not once per turn.
type Locator interface {
	Locate(found string) string
}

// Versioner is implemented by an adapter whose program tells its version.
// VersionArgs make it do that and nothing else; a program that somebody declared
// is never run only to be asked.
type Versioner interface {
	VersionArgs() []string
}

// Flagged is implemented by an adapter whose program lists what it takes. Such a
// program is asked when its version is another than the one the adapter was tested
// with, once per installed binary, and what it does not list is refused before a
// turn is started.
type Flagged interface {
	// Help gives the arguments that make the program list what it takes for a run
	// with args (nil for a usual one), and the words that may be among args and have
	// to stand in that list, each with the field of a request that asks for it; "" for
	// those that every turn needs. A word that the program takes and does not list is
	// not among them.
	Help(args []string) (help []string, words map[string]string)
}

// SelfServing is implemented by an adapter whose CLI talks to itself by TCP, at a port
// that the system gives it: where ports are allowed by number, it cannot work.
type SelfServing interface{ SelfServing() }

// Capabilities is what an adapter can do. Reported at /v1/agents/runtimes.
type Capabilities struct {
	Resume       bool               `json:"resume"`
	TextDeltas   bool               `json:"partial_deltas"`
	MCP          bool               `json:"mcp"`
	Instructions bool               `json:"system_prompt"`
	BaseURL      bool               `json:"base_url"`
	MaxTurns     bool               `json:"max_turns"`
	Budget       bool               `json:"budget"`
	Schema       bool               `json:"output_schema"`
	Images       bool               `json:"images"`
	Reasoning    bool               `json:"reasoning_effort"`
	Permissions  []spec.Permissions `json:"permissions"`
	// Confined says that workspace_write is enforced by the CLI's own sandbox.
	Confined bool `json:"confined"`
	// Functions says that it can be offered the caller's functions (Request.Host).
	Functions bool `json:"functions"`
	// Experimental marks an adapter whose CLI was not run by its authors.
	Experimental bool `json:"experimental"`
	// Subagents says that the CLI has subagents and tells of them; it must take
	// Request.MultiAgent.
	Subagents bool `json:"subagents"`
	// Usage says that the CLI tells how many tokens a turn used; Budget that it
	// tells what they cost and keeps a limit in money itself.
	Usage bool `json:"usage"`
	// Steer says that a message can become part of a turn that runs; its Protocol is a
	// Steerer.
	Steer bool `json:"steer"`
}

// Provided is implemented by an adapter whose CLI has a provider of its own that it
// talks to without a base URL.
type Provided interface {
	// Provider is the base URL of it, as LLM.BaseURL would name it.
	Provider() string
}

// LLM is the provider a CLI talks to. Empty fields are left to the CLI.
type LLM struct {
	BaseURL string
	APIKey  string // secret: reaches the CLI by environment only
	WireAPI string // "responses"
}

// Request is everything about one turn that an adapter may need.
type Request struct {
	Session, Turn event.ID
	// Previous is the turn before in the session, however it ended; zero for the first.
	Previous event.ID
	// Prompt is what the caller asks; never empty.
	Prompt string
	// Images are paths of files in Dir.
	Images []string
	// Model is the model to name to the CLI, "" for the CLI's own choice.
	Model        string
	Instructions string
	Reasoning    spec.Reasoning
	Text         spec.TextFormat
	Permissions  spec.Permissions // never empty
	MCP          map[string]spec.MCPServer
	Limits       spec.Limits
	MultiAgent   spec.MultiAgent
	// Functions are the caller's tools; Host, set when there are any or when
	// Permissions is Ask, is where the CLI reaches them.
	Functions []spec.Function
	Host      *HostServer

	// Native is the CLI's own session id to resume, "" on the first turn. FirstTurn
	// says that the session has not run before.
	Native string
	// Carry is what the previous turn's parser asked to keep.
	Carry []byte

	// Binary is the program that will be spawned.
	Binary string
	// Workspace is the working directory. Home outlives the turn and belongs to
	// the CLI's state; "" means the user's own. Dir is private to the turn, 0700,
	// and removed after it; it is where Invocation.Files are written.
	Workspace, Home, Dir string

	LLM       LLM
	ExtraArgs []string
	// Root says that the host runs as uid 0; Sandboxed that the machine is itself
	// the sandbox.
	Root, Sandboxed bool
	// Confined says that the host itself holds the CLI to its permissions, in a way in
	// which a sandbox of the CLI's own could not start.
	Confined bool
	// KeyFD is the descriptor from which the CLI reads LLM.APIKey, once, which then
	// belongs nowhere else; 0 when there is none. See KeyReader.
	KeyFD int
}

// HostServer is the host's own MCP server (streamable HTTP) for one turn. It offers
// the caller's functions under their names and, to a Prompter, the tool that asks
// the caller for permission.
type HostServer struct {
	// Name is what the CLI calls the server. Calls to it are not told as items: the
	// host knows them already.
	Name string
	URL  string
	// TokenEnv is the variable that holds the bearer token, Token.
	TokenEnv, Token string // Token is a secret
	// Timeout is how long the CLI must be willing to wait for a call.
	Timeout time.Duration
}

// KeyReader is implemented by an adapter whose CLI can read its key from a pipe that it
// inherits, so that the key is in no environment: neither in its own, which all
// processes of its user can read, nor in that of the commands that it runs.
type KeyReader interface {
	Adapter
	// ReadsKey says so of a version of the program, as that tells it; "" is one that
	// tells none.
	ReadsKey(version string) bool
}

// Keeper is implemented by an adapter whose CLI keeps each conversation in files of
// Request.Home that bear the conversation's id.
type Keeper interface {
	// Kept are patterns (path/filepath.Match) below the home. While no file has one of
	// them the CLI does not know the conversation.
	Kept(native string) []string
}

// Prompter is implemented by an adapter whose CLI asks a tool of an MCP server
// before it does something that needs permission (spec.Ask).
type Prompter interface {
	// PromptTool is the tool that the host offers to it.
	PromptTool() spec.Function
	// Prompt reads the arguments of a call of it.
	Prompt(arguments []byte) (Prompt, error)
	// Permit is the text that the tool returns.
	Permit(p Prompt, approved bool, reason string) string
}

// Prompt is what a CLI wants to do.
type Prompt struct {
	// Server and Tool name it; Server is "" for a tool of the CLI's own.
	Server, Tool string
	// Arguments are the tool's, JSON.
	Arguments string
	// Message is for people; "" for the host's words.
	Message string
}

// Invocation is one run of a CLI. Secrets appear in Env and Stdin only.
type Invocation struct {
	// Args follow the program's name.
	Args []string
	// Env is added to the engine's allowlisted environment, "NAME=value"; a
	// later entry wins.
	Env []string
	// Stdin is written and closed; empty means /dev/null.
	Stdin []byte
	// Files are written to Request.Dir with mode 0600 before the start.
	Files []File
	// Secrets are values to redact beyond Request.LLM.APIKey.
	Secrets []string
	// ExitIsVerdict says that the dialect has no terminal line: exit 0 is
	// completed. The idle clock is then off unless configured.
	ExitIsVerdict bool
}

// File is one file of a turn's private directory.
type File struct {
	Name string // a plain file name
	Data []byte
}
