package cursor

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Documented is the newest version that the format of this package was seen with by
// others.
const Documented = "2026.02"

// Name is the adapter's name.
const Name = "cursor"

// Adapter is the Cursor CLI. The zero value is ready.
type Adapter struct{}

var _ agent.Adapter = (*Adapter)(nil)

// Name is "cursor".
func (*Adapter) Name() string { return Name }

// Aliases are other names for it.
func (*Adapter) Aliases() []string { return []string{"cursor-agent", "cursor_agent"} }

// VersionArgs make the program print its version.
func (*Adapter) VersionArgs() []string { return []string{"--version"} }

// Binary is the command that the vendor's installer makes.
func (*Adapter) Binary() string { return "cursor-agent" }

// Capabilities says what the exec driver can do.
func (*Adapter) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resume: true, TextDeltas: true, Instructions: true, Usage: true, Experimental: true,
		Permissions: []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess},
	}
}

// Validate refuses what the Cursor CLI cannot run.
func (a *Adapter) Validate(r *agent.Request) error {
	unsupported := func(param, message string) error { return event.FailParam(event.Unsupported, param, message) }
	switch {
	case permissions(r.Permissions) == nil:
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("cursor-agent -p has no permission %q: use read_only, workspace_write or full_access", r.Permissions))
	case argv.Empty(r.Prompt):
		return event.FailParam(event.InvalidRequest, "input", "the prompt is empty")
	case r.LLM.BaseURL != "":
		return event.FailParam(event.InvalidRequest, "llm.base_url", "cursor-agent talks to its vendor only; remove the provider's base URL")
	case len(r.MCP) > 0:
		return unsupported("mcp_servers", "cursor-agent takes MCP servers from its own files only (.cursor/mcp.json); add them there")
	case len(r.Images) > 0:
		return unsupported("input", "cursor-agent -p takes no images")
	case r.Text.Type == "json_schema":
		return unsupported("text.format", "cursor-agent has no structured output")
	}
	if r.Native != "" {
		if err := argv.Word("session", r.Native); err != nil {
			return event.Fail(event.ResumeLost, fmt.Sprintf("the session's Cursor chat id %q would be read as an option", r.Native))
		}
	}
	_, err := a.Invocation(r)
	return err
}

// Invocation says how to run the turn.
func (*Adapter) Invocation(r *agent.Request) (*agent.Invocation, error) { return build(r) }

// NewParser reads one run's JSON lines.
func (*Adapter) NewParser(r *agent.Request) agent.Parser {
	p := NewParser(r, Name)
	p.carry = carry(r)
	return p
}
