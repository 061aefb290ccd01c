package policy

import (
	"strconv"
	"time"

	"github.com/agenthost/agenthost/actors/spec"
)

// Document is a policy as it is written. Of no statements, it denies everything.
type Document struct {
	Statements []Statement
}

// Statement allows or denies operations to principals.
type Statement struct {
	// ID is what refusals, explanations and the audit call the statement; see Name.
	ID string
	// Allow and Deny are patterns of operations; a statement has one of both.
	Allow, Deny []string
	// Principals are ids, "role:NAME", or "*" for everyone.
	Principals []string
	Limits     Limits
	Scope      Scope
}

// Name is the statement's id, else its place in the document.
func (s *Statement) Name(at int) string {
	if s.ID != "" {
		return s.ID
	}
	return "policy[" + strconv.Itoa(at) + "]"
}

// Limits bound how much of what a statement allows is done.
type Limits struct {
	// Concurrency is how many turns of a principal run at once.
	Concurrency int
	// RequestsPerMinute counts the requests that the statement allows.
	RequestsPerMinute int
}

// Scope bounds the agents that an allow lets a principal run (AgentScope). What is
// zero or nil says nothing; a list that is empty and not nil lists nothing.
type Scope struct {
	// Workdir are the directories that workspaces lie in. A session's private one,
	// which the host makes, is always within.
	Workdir []string
	// Permissions are the most that an agent may have.
	Permissions spec.Permissions
	// Commands are the programs that adapters of one's own may start.
	Commands []string
	// Models are those that may be named to a CLI; "gpt-5*" stands for many.
	Models    []string
	MaxTurns  int // of the CLI's inner loop
	Timeout   time.Duration
	MaxOutput int64 // bytes that the CLI prints in one turn
	// LLMHosts are the hosts of providers that a caller may name.
	LLMHosts []string
	// MCP are the hosts of MCP servers that a caller may bring.
	MCP []string
	// Env are the variables that a caller may set for its CLI, and those of the host's
	// own environment that passthrough_env may hand it.
	Env []string
	// ShareSessions names a group: principals of the same one see each other's sessions.
	ShareSessions string
	// UnconfinedOK false refuses what the CLI does not confine itself.
	UnconfinedOK *bool
}
