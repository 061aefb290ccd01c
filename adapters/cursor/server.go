package cursor

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/acp"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

var _ agent.Persistent = (*Adapter)(nil)

// served is the CLI by its acp command. Which of its tools ask in the mode agent is for
// its own rules to say, so ask is not among these.
var served = acp.Agent{
	Name: Name,
	Modes: map[spec.Permissions]acp.Mode{
		spec.ReadOnly:       {ID: "ask", Answer: acp.Deny},
		spec.WorkspaceWrite: {ID: "agent", Answer: acp.Allow},
		spec.FullAccess:     {ID: "agent", Answer: acp.Allow},
	},
	Auth: "cursor_login", OwnModel: true,
}

// Certified is empty: the CLI cannot be installed where the tests run.
func (*Adapter) Certified() []string { return nil }

// PersistentCapabilities says what its acp command is documented to do.
func (*Adapter) PersistentCapabilities() agent.Capabilities {
	c := served.Capabilities()
	c.MCP, c.Functions, c.Experimental = false, false, true
	return c
}

// ValidatePersistent refuses what its acp command cannot run.
func (a *Adapter) ValidatePersistent(r *agent.Request) error {
	if err := served.Refuse(r, false); err != nil {
		return err
	}
	switch {
	case r.LLM.BaseURL != "":
		return event.FailParam(event.InvalidRequest, "llm.base_url", "cursor-agent talks to its vendor only; remove the provider's base URL")
	case len(r.MCP) > 0:
		return event.FailParam(event.Unsupported, "mcp_servers", "cursor-agent takes MCP servers from its own files only (.cursor/mcp.json); add them there")
	}
	_, err := a.Runner(r)
	return err
}

// Runner is a process for the request's key, model and home.
func (*Adapter) Runner(r *agent.Request) (*agent.Runner, error) {
	run := &agent.Runner{Dir: r.Home}
	served.Share(r, run)
	if r.Model != "" {
		if err := argv.Word("model", r.Model); err != nil {
			return nil, err
		}
		run.Args = append(run.Args, "--model", r.Model)
	}
	run.Args = append(append(run.Args, r.ExtraArgs...), "acp")
	if r.Home != "" {
		run.Env = append(run.Env, "CURSOR_CONFIG_DIR="+r.Home)
	}
	if r.LLM.APIKey != "" {
		run.Env = append(run.Env, "CURSOR_API_KEY="+r.LLM.APIKey)
	}
	return run, argv.Check(run.Args)
}

// NewProtocol speaks with one process.
func (*Adapter) NewProtocol() agent.Protocol { return served.NewProtocol() }
