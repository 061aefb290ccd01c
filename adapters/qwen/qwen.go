package qwen

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Pinned is the version of the CLI that this package's facts describe.
const Pinned = "0.24.4"

// Name is the adapter's name.
const Name = "qwen-code"

// Adapter is the Qwen Code CLI. The zero value is ready.
type Adapter struct{}

var (
	_ agent.Adapter = (*Adapter)(nil)
	_ agent.Flagged = (*Adapter)(nil)
)

// Name is "qwen-code".
func (*Adapter) Name() string { return Name }

// Aliases are other names for it.
func (*Adapter) Aliases() []string { return []string{"qwen", "qwen_code", "qwencode"} }

// VersionArgs make the program print its version.
func (*Adapter) VersionArgs() []string { return []string{"--version"} }

// Binary is the command that the npm package installs.
func (*Adapter) Binary() string { return "qwen" }

// Capabilities says what the exec driver can do.
func (*Adapter) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resume: true, TextDeltas: true, MCP: true, Instructions: true, BaseURL: true, MaxTurns: true, Schema: true, Reasoning: true, Functions: true, Usage: true,
		Permissions: []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess},
	}
}

// Kept says where Qwen Code keeps a conversation.
func (*Adapter) Kept(native string) []string {
	return []string{"projects/*/chats/" + native + ".jsonl"}
}

// Validate refuses what Qwen Code cannot run.
func (a *Adapter) Validate(r *agent.Request) error {
	if permissions(r.Permissions) == nil {
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("qwen has no permission %q without a person at its terminal: use read_only, workspace_write or full_access", r.Permissions))
	}
	if argv.Empty(r.Prompt) {
		return event.FailParam(event.InvalidRequest, "input", "the prompt is empty")
	}
	if r.Native != "" && !argv.UUID(r.Native) {
		return event.Fail(event.ResumeLost, fmt.Sprintf("the session's Qwen Code id %q is no UUID", r.Native))
	}
	if len(r.Images) > 0 {
		return event.FailParam(event.Unsupported, "input", "qwen takes no images with a prompt")
	}
	if _, err := authType(r); err != nil {
		return err
	}
	for _, name := range argv.Sorted(r.MCP) {
		if err := spec.ValidServerName(name); err != nil {
			return err
		}
	}
	_, err := a.Invocation(r)
	return err
}

// Help lists the flags.
func (*Adapter) Help([]string) ([]string, map[string]string) {
	return []string{"--help"}, map[string]string{
		"--output-format": "", "--include-partial-messages": "", "--approval-mode": "permissions", "--allowed-tools": "permissions",
		"--auth-type": "llm", "--model": "model", "--resume": "previous_response_id", "--append-system-prompt": "instructions",
		"--max-session-turns": "limits.max_turns", "--json-schema": "text.format", "--exclude-tools": "multi_agent",
	}
}

// Invocation says how to run the turn.
func (*Adapter) Invocation(r *agent.Request) (*agent.Invocation, error) { return build(r) }

// NewParser reads one run's JSON lines.
func (*Adapter) NewParser(r *agent.Request) agent.Parser { return newParser(r) }
