package codex

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/briefing"
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

// prompt is what Codex is asked: the caller's words, behind instructions that the
// resumed thread does not know yet.
func prompt(r *agent.Request) string {
	m, ok := remember(r)
	if !ok || m.Instructions == "" || m.Instructions == briefing.Identify(r.Instructions) {
		return r.Prompt
	}
	return briefing.Renew(r.Instructions, r.Prompt)
}
