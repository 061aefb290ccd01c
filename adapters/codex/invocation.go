package codex

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
)

// Retries are the host's business: these only bridge a hiccup.
const (
	requestRetries = 1
	streamRetries  = 2
)

const schemaFile = "output-schema.json"

// sandbox gives the arguments of a permission, nil for one that codex exec does not
// have. Where the host confines it, its own sandbox could not start: nothing may be
// mounted there. The same arguments work for exec and exec resume.
func sandbox(p spec.Permissions, confined bool) []string {
	if confined && (p == spec.ReadOnly || p == spec.WorkspaceWrite) {
		p = spec.FullAccess // of what the host leaves it
	}
	switch p {
	case spec.ReadOnly:
		return []string{"-c", `sandbox_mode="read-only"`, "-c", `approval_policy="never"`}
	case spec.WorkspaceWrite:
		return []string{"-c", `sandbox_mode="workspace-write"`, "-c", `approval_policy="never"`}
	case spec.FullAccess:
		return []string{"--dangerously-bypass-approvals-and-sandbox"}
	}
	return nil
}

// hardened: without the first of these a tool shell sees the provider's key; with
// the others no start depends on a network but the provider's.
var hardened = []string{
	"-c", "shell_environment_policy.ignore_default_excludes=false",
	"-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false",
	"--disable", "plugins", "--disable", "apps", "--disable", "unbounded_connection_retries",
}

func build(r *agent.Request) (*agent.Invocation, error) {
	inv := &agent.Invocation{Stdin: []byte(prompt(r))}
	args := []string{"exec"}
	if r.Native != "" {
		args = append(args, "resume")
	}
	args = append(args, "--json", "--skip-git-repo-check")
	if r.Model != "" {
		if err := argv.Word("model", r.Model); err != nil {
			return nil, err
		}
		args = append(args, "-m", r.Model)
	}
	set := func(key, value string) { args = append(args, "-c", key+"="+value) }

	provider(r, inv, set)
	if r.Instructions != "" {
		quoted := tomlString(r.Instructions)
		const key = "developer_instructions"
		if err := argv.Fits("instructions", r.Instructions, len(key)+1+len(quoted)-len(r.Instructions)); err != nil {
			return nil, err
		}
		set(key, quoted)
	}
	if e := r.Reasoning.Effort; e != "" {
		set("model_reasoning_effort", tomlString(e))
	}
	if s := r.Reasoning.Summary; s != "" {
		set("model_reasoning_summary", tomlString(s))
	}
	if v := r.Text.Verbosity; v != "" {
		set("model_verbosity", tomlString(v))
	}
	if err := servers(r.MCP, inv, set); err != nil {
		return nil, err
	}
	if h := r.Host; h != nil {
		set("mcp_servers."+h.Name, fmt.Sprintf("{url=%s,bearer_token_env_var=%s,tool_timeout_sec=%d,required=true,supports_parallel_tool_calls=true,%s}",
			tomlString(h.URL), tomlString(h.TokenEnv), int64(h.Timeout.Seconds()), approved))
		inv.Env = append(inv.Env, h.TokenEnv+"="+h.Token)
	}
	args = append(args, hardened...)
	switch m := r.MultiAgent; {
	case m.Disabled:
		args = append(args, "--disable", "multi_agent")
	case m.Enabled && m.Max != nil:
		set("agents.max_threads", strconv.Itoa(*m.Max))
	}
	args = append(args, sandbox(r.Permissions, r.Confined)...)
	if r.Text.Type == "json_schema" {
		inv.Files = append(inv.Files, agent.File{Name: schemaFile, Data: r.Text.Schema})
		args = append(args, "--output-schema", filepath.Join(r.Dir, schemaFile))
	}
	for _, image := range r.Images {
		args = append(args, "--image="+image) // joined: the flag would take what follows as well
	}
	args = append(args, r.ExtraArgs...)
	if r.Native != "" {
		args = append(args, r.Native)
	}
	inv.Args = append(args, "-")
	if r.Home != "" {
		inv.Env = append(inv.Env, "CODEX_HOME="+r.Home)
	}
	return inv, argv.Check(inv.Args)
}

