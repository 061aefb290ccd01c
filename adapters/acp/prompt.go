package acp

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/briefing"
)

// memory is what travels from a session's turn to its next one.
type memory struct {
	// Instructions identifies those that the conversation knows.
	Instructions string `json:"instructions,omitempty"`
}

// prompt is what the CLI is asked: the caller's words, behind instructions that the
// conversation does not know yet. The protocol has no place for them.
func (s *served) prompt() string {
	r := s.r
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

// carry is what the next turn is told of this one. One that was not prompted has told
// the conversation nothing.
func (s *served) carry() []byte {
	if !s.running {
		return s.r.Carry
	}
	b, err := json.Marshal(known(s.r))
	if err != nil {
		return nil
	}
	return b
}
