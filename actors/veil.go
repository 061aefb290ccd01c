package actors

import (
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/turn"
)

// veil is what redacts the words of a turn's CLI.
type veil struct{ *redact.Set }

// Stream implements turn.Veil.
func (v veil) Stream() turn.Stream { return v.Set.Stream() }
