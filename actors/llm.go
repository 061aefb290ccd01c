package actors

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// llm is the provider of an agent's turns, field by field: what an agent of the
// configuration says, else what its adapter is run with, which the embedder took from
// the adapter's settings, the host's and the CLI's own variables, in this order. Only
// agents of the configuration have a say: a caller's could send the host's key
// anywhere.
func (h *Host) llm(r *RuntimeConfig, a *spec.Agent) agent.LLM {
	out := r.LLM
	if a.LLM == nil || !a.Locked {
		return out
	}
	if a.LLM.BaseURL != "" {
		out.BaseURL = a.LLM.BaseURL
	}
	if v, ok := lookup(h.cfg.environ, a.LLM.BaseURLEnv); ok && v != "" {
		out.BaseURL = v
	}
	if v, ok := lookup(h.cfg.environ, a.LLM.APIKeyEnv); ok && v != "" {
		out.APIKey = v
	}
	if a.LLM.WireAPI != "" {
		out.WireAPI = a.LLM.WireAPI
	}
	return out
}

// callersEnv refuses variables that an agent of a caller's may not set for its CLI:
// with them it would run code of its choice before the agent does, take the CLI's
// provider, home or proxy for another, or pass for the host.
func callersEnv(a *spec.Agent) error {
	if a.Locked {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		if forbidden(name) || smuggled(name) {
			return event.FailParam(event.InvalidRequest, "env."+name, fmt.Sprintf("the variable %.100q cannot be set for a CLI by its caller; leave it out", name))
		}
	}
	return nil
}

// smuggled says that a variable decides what is run or who is asked. The names are in
// upper case.
func smuggled(name string) bool {
	upper := strings.ToUpper(name)
	switch upper {
	case "PATH", "HOME", "SHELL", "USER", "LOGNAME", "TMPDIR", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "IFS", "CDPATH",
		"NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "BUN_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
		"PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT", "RUBYLIB", "EDITOR", "VISUAL", "PAGER", "BROWSER",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GCONV_PATH", "HOSTALIASES", "RESOLV_HOST_CONF", "IS_SANDBOX":
		return true
	}
	for _, prefix := range []string{
		"LD_", "DYLD_", "BASH_FUNC_", "GIT_", "SSH_", "NPM_CONFIG_", "XDG_", "AGENTHOST_", "ABX_",
		"CODEX_", "CLAUDE_", "ANTHROPIC_", "OPENAI_", "AGENT_PROVIDER_", "QWEN_", "GEMINI_", "GOOGLE_", "CURSOR_", "OPENCODE_", "HOST_TOOLS_",
	} {
		if strings.HasPrefix(upper, prefix) {
			return true
		}
	}
	return name == "" || strings.ContainsAny(name, "=\x00") || strings.HasSuffix(upper, "_PROXY") || strings.HasSuffix(upper, "_BASE_URL") || strings.HasSuffix(upper, "_API_KEY")
}