// provider points Codex at the host's model provider, if one is configured. A key
// without an address goes to the CLI's own provider.
func provider(r *agent.Request, inv *agent.Invocation, set func(key, value string)) {
	if r.LLM.BaseURL == "" {
		if r.LLM.APIKey != "" {
			inv.Env = append(inv.Env, "CODEX_API_KEY="+r.LLM.APIKey)
		}
		return
	}
	key := ""
	if r.LLM.APIKey != "" {
		key = `env_key="AGENT_PROVIDER_KEY",`
		inv.Env = append(inv.Env, "AGENT_PROVIDER_KEY="+r.LLM.APIKey)
	}
	set("model_provider", `"host"`)
	set("model_providers.host", fmt.Sprintf(`{name="host",base_url=%s,%swire_api="responses",request_max_retries=%d,stream_max_retries=%d}`,
		tomlString(baseURL(r.LLM.BaseURL)), key, requestRetries, streamRetries))
}

// baseURL is the address below which /responses is: one without any path gets /v1.
func baseURL(s string) string {
	s = strings.TrimRight(s, "/")
	if u, err := url.Parse(s); err == nil && u.Path == "" && u.RawQuery == "" {
		return s + "/v1"
	}
	return s
}

// reserved are variables that a tool server cannot be given by way of the CLI's own
// environment, because the CLI lives by them.
func reserved(name string) bool {
	switch name {
	case "PATH", "HOME", "SHELL", "TMPDIR", "CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "AGENT_PROVIDER_KEY":
		return true
	}
	return name == "" || strings.ContainsAny(name, "=\x00") || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_")
}

// approved lets the tools of configured servers run: with approval_policy "never"
// Codex otherwise refuses every one that does not call itself read-only. A permission
// bounds Codex's own tools; which servers there are is the agent's definition.
const approved = `default_tools_approval_mode="approve"`

// servers tells Codex about tool servers. Header and environment values travel in
// the environment, the configuration holds their names.
func servers(mcp map[string]spec.MCPServer, inv *agent.Invocation, set func(key, value string)) error {
	var vault argv.Vault
	seen := map[string]string{}
	for _, name := range argv.Sorted(mcp) {
		s := mcp[name]
		param := "mcp_servers." + name
		if s.URL != "" {
			set(param, remote(s, &vault))
			continue
		}
		if s.Command == "" {
			return event.FailParam(event.InvalidRequest, param, "an MCP server needs a url or a command")
		}
		for _, key := range argv.Sorted(s.Env) {
			if reserved(key) {
				return event.FailParam(event.InvalidRequest, param+".env", fmt.Sprintf("the variable %q cannot be set for an MCP server of codex", key))
			}
			if other, dup := seen[key]; dup && other != s.Env[key] {
				return event.FailParam(event.InvalidRequest, param+".env", fmt.Sprintf("two MCP servers want different values of %s; codex hands its servers one", key))
			}
			seen[key] = s.Env[key]
			vault.PutAs(key, s.Env[key])
		}
		set(param, fmt.Sprintf("{command=%s,args=%s,env_vars=%s,%s%s}", tomlString(s.Command), tomlList(s.Args), tomlList(argv.Sorted(s.Env)), approved, enabled(s)))
	}
	inv.Env = append(inv.Env, vault.Env...)
	inv.Secrets = append(inv.Secrets, vault.Values...)
	return nil
}

func remote(s spec.MCPServer, vault *argv.Vault) string {
	var b strings.Builder
	b.WriteString("{url=" + tomlString(s.URL))
	var headers []string
	for _, h := range argv.Sorted(s.Headers) {
		value := s.Headers[h]
		if token, ok := strings.CutPrefix(value, "Bearer "); ok && strings.EqualFold(h, "Authorization") {
			b.WriteString(",bearer_token_env_var=" + tomlString(vault.Put(token)))
			continue
		}
		headers = append(headers, tomlString(h)+"="+tomlString(vault.Put(value)))
	}
	if len(headers) > 0 {
		b.WriteString(",env_http_headers={" + strings.Join(headers, ",") + "}")
	}
	b.WriteString("," + approved + enabled(s) + "}")
	return b.String()
}

// enabled limits a server to the allowed tools: Codex offers no other to the model.
func enabled(s spec.MCPServer) string {
	if s.Allowed == nil {
		return ""
	}
	return ",enabled_tools=" + tomlList(s.Allowed)
}
