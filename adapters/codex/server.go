package codex

import (
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

var _ agent.Persistent = (*Adapter)(nil)

// runnerThreads is how many turns one app-server runs at once. Each costs a few
// megabytes; the bound is on what one crash can take along.
const runnerThreads = 16

// openAI is where a key without an address belongs. exec knows it by itself.
const openAI = "https://api.openai.com/v1"

// Certified are the versions whose app-server "auto" uses.
func (*Adapter) Certified() []string { return []string{Pinned} }

// PersistentCapabilities says what the app-server can do: beyond exec it streams
// text, asks before it acts and takes messages into a turn that runs.
func (a *Adapter) PersistentCapabilities() agent.Capabilities {
	c := a.Capabilities()
	c.TextDeltas, c.Steer = true, true
	c.Permissions = append(append([]spec.Permissions{}, c.Permissions...), spec.Ask)
	return c
}

// ValidatePersistent refuses what the app-server cannot run.
func (a *Adapter) ValidatePersistent(r *agent.Request) error {
	if _, _, ok := scope(r.Permissions); !ok {
		return event.FailParam(event.PermissionUnsupported, "permissions", fmt.Sprintf("codex has no permission %q: use read_only, workspace_write, full_access or ask", r.Permissions))
	}
	if err := a.valid(r); err != nil {
		return err
	}
	if _, err := a.Runner(r); err != nil {
		return err
	}
	_, err := settings(r)
	return err
}

// scope gives the sandbox and the approval policy of a permission. With untrusted,
// Codex asks before each command that is more than reading and before each change
// of a file; what was allowed runs in the sandbox.
func scope(p spec.Permissions) (sandbox, approvals string, ok bool) {
	switch p {
	case spec.ReadOnly:
		return "read-only", "never", true
	case spec.WorkspaceWrite:
		return "workspace-write", "never", true
	case spec.FullAccess:
		return "danger-full-access", "never", true
	case spec.Ask:
		return "workspace-write", "untrusted", true
	}
	return "", "", false
}

// Runner is an app-server for the request's provider and home.
func (*Adapter) Runner(r *agent.Request) (*agent.Runner, error) {
	inv := &agent.Invocation{}
	args := []string{"app-server"}
	set := func(key, value string) { args = append(args, "-c", key+"="+value) }
	own := *r
	if own.LLM.BaseURL == "" && own.LLM.APIKey != "" {
		own.LLM.BaseURL = openAI // CODEX_API_KEY is read by exec only
	}
	provider(&own, inv, set)
	args = append(args, hardened...)
	args = append(args, r.ExtraArgs...)
	if r.Home != "" {
		inv.Env = append(inv.Env, "CODEX_HOME="+r.Home)
	}
	return &agent.Runner{Args: args, Env: inv.Env, Dir: r.Home, Threads: runnerThreads}, argv.Check(args)
}

// NewProtocol speaks with one app-server.
func (*Adapter) NewProtocol() agent.Protocol {
	return &protocol{pending: map[int64]call{}, turns: map[event.ID]*served{}, threads: map[string]*served{}, kept: map[string]*kept{}}
}

// settings are the parameters of a thread for one turn: it is loaded with them, and
// stays loaded for turns with the same, so nothing of one turn's settings is left for
// another. They travel by standard input; secrets may be in them.
func settings(r *agent.Request) (map[string]any, error) {
	sandbox, approvals, _ := scope(r.Permissions)
	if r.Confined {
		sandbox = "danger-full-access" // of what the host leaves it: its own could not start
	}
	p := map[string]any{"cwd": r.Workspace, "sandbox": sandbox, "approvalPolicy": approvals}
	if r.Model != "" {
		p["model"] = r.Model
	}
	if r.Instructions != "" {
		p["developerInstructions"] = r.Instructions
	}
	if r.Native != "" {
		p["threadId"], p["excludeTurns"] = r.Native, true
	}
	config := map[string]any{}
	if s := r.Reasoning.Summary; s != "" {
		config["model_reasoning_summary"] = s
	}
	if v := r.Text.Verbosity; v != "" {
		config["model_verbosity"] = v
	}
	switch m := r.MultiAgent; {
	case m.Disabled:
		config["features"] = map[string]any{"multi_agent": false}
	case m.Enabled && m.Max != nil:
		config["agents"] = map[string]any{"max_threads": *m.Max}
	}
	servers := map[string]any{}
	for _, name := range argv.Sorted(r.MCP) {
		s, err := server(name, r.MCP[name])
		if err != nil {
			return nil, err
		}
		s["default_tools_approval_mode"] = "approve"
		if r.Permissions == spec.Ask {
			s["default_tools_approval_mode"] = "prompt"
		}
		servers[name] = s
	}
	if h := r.Host; h != nil {
		servers[h.Name] = map[string]any{
			"url": h.URL, "http_headers": map[string]string{"Authorization": "Bearer " + h.Token},
			"tool_timeout_sec": int64(h.Timeout.Seconds()), "required": true, "default_tools_approval_mode": "approve",
		}
	}
	// Always there: a thread that is still loaded is loaded anew only for some override.
	config["mcp_servers"], p["config"] = servers, config
	return p, nil
}

// server is a tool server of a thread's own configuration.
func server(name string, m spec.MCPServer) (map[string]any, error) {
	s := map[string]any{}
	if m.Allowed != nil {
		s["enabled_tools"] = m.Allowed
	}
	switch {
	case m.URL != "":
		s["url"], s["http_headers"] = m.URL, m.Headers
	case m.Command != "":
		s["command"], s["args"], s["env"] = m.Command, append([]string{}, m.Args...), m.Env
	default:
		return nil, event.FailParam(event.InvalidRequest, "mcp_servers."+name, "an MCP server needs a url or a command")
	}
	return s, nil
}

// userInput is a message with its pictures.
func userInput(text string, images []string) []any {
	list := []any{map[string]any{"type": "text", "text": text}}
	for _, path := range images {
		list = append(list, map[string]any{"type": "localImage", "path": path})
	}
	return list
}

// input is what turn/start is given.
func input(r *agent.Request) map[string]any {
	p := map[string]any{"input": userInput(prompt(r), r.Images)}
	if r.Model != "" {
		p["model"] = r.Model
	}
	if r.Reasoning.Effort != "" {
		p["effort"] = r.Reasoning.Effort
	}
	if r.Text.Type == "json_schema" {
		p["outputSchema"] = r.Text.Schema
	}
	return p
}
