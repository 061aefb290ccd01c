package claudecode

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

const (
	instructionsFile = "instructions.md"
	mcpFile          = "mcp.json"
	// maxRetries leaves lasting trouble to the host; the CLI's own ten take minutes.
	maxRetries = 2
)

// quiet keeps the CLI from everything but the provider.
var quiet = []string{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	"DISABLE_TELEMETRY=1",
	"DISABLE_ERROR_REPORTING=1",
	"DISABLE_AUTOUPDATER=1",
	"CLAUDE_CODE_MAX_RETRIES=" + strconv.Itoa(maxRetries),
	"CLAUDE_CODE_FORWARD_SUBAGENT_TEXT=1", // else only the tools of those it waits for are told
}

// subagentTools are the names of the tool that sets subagents to work.
const subagentTools = "Agent,Task"

// permissions gives the arguments of a permission, the same for a first and a
// resumed turn; nil for one that claude -p does not have. The tools of the request's
// own MCP servers are allowed with each: nobody is there to be asked. asks names what
// the CLI asks for permission, "" for nothing.
func permissions(r *agent.Request, asks string) []string {
	var mode, tools string
	var allowed []string
	switch r.Permissions {
	case spec.ReadOnly:
		mode, tools = "dontAsk", "Read,Grep,Glob"
	case spec.WorkspaceWrite:
		mode, allowed = "acceptEdits", []string{"Bash"}
	case spec.FullAccess:
		return []string{"--permission-mode", "bypassPermissions"}
	case spec.Ask:
		mode = "default"
	default:
		return nil
	}
	for _, name := range argv.Sorted(r.MCP) {
		// Who asks asks about the tools of servers too, unless their caller said that
		// nobody need be asked.
		if s := r.MCP[name]; r.Permissions != spec.Ask || s.Caller && !s.Approval.Any() {
			allowed = append(allowed, rules(name, s)...)
		}
	}
	if r.Host != nil { // by name: the tool that asks is not the model's to call
		for _, f := range r.Functions {
			allowed = append(allowed, hostTool(r, f.Name))
		}
	}
	var args []string
	if r.Permissions == spec.Ask && asks != "" {
		args = append(args, "--permission-prompt-tool", asks)
	}
	if len(allowed) > 0 {
		args = append(args, "--allowedTools", strings.Join(allowed, ","))
	}
	if tools != "" {
		args = append(args, "--tools", tools)
	}
	// Last: the two before take every argument up to the next option.
	return append(args, "--permission-mode", mode)
}

func hostTool(r *agent.Request, name string) string { return "mcp__" + r.Host.Name + "__" + name }

// unnamed are the characters that the CLI replaces in a tool's name.
var unnamed = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// rules allow the tools of a server: all, or each that is allowed. What no rule
// allows is refused, since nobody can be asked.
func rules(name string, s spec.MCPServer) []string {
	if s.Allowed == nil {
		return []string{"mcp__" + name}
	}
	out := make([]string, len(s.Allowed))
	for i, tool := range s.Allowed {
		out[i] = "mcp__" + name + "__" + unnamed.ReplaceAllString(tool, "_")
	}
	return out
}

// build says how to run one turn.
func build(r *agent.Request) (*agent.Invocation, error) {
	inv := &agent.Invocation{Args: []string{"-p"}, Stdin: []byte(r.Prompt)}
	if r.Native != "" {
		inv.Args = append(inv.Args, "--resume", r.Native)
	}
	asks := ""
	if h := r.Host; h != nil {
		asks = hostTool(r, promptTool)
		inv.Env = append(inv.Env, h.TokenEnv+"="+h.Token)
	}
	return inv, settings(r, inv, asks, r.Host)
}

