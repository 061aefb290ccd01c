package actors

import (
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
)

// pointed is an adapter whose CLI may know other providers than its own.
type pointed struct {
	agent.Adapter
	another bool
}

func (pointed) Name() string                           { return "tool" }
func (p pointed) Capabilities() (c agent.Capabilities) { c.BaseURL = p.another; return c }

// What is said of the provider names its host and nothing else of its URL.
func TestWhatIsSaidOfAProvider(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://user:secret@llm.example:8443/key-secret/v1?key=secret": "the configured provider is llm.example:8443",
		"llm.example/v1": "the configured base URL of the provider names no host",
		"":               "no base URL is configured, so the CLI asks its own provider; ABX_LLM_BASE_URL, or the variable in agents.tool.llm.base_url_env, names another",
	} {
		r := RuntimeConfig{Adapter: pointed{another: true}, Permissions: spec.ReadOnly, LLM: agent.LLM{BaseURL: base}}
		if got := r.provider(); got != want {
			t.Errorf("%s: says %q", base, got)
		}
	}
	if got := (&RuntimeConfig{Adapter: pointed{}}).provider(); got != "" {
		t.Errorf("of a CLI that knows one provider: %q", got)
	}
}
