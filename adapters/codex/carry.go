package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// memory is what travels from a session's turn to its next one.
type memory struct {
	// The thread's usage so far.
	event.Usage
	// Instructions identifies those that the thread knows. A thread keeps the
	// developer instructions that it began with and ignores those of a resumed turn.
	Instructions string `json:"instructions,omitempty"`
}

func (m memory) encode() []byte {
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return b
}

// remember reads what the turn before left; nothing on a thread's first turn.
func remember(r *agent.Request) (m memory, ok bool) {
	if r.Native == "" || len(r.Carry) == 0 || json.Unmarshal(r.Carry, &m) != nil {
		return memory{}, false
	}
	return m, true
}

// identify names instructions without keeping them.
func identify(instructions string) string {
	sum := sha256.Sum256([]byte(instructions))
	return hex.EncodeToString(sum[:8])
}

// prompt is what Codex is asked: the caller's words, behind instructions that the
// resumed thread does not know yet.
func prompt(r *agent.Request) string {
	m, ok := remember(r)
	if !ok || m.Instructions == "" || m.Instructions == identify(r.Instructions) {
		return r.Prompt
	}
	if r.Instructions == "" {
		return "The developer's earlier instructions no longer apply.\n\n" + r.Prompt
	}
	return "The developer's instructions have changed. From now on these apply instead of the earlier ones:\n\n" + r.Instructions + "\n\nThe user's message:\n\n" + r.Prompt
}
