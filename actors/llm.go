package actors

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// llm is the provider of a session's turns, field by field: the address that its caller
// names, which providable has to allow, what an agent of the configuration says, else
// what its adapter is run with, which the embedder took from the adapter's settings,
// the host's and the CLI's own variables, in this order.
// What one request names is laid over it (override).
func (h *Host) llm(r *RuntimeConfig, s *spec.Session) agent.LLM {
	out := h.ownLLM(r, &s.Agent)
	if base, _ := named(s, nil); base != "" {
		out.BaseURL = base
	}
	return out
}

// named is the address of the provider that the caller names, "" for none, and where: a
// request before its session, that before its agent. The metadata of an agent of the
// configuration are its operator's, who has a key for it.
func named(s *spec.Session, o *spec.Overrides) (base, param string) {
	if o != nil && o.BaseURL != nil {
		return *o.BaseURL, "metadata." + spec.ProviderKey
	}
	if base := s.Metadata[spec.ProviderKey]; base != "" {
		return base, "metadata." + spec.ProviderKey
	}
	if s.Agent.Locked {
		return "", ""
	}
	return s.Agent.Metadata[spec.ProviderKey], "agent"
}

// providable refuses an address of a provider that the caller may not name: the host's
// key goes there.
func (h *Host) providable(r *RuntimeConfig, s *spec.Session, o *spec.Overrides) error {
	base, param := named(s, o)
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return event.FailParam(event.InvalidRequest, param, param+" names no host")
	}
	if err := h.bounds(s).LLMHost(param, u.Hostname()); err != nil {
		return err
	}
	if !h.capabilities(r).BaseURL {
		return event.FailParam(event.Unsupported, param, fmt.Sprintf("adapter %s takes no other provider than its own; leave it out or use another agent", r.Adapter.Name()))
	}
	return nil
}

// ownLLM is what the operator says.
func (h *Host) ownLLM(r *RuntimeConfig, a *spec.Agent) agent.LLM {
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
