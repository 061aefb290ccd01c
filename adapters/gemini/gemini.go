package gemini

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/acp"
)

// Pinned is the version of the CLI that this package's facts describe.
const Pinned = "0.61.0"

// Name is the adapter's name.
const Name = "gemini"

// New is the adapter.
func New() acp.Known {
	return acp.Known{Adapter: acp.New(acp.CLI{
		Agent: acp.Agent{
			Name: Name, Titled: true, Bound: true,
			Modes: map[spec.Permissions]acp.Mode{
				spec.ReadOnly:       {ID: "default", Answer: acp.Deny},
				spec.WorkspaceWrite: {ID: "default", Answer: acp.Allow},
				spec.FullAccess:     {ID: "yolo", Answer: acp.Allow},
				spec.Ask:            {ID: "default", Answer: acp.AskCaller},
			},
		},
		Aliases: []string{"gemini-cli", "gemini_cli"},
		Command: []string{"gemini", "--acp"},
		Env:     acp.Env{APIKey: "GEMINI_API_KEY", BaseURL: "GOOGLE_GEMINI_BASE_URL", Model: "GEMINI_MODEL"},
		Home:    "GEMINI_CLI_HOME", Prepare: prepare, Experimental: true,
	})}
}

// prepare says whether the workspace is trusted. The CLI runs no tool server and leaves
// no mode in one that is not; in one that is, the workspace's own settings count, which
// may run programs. So those of a turn must be allowed to run what they like.
func prepare(r *agent.Request, run *agent.Runner) error {
	trusted := r.Permissions == spec.FullAccess
	if len(r.MCP) > 0 || r.Host != nil {
		if r.Permissions != spec.FullAccess && r.Permissions != spec.WorkspaceWrite {
			return event.FailParam(event.Unsupported, "tools", fmt.Sprintf("gemini runs tool servers only in a workspace that it trusts, whose own settings could then do more than %q; use workspace_write or full_access", r.Permissions))
		}
		trusted = true
	}
	run.Env = append(run.Env, fmt.Sprintf("GEMINI_CLI_TRUST_WORKSPACE=%t", trusted))
	return nil
}
