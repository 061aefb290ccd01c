package opencode

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/acp"
)

// Pinned is the version of the CLI that this package's facts describe.
const Pinned = "1.18.33"

// Name is the adapter's name.
const Name = "opencode"

// Adapter is the OpenCode CLI; see New.
type Adapter struct{ acp.Known }

var _ agent.SelfServing = Adapter{}

// SelfServing says that it is its own server's client.
func (Adapter) SelfServing() {}

// New is the adapter.
func New() Adapter {
	return Adapter{acp.Known{Adapter: acp.New(acp.CLI{
		Agent: acp.Agent{
			Name: Name,
			// Its configuration keeps the permissions; what it still asks is its doubt
			// whether the model goes in circles.
			Modes: map[spec.Permissions]acp.Mode{
				spec.ReadOnly: {Answer: acp.Deny}, spec.WorkspaceWrite: {Answer: acp.Allow}, spec.FullAccess: {Answer: acp.Allow}, spec.Ask: {Answer: acp.AskCaller},
			},
			Mark: "AGENT_THREAD_ID", OwnModel: true,
			ServerEnv: map[string]string{offline: "false"}, // one may be run by npx
		},
		Aliases: []string{"opencode-ai", "open-code"},
		Command: []string{"opencode", "acp"},
		Prepare: prepare, ToolLists: true, Wires: []string{"chat", "responses"},
	})}}
}
