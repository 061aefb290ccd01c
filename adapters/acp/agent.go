package acp

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
)

// Agent is what the protocol has to know of the CLI that it speaks with.
type Agent struct {
	// Name is the adapter's, the server of the CLI's own tools.
	Name string
	// Modes say how each permission is kept; one without a mode is refused.
	Modes map[spec.Permissions]Mode
	// Mark is the variable that a session's commands have in their environment, with
	// the session's id; "" when there is none.
	Mark string
	// Close is the method that gives a session up, for a CLI that has another than
	// the protocol's own.
	Close string
	// Auth is the way of signing in that is asked for at the start; "" for none.
	Auth string
	// OwnServers says that the process was started with the MCP servers. Else each
	// session is told of its own.
	OwnServers bool
	// ServerEnv is what tool servers that the CLI starts have in their environment
	// besides their own.
	ServerEnv map[string]string
	// OwnModel says that the process was started with the model. Else the session is
	// told to take it.
	OwnModel bool
	// Titled says that a call has no input: a shell's has its command as its title, a tool
	// server's the names of both.
	Titled bool
	// Bound says that a process serves one session, which stays open in it: the CLI
	// cannot be relied on to load one again.
	Bound bool
	// Usage says where tokens are counted.
	Usage Counting
}

// Mode is how a permission is kept.
type Mode struct {
	// ID is the session mode that is set; "" leaves the CLI's own.
	ID string
	// Answer is what its questions get.
	Answer Answer
}

// Answer is what a question for permission gets.
type Answer string

// Answers. Calls of the agent's MCP servers are allowed whatever the answer, but for
// AskCaller; edits outside the workspace are denied with workspace_write.
const (
	Deny      Answer = "deny"
	Allow     Answer = "allow"
	AskCaller Answer = "ask"
)

// Counting says where a CLI tells how many tokens a turn used.
type Counting uint8

// Countings. What PromptResponse.usage holds differs between CLIs: of the session, of
// the turn or of its last request; so only known ones are counted.
const (
	Uncounted Counting = iota
	// ByRequest: in _meta.usage of a message's piece, behind each request.
	ByRequest
)

var order = []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess, spec.Ask}

// Permissions are those that have a mode.
func (a *Agent) Permissions() (out []spec.Permissions) {
	for _, p := range order {
		if _, ok := a.Modes[p]; ok {
			out = append(out, p)
		}
	}
	return out
}

// NewProtocol speaks with one process of the CLI.
func (a *Agent) NewProtocol() agent.Protocol { return newProtocol(a) }