// settings adds what is the same for both drivers. host is the server of the host
// that the MCP configuration names, nil for none.
func settings(r *agent.Request, inv *agent.Invocation, asks string, host *agent.HostServer) error {
	args := append(inv.Args, "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--system-prompt-snapshot", "off")
	if r.Model != "" {
		if err := argv.Word("model", r.Model); err != nil {
			return err
		}
		args = append(args, "--model", r.Model)
	}
	if r.Instructions != "" {
		inv.Files = append(inv.Files, agent.File{Name: instructionsFile, Data: []byte(r.Instructions)})
		args = append(args, "--append-system-prompt-file", filepath.Join(r.Dir, instructionsFile))
	}
	if len(r.MCP) > 0 || r.Host != nil {
		file, err := servers(r, inv, host)
		if err != nil {
			return err
		}
		inv.Files = append(inv.Files, agent.File{Name: mcpFile, Data: file})
		inv.Env = append(inv.Env, "ENABLE_TOOL_SEARCH=false") // offer the tools, not a search for them
		args = append(args, "--mcp-config", filepath.Join(r.Dir, mcpFile), "--strict-mcp-config")
	}
	if r.Limits.MaxTurns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(r.Limits.MaxTurns))
	}
	if r.Limits.MaxUSD > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(r.Limits.MaxUSD, 'f', -1, 64))
	}
	if r.Text.Type == "json_schema" {
		if err := argv.Fits("text.format.schema", string(r.Text.Schema), 0); err != nil {
			return err
		}
		args = append(args, "--json-schema", string(r.Text.Schema))
	}
	if e := effort(r.Reasoning.Effort); e != "" {
		args = append(args, "--effort", e)
	}
	if r.MultiAgent.Disabled {
		args = append(args, "--disallowedTools", subagentTools)
	}
	args = append(args, permissions(r, asks)...)
	inv.Args = append(args, r.ExtraArgs...)
	environment(r, inv)
	return argv.Check(inv.Args)
}

// effort maps the neutral levels to those of --effort; the ones below low are low.
func effort(e string) string {
	switch e {
	case "none", "minimal":
		return "low"
	}
	return e
}

func environment(r *agent.Request, inv *agent.Invocation) {
	inv.Env = append(inv.Env, quiet...)
	if r.LLM.BaseURL != "" {
		// The CLI adds /v1/messages itself.
		base := strings.TrimSuffix(strings.TrimRight(r.LLM.BaseURL, "/"), "/v1")
		inv.Env = append(inv.Env, "ANTHROPIC_BASE_URL="+base)
	}
	switch {
	case r.KeyFD > 0: // and the CLI does not hand the number on
		inv.Env = append(inv.Env, "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR="+strconv.Itoa(r.KeyFD))
	case r.LLM.APIKey != "":
		inv.Env = append(inv.Env, "ANTHROPIC_API_KEY="+r.LLM.APIKey)
	}
	if r.Home != "" {
		inv.Env = append(inv.Env, "CLAUDE_CONFIG_DIR="+r.Home)
	}
	if r.MultiAgent.Enabled && r.MultiAgent.Max != nil {
		inv.Env = append(inv.Env, "CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS="+strconv.Itoa(*r.MultiAgent.Max))
	}
	if r.Permissions == spec.FullAccess && r.Root && r.Sandboxed {
		inv.Env = append(inv.Env, "IS_SANDBOX=1")
	}
}

// server is one of the MCP configuration.
type server struct {
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
}

// hostServer is the host's own, with a token or what stands for it.
func hostServer(h *agent.HostServer, token string) server {
	return server{Type: "http", URL: h.URL, Headers: map[string]string{"Authorization": "Bearer " + token}}
}

// servers writes the MCP configuration. Header and environment values stay out of
// it: the CLI fills ${NAME} from its environment.
func servers(r *agent.Request, inv *agent.Invocation, host *agent.HostServer) ([]byte, error) {
	var vault argv.Vault
	byName := func(values map[string]string) map[string]string {
		names := make(map[string]string, len(values))
		for _, k := range argv.Sorted(values) {
			names[k] = "${" + vault.Put(values[k]) + "}"
		}
		return names
	}
	file := struct {
		Servers map[string]server `json:"mcpServers"`
	}{map[string]server{}}
	if host != nil {
		file.Servers[host.Name] = hostServer(host, "${"+host.TokenEnv+"}")
	}
	if h := r.Host; h != nil {
		inv.Env = append(inv.Env, "MCP_TOOL_TIMEOUT="+strconv.FormatInt(h.Timeout.Milliseconds(), 10))
	}
	for _, name := range argv.Sorted(r.MCP) {
		switch s := r.MCP[name]; {
		case s.URL != "":
			file.Servers[name] = server{Type: "http", URL: s.URL, Headers: byName(s.Headers)}
		case s.Command != "":
			file.Servers[name] = server{Command: s.Command, Args: s.Args, Env: byName(s.Env)}
		default:
			return nil, event.FailParam(event.InvalidRequest, "mcp_servers."+name, "an MCP server needs a url or a command")
		}
	}
	inv.Env = append(inv.Env, vault.Env...)
	inv.Secrets = append(inv.Secrets, vault.Values...)
	data, err := json.Marshal(file)
	if err != nil {
		return nil, fmt.Errorf("write the MCP configuration: %w", err)
	}
	return data, nil
}
