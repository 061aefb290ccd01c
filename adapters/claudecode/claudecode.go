package claudecode

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Pinned is the version of the CLI that this package's facts describe.
const Pinned = "2.1.328"

// Name is the adapter's name.
const Name = "claude-code"

// Adapter is the Claude Code CLI. The zero value is ready.
type Adapter struct{}

var (
	_ agent.Adapter  = (*Adapter)(nil)
	_ agent.Prompter = (*Adapter)(nil)
	_ agent.Flagged  = (*Adapter)(nil)

	_ agent.KeyReader = (*Adapter)(nil)
)

// Name is "claude-code".
func (*Adapter) Name() string { return Name }

// Aliases are other names for it.
func (*Adapter) Aliases() []string { return []string{"claude", "claude_code", "claudecode"} }

// VersionArgs make the program print its version.
func (*Adapter) VersionArgs() []string { return []string{"--version"} }

// ReadsKey is true from the version on with which that was seen.
func (*Adapter) ReadsKey(version string) bool { return argv.Since(version, Pinned) }

// Binary is the command that the npm package installs: the native binary itself.
func (*Adapter) Binary() string { return "claude" }

// Capabilities says what the exec driver can do.
func (*Adapter) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resume: true, TextDeltas: true, MCP: true, Instructions: true, BaseURL: true, MaxTurns: true, Budget: true, Schema: true, Reasoning: true, Functions: true,
		Subagents:   true,
		Usage:       true,
		Permissions: []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess, spec.Ask},
	}
}

// Kept says where Claude Code keeps a conversation.
func (*Adapter) Kept(native string) []string { return []string{"projects/*/" + native + ".jsonl"} }

// Validate refuses what Claude Code cannot run.
func (a *Adapter) Validate(r *agent.Request) error {
	if err := valid(r); err != nil {
		return err
	}
	_, err := a.Invocation(r)
	return err
}

// valid refuses what no driver can run.
func valid(r *agent.Request) error {
	if permissions(r, "") == nil {
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("claude -p has no permission %q: use read_only, workspace_write, full_access or ask", r.Permissions))
	}
	if r.Permissions == spec.FullAccess && r.Root && !r.Sandboxed {
		return event.FailParam(event.PermissionUnsupported, "permissions", "Claude Code refuses full_access as root; run the host as another user, or set agents.claude-code.sandboxed: true if this machine is itself the sandbox")
	}
	if r.Permissions == spec.ReadOnly && r.MultiAgent.Enabled {
		return event.FailParam(event.Unsupported, "multi_agent.enabled", "with read_only, Claude Code is offered reading tools only and sets no subagents to work; leave multi_agent out or use other permissions")
	}
	if argv.Empty(r.Prompt) {
		return event.FailParam(event.InvalidRequest, "input", "the prompt is empty")
	}
	if r.Native != "" && !argv.UUID(r.Native) {
		return event.Fail(event.ResumeLost, fmt.Sprintf("the session's Claude Code id %q is no UUID", r.Native))
	}
	if len(r.Images) > 0 {
		return event.FailParam(event.Unsupported, "input", "claude -p takes no images")
	}
	for _, name := range argv.Sorted(r.MCP) {
		if err := spec.ValidServerName(name); err != nil {
			return err
		}
		param := "mcp_servers." + name
		if s := r.MCP[name]; s.Allowed != nil && (r.Permissions == spec.FullAccess || r.Permissions == spec.Ask) {
			return event.FailParam(event.Unsupported, param+".allowed_tools", fmt.Sprintf("Claude Code with permissions %s cannot be held to allowed_tools; leave them out or use other permissions", r.Permissions))
		}
		if r.MCP[name].Caller && (strings.Contains(name, "__") || strings.HasSuffix(name, "_")) {
			return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("Claude Code separates a server's name from a tool's by two underscores, so %s cannot be told apart; choose a server_label without __ and without _ at its end", name))
		}
	}
	return nil
}

// Help lists the flags. --max-turns and --append-system-prompt-file are taken and not
// listed.
func (*Adapter) Help([]string) ([]string, map[string]string) {
	return []string{"--help"}, map[string]string{
		"--output-format": "", "--verbose": "", "--include-partial-messages": "", "--system-prompt-snapshot": "", "--permission-mode": "permissions",
		"--resume": "previous_response_id", "--model": "model", "--mcp-config": "mcp_servers", "--strict-mcp-config": "mcp_servers",
		"--max-budget-usd": "limits.max_budget_usd", "--json-schema": "text.format", "--effort": "reasoning.effort",
		"--disallowedTools": "multi_agent", "--allowedTools": "permissions", "--tools": "permissions", "--permission-prompt-tool": "permissions",
	}
}

// Invocation says how to run the turn.
func (*Adapter) Invocation(r *agent.Request) (*agent.Invocation, error) { return build(r) }

// NewParser reads one run's JSON lines.
func (*Adapter) NewParser(r *agent.Request) agent.Parser { return NewParser(r, Name) }

// Provider implements agent.Provided.
func (*Adapter) Provider() string { return "https://api.anthropic.com" }
