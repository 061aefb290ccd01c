package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// threads is how many turns one process serves at once.
const threads = 16

// CLI is one that has this protocol only: the adapter of a few lines.
type CLI struct {
	Agent
	Aliases []string
	// Command is the program and its arguments.
	Command []string
	// Env names the variables in which it expects its provider; "" for none.
	Env Env
	// Home is the variable of its own state, "" for none.
	Home string
	// Prepare adds what is more to be said to a process; nil for nothing.
	Prepare func(*agent.Request, *agent.Runner) error
	// ToolLists says that Prepare limits MCP servers to the allowed tools.
	ToolLists bool
	// Wires are the provider's that it speaks; the first is meant by "".
	Wires []string
	// Experimental marks one that was not run by its authors.
	Experimental bool
}

// Env names the variables in which a CLI expects its provider.
type Env struct{ APIKey, BaseURL, Model string }

// Adapter runs a CLI by this protocol. It has no exec driver.
type Adapter struct{ cli CLI }

var _ agent.Only = (*Adapter)(nil)

// New is the adapter of a CLI.
func New(cli CLI) *Adapter { return &Adapter{cli} }

// Name is the adapter's name.
func (a *Adapter) Name() string { return a.cli.Name }

// Aliases are other names for it.
func (a *Adapter) Aliases() []string { return slices.Clone(a.cli.Aliases) }

// Binary is the program's usual file name.
func (a *Adapter) Binary() string { return a.cli.Command[0] }

// OnlyPersistent says that there is no exec driver.
func (*Adapter) OnlyPersistent() {}

// Certified is empty: there is no other driver to choose.
func (*Adapter) Certified() []string { return nil }

// Capabilities are those of its only driver.
func (a *Adapter) Capabilities() agent.Capabilities { return a.PersistentCapabilities() }

// PersistentCapabilities says what the protocol can do with this CLI.
func (a *Adapter) PersistentCapabilities() agent.Capabilities {
	c := a.cli.Capabilities()
	c.BaseURL, c.Experimental = a.cli.Env.BaseURL != "" || a.cli.Prepare != nil, a.cli.Experimental
	return c
}

// Capabilities are those that the protocol gives to each CLI.
func (a *Agent) Capabilities() agent.Capabilities {
	return agent.Capabilities{
		Resume: true, TextDeltas: true, MCP: true, Instructions: true, Functions: true, Usage: a.Usage != Uncounted, Permissions: a.Permissions(),
	}
}

// Validate refuses every turn: there is no exec driver.
func (a *Adapter) Validate(*agent.Request) error { return a.refuseExec() }

// Invocation refuses every turn, as Validate.
func (a *Adapter) Invocation(*agent.Request) (*agent.Invocation, error) { return nil, a.refuseExec() }

func (a *Adapter) refuseExec() error {
	return event.FailParam(event.Unsupported, "driver", fmt.Sprintf("%s has no driver exec; set agents.%s.driver to auto or persistent", a.cli.Name, a.cli.Name))
}

// NewParser reads nothing: there are no runs.
func (a *Adapter) NewParser(*agent.Request) agent.Parser { return unread{a.cli.Name} }

// unread is the parser of a run that there is not.
type unread struct{ name string }

func (unread) Feed([]byte, *agent.Batch) {}

func (u unread) Close(_ agent.Exit, out *agent.Batch) {
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: event.Fail(event.Unsupported, u.name+" has no driver exec")}})
}

// ValidatePersistent refuses what the CLI cannot run.
func (a *Adapter) ValidatePersistent(r *agent.Request) error {
	if err := a.cli.Refuse(r, a.cli.ToolLists); err != nil {
		return err
	}
	if w := r.LLM.WireAPI; len(a.cli.Wires) > 0 && w != "" && !slices.Contains(a.cli.Wires, w) {
		return event.FailParam(event.InvalidRequest, "llm.wire_api", fmt.Sprintf("%s does not speak wire_api %q: use %v", a.cli.Name, w, a.cli.Wires))
	}
	_, err := a.Runner(r)
	return err
}

// Refuse refuses what the protocol cannot be asked for. lists says that MCP servers
// can be limited to some tools.
func (a *Agent) Refuse(r *agent.Request, lists bool) error {
	unsupported := func(param, message string) error {
		return event.FailParam(event.Unsupported, param, a.Name+" "+message)
	}
	_, kept := a.Modes[r.Permissions]
	switch {
	case !kept:
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("%s cannot be held to %q; it can to %v", a.Name, r.Permissions, a.Permissions()))
	case argv.Empty(r.Prompt):
		return event.FailParam(event.InvalidRequest, "input", "the prompt is empty")
	case len(r.Images) > 0:
		return unsupported("input", "is given no images")
	case r.Text.Type == "json_schema":
		return unsupported("text.format", "has no structured output with this driver")
	}
	for _, name := range argv.Sorted(r.MCP) {
		if err := spec.ValidServerName(name); err != nil {
			return err
		}
		s := r.MCP[name]
		if s.URL == "" && s.Command == "" {
			return event.FailParam(event.InvalidRequest, "mcp_servers."+name, "an MCP server needs a url or a command")
		}
		if s.Allowed != nil && !lists {
			return unsupported("mcp_servers."+name+".allowed_tools", "cannot limit an MCP server to some tools; leave allowed_tools out")
		}
	}
	return nil
}

// Runner is a process for the request's provider and home.
func (a *Adapter) Runner(r *agent.Request) (*agent.Runner, error) {
	c := &a.cli
	run := &agent.Runner{Args: append(slices.Clone(c.Command[1:]), r.ExtraArgs...), Dir: r.Home}
	c.Share(r, run)
	for _, e := range [...]struct{ name, value string }{{c.Home, r.Home}, {c.Env.APIKey, r.LLM.APIKey}, {c.Env.BaseURL, r.LLM.BaseURL}, {c.Env.Model, r.Model}} {
		if e.name != "" && e.value != "" {
			run.Env = append(run.Env, e.name+"="+e.value)
		}
	}
	if c.Prepare != nil {
		if err := c.Prepare(r, run); err != nil {
			return nil, err
		}
	}
	return run, argv.Check(run.Args)
}

// Share says with which turns the request's can share a process. Some CLIs show the
// sessions of one directory each other's MCP servers, so only those with the same ones
// share; and the host's own server is another in each turn.
func (a *Agent) Share(r *agent.Request, run *agent.Runner) {
	if run.Threads = threads; a.Bound {
		run.Threads, run.Bound = 1, true
	}
	run.Once = r.Host != nil
	run.Apart = identify(r.MCP)
}

// identify is the same for the same servers, and tells nothing of them.
func identify(servers map[string]spec.MCPServer) string {
	if len(servers) == 0 {
		return ""
	}
	b, err := json.Marshal(servers)
	if err != nil {
		return "" // they are strings
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// NewProtocol speaks with one process.
func (a *Adapter) NewProtocol() agent.Protocol {
	own := a.cli.Agent
	own.OwnModel = own.OwnModel || a.cli.Env.Model != ""
	return own.NewProtocol()
}

// Known is an adapter of a CLI that may be run only to be asked for its version.
type Known struct{ *Adapter }

var _ agent.Versioner = Known{}

// VersionArgs make the program print its version.
func (Known) VersionArgs() []string { return []string{"--version"} }
