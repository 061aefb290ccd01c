package adapters

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/agenthost/agenthost/actors/agent"
)

// Declared is the name under which Facts has what is true of every declared
// adapter.
const Declared = "command"

// Features are the rows of the capability matrix, in their order.
var Features = []string{
	"text", "deltas", "reasoning", "commands", "file_changes", "mcp_tools", "resume", "cancel",
	"model", "instructions_first_turn", "instructions_resumed_turn", "reasoning_effort", "output_schema", "images",
	"max_turns", "budget", "base_url",
	"permission_read_only", "permission_workspace_write", "permission_full_access", "permission_ask",
	"function_tools", "approvals", "subagents", "hosted_mcp",
}

// Fact is one cell of the matrix.
type Fact struct {
	Is agent.Support `json:"is"`
	// By is the test that found out: folder and name.
	By string `json:"by"`
}

// Known is a column of the matrix.
type Known struct {
	Version  string          `json:"version,omitempty"`
	Features map[string]Fact `json:"features"`
}

//go:embed facts.json
var factsFile []byte

// Facts are the columns by adapter name. They come from the tests: facts.json is
// written by go test ./cmd/layout -run TestCapabilitiesPage -update from what the
// last runs recorded.
func Facts() (map[string]Known, error) { return ReadFacts(factsFile) }

// ReadFacts reads the form of facts.json.
func ReadFacts(text []byte) (map[string]Known, error) {
	var out map[string]Known
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("facts of adapters: %w", err)
	}
	return out, nil
}

// ProofOf is what is known about an adapter; one without a column of its own was
// declared.
func ProofOf(name string) agent.Proof {
	all, err := Facts()
	if err != nil {
		return agent.Proof{} // a test reads the file
	}
	k, ok := all[name]
	if !ok {
		k = all[Declared]
	}
	out := agent.Proof{Version: k.Version, Features: make(map[string]agent.Support, len(k.Features))}
	for name, f := range k.Features {
		out.Features[name] = f.Is
	}
	return out
}
