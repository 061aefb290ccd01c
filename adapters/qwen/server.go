package qwen

import (
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/acp"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

var _ agent.Persistent = (*Adapter)(nil)

// served is the CLI by its --acp.
var served = acp.Agent{
	Name: Name,
	Modes: map[spec.Permissions]acp.Mode{
		// The tools that change something are not there (changing); what still asks is denied.
		spec.ReadOnly:       {ID: "default", Answer: acp.Deny},
		spec.WorkspaceWrite: {ID: "auto-edit", Answer: acp.Allow},
		spec.FullAccess:     {ID: "yolo", Answer: acp.Allow},
		spec.Ask:            {ID: "default", Answer: acp.AskCaller},
	},
	Mark: "QWEN_CODE_SESSION_ID", Close: "qwen/control/session/close",
	OwnServers: true, OwnModel: true, Usage: acp.ByRequest,
}

// changing are the tools that change something.
var changing = []string{"run_shell_command", "write_file", "edit", "notebook_edit"}

// Certified are the versions whose --acp "auto" uses.
func (*Adapter) Certified() []string { return nil }

// PersistentCapabilities says what --acp can do: it asks before it acts, and has neither
// a limit of inner turns nor a schema.
func (*Adapter) PersistentCapabilities() agent.Capabilities {
	c := served.Capabilities()
	c.BaseURL, c.Reasoning = true, true
	return c
}

// ValidatePersistent refuses what --acp cannot run.
func (a *Adapter) ValidatePersistent(r *agent.Request) error {
	if err := served.Refuse(r, true); err != nil {
		return err
	}
	if r.Native != "" && !argv.UUID(r.Native) {
		return event.Fail(event.ResumeLost, fmt.Sprintf("the session's Qwen Code id %q is no UUID", r.Native))
	}
	_, err := a.Runner(r)
	return err
}

// Runner is a process for the request's provider, model, tool servers and home.
func (*Adapter) Runner(r *agent.Request) (*agent.Runner, error) {
	run := &agent.Runner{Args: []string{"--acp"}, Dir: r.Home}
	served.Share(r, run)
	auth, err := authType(r)
	if err != nil {
		return nil, err
	}
	if auth != "" {
		run.Args = append(run.Args, "--auth-type", auth)
	}
	if r.Model != "" {
		if err := argv.Word("model", r.Model); err != nil {
			return nil, err
		}
		run.Args = append(run.Args, "--model", r.Model)
	}
	var without []string
	if r.Permissions == spec.ReadOnly {
		without = append(without, changing...)
	}
	if r.MultiAgent.Disabled {
		without = append(without, "agent")
	}
	if len(without) > 0 {
		run.Args = append(run.Args, "--exclude-tools", strings.Join(without, ","))
	}
	run.Args = append(run.Args, r.ExtraArgs...)
	var inv agent.Invocation
	environment(r, &inv)
	if err := settings(r, &inv); err != nil {
		return nil, err
	}
	run.Env, run.Files, run.Secrets = inv.Env, inv.Files, inv.Secrets
	return run, argv.Check(run.Args)
}

// NewProtocol speaks with one process.
func (*Adapter) NewProtocol() agent.Protocol { return served.NewProtocol() }
