package codex

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Pinned is the version of the CLI that this package's facts describe.
const Pinned = "0.169.0"

// Name is the adapter's name.
const Name = "codex"

// Adapter is the Codex CLI. The zero value is ready.
type Adapter struct{}

var (
	_ agent.Adapter = (*Adapter)(nil)
	_ agent.Locator = (*Adapter)(nil)
	_ agent.Flagged = (*Adapter)(nil)
)

// Name is "codex".
func (*Adapter) Name() string { return Name }

// Aliases are other names for it.
func (*Adapter) Aliases() []string { return []string{"openai-codex", "codex-cli"} }

// VersionArgs make the program print its version.
func (*Adapter) VersionArgs() []string { return []string{"--version"} }

// Binary is the command that the npm package installs.
func (*Adapter) Binary() string { return "codex" }

// Capabilities says what the exec driver can do. Its JSON has whole messages only
// and no limit on the inner loop.
func (*Adapter) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resume: true, MCP: true, Instructions: true, BaseURL: true, Schema: true, Images: true, Reasoning: true, Functions: true, Subagents: true, Usage: true,
		Permissions: []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess},
		Confined:    true,
	}
}

// Kept says where Codex keeps a conversation.
func (*Adapter) Kept(native string) []string {
	return []string{"sessions/*/*/*/rollout-*-" + native + ".jsonl*"}
}

// Validate refuses what Codex cannot run.
func (a *Adapter) Validate(r *agent.Request) error {
	if sandbox(r.Permissions, false) == nil {
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("codex exec has no permission %q: use read_only, workspace_write or full_access", r.Permissions))
	}
	if err := a.valid(r); err != nil {
		return err
	}
	_, err := a.Invocation(r)
	return err
}

// valid refuses what no driver can run.
func (*Adapter) valid(r *agent.Request) error {
	if argv.Empty(r.Prompt) {
		return event.FailParam(event.InvalidRequest, "input", "the prompt is empty")
	}
	if r.Native != "" && !argv.UUID(r.Native) {
		return event.Fail(event.ResumeLost, fmt.Sprintf("the session's codex thread id %q is no UUID; codex would silently start a new thread", r.Native))
	}
	if w := r.LLM.WireAPI; w != "" && w != "responses" {
		return event.FailParam(event.InvalidRequest, "llm.wire_api", fmt.Sprintf("codex speaks wire_api responses only, not %q", w))
	}
	for _, name := range argv.Sorted(r.MCP) {
		if err := spec.ValidServerName(name); err != nil {
			return err
		}
	}
	return nil
}

// Help lists the flags of exec, or the program's commands for an app-server.
func (*Adapter) Help(args []string) ([]string, map[string]string) {
	if len(args) > 0 && args[0] == "app-server" {
		return []string{"--help"}, map[string]string{"app-server": ""}
	}
	help := []string{"exec", "--help"}
	words := map[string]string{
		"--json": "", "--skip-git-repo-check": "", "--disable": "", "--output-schema": "text.format", "--image": "input",
		"--dangerously-bypass-approvals-and-sandbox": "permissions",
	}
	if len(args) > 1 && args[1] == "resume" {
		help = []string{"exec", "resume", "--help"}
	} else {
		words["resume"] = "previous_response_id"
	}
	return help, words
}

// Invocation says how to run the turn.
func (*Adapter) Invocation(r *agent.Request) (*agent.Invocation, error) { return build(r) }

// NewParser reads one run's JSON lines.
func (*Adapter) NewParser(r *agent.Request) agent.Parser {
	p := NewParser(r, Name)
	p.strict = true
	return p
}

// Provider implements agent.Provided.
func (*Adapter) Provider() string { return openAI }
