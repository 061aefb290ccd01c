package cursor

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/argv"
	"github.com/agenthost/agenthost/adapters/internal/briefing"
)

// permissions gives the arguments of a permission, the same for a first and a
// resumed turn; nil for one that the CLI does not have.
func permissions(p spec.Permissions) []string {
	switch p {
	case spec.ReadOnly:
		return []string{"--mode", "ask"}
	case spec.WorkspaceWrite:
		return []string{"--sandbox", "enabled"}
	case spec.FullAccess:
		return []string{"--force", "--sandbox", "disabled"}
	}
	return nil
}

func build(r *agent.Request) (*agent.Invocation, error) {
	inv := &agent.Invocation{Stdin: []byte(prompt(r))}
	// --trust: in a new directory the CLI would ask, and nobody is there.
	args := []string{"-p", "--output-format", "stream-json", "--stream-partial-output", "--trust"}
	if r.Model != "" {
		if err := argv.Word("model", r.Model); err != nil {
			return nil, err
		}
		args = append(args, "--model", r.Model)
	}
	if r.Native != "" {
		args = append(args, "--resume", r.Native)
	}
	args = append(args, permissions(r.Permissions)...)
	inv.Args = append(args, r.ExtraArgs...)
	if r.Home != "" {
		inv.Env = append(inv.Env, "CURSOR_CONFIG_DIR="+r.Home)
	}
	if r.LLM.APIKey != "" {
		inv.Env = append(inv.Env, "CURSOR_API_KEY="+r.LLM.APIKey)
	}
	return inv, argv.Check(inv.Args)
}

// memory is what travels from a session's turn to its next one.
type memory struct {
	// Instructions identifies those that the conversation knows.
	Instructions string `json:"instructions,omitempty"`
}

// prompt is what the CLI is asked: the caller's words, behind instructions that the
// conversation does not know yet.
func prompt(r *agent.Request) string {
	if r.Native == "" {
		if r.Instructions == "" {
			return r.Prompt
		}
		return r.Instructions + "\n\n" + r.Prompt
	}
	var m memory
	if len(r.Carry) > 0 && json.Unmarshal(r.Carry, &m) != nil {
		m = memory{}
	}
	if m == known(r) {
		return r.Prompt
	}
	return briefing.Renew(r.Instructions, r.Prompt)
}

// known is what the conversation knows after a turn.
func known(r *agent.Request) memory {
	if r.Instructions == "" {
		return memory{}
	}
	return memory{Instructions: briefing.Identify(r.Instructions)}
}

// carry is what the next turn is told of this one.
func carry(r *agent.Request) []byte {
	b, err := json.Marshal(known(r))
	if err != nil {
		return nil
	}
	return b
}
