package gemini

import (
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
		Home:    "GEMINI_CLI_HOME", Experimental: true,
	})}
}
