package main

import (
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
)

func TestKeysThatAnAnswerMayHoldAreWarnedOf(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{"": false, " ": false, "x": true, "sk-1234": true, "unused": true, "placeholder": true, "sk-12345678": false, "demo-key-no-secret": false} {
		runtimes := []actors.RuntimeConfig{{Adapter: own("codex").adapter, LLM: agent.LLM{APIKey: key}}}
		got := plainKeys(runtimes)
		if (got != "") != want || want && !strings.Contains(got, "key of codex is") {
			t.Errorf("%q: %q", key, got)
		}
	}
}

// The configuration refuses ask for exactly the adapters that cannot.
func TestAskIsRefusedWhereNoCLICan(t *testing.T) {
	t.Parallel()
	for _, b := range builtIn {
		can := false
		for _, p := range b.adapter.Capabilities().Permissions {
			can = can || p == spec.Ask
		}
		_, only := b.adapter.(agent.Only)
		if name := b.adapter.Name(); can != (name == "claude-code" || only) {
			t.Errorf("%s: ask is %v; the texts of cmd/config and the README name who can", name, can)
		}
	}
}

func TestRemediesSayWhatToRun(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"codex":  "install it with: agenthost install codex; or set agents.codex.binary",
		"cursor": "install the Cursor CLI with its vendor's installer, or set agents.cursor.binary",
		"mytool": "install my-tool, or write its absolute path as the first element of agents.mytool.command",
	} {
		if got := remedy(name, "my-tool"); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
