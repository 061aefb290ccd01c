package actors

import (
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/turn"
)

// veil is what redacts the words of a turn's CLI.
type veil struct{ *redact.Set }

// stderr redacts what a process writes to standard error before its end is kept: where
// that is cut, half a secret could be left of one.
func (v veil) stderr() func([]byte) []byte {
	st := v.Set.Stream()
	return func(p []byte) []byte {
		if p == nil {
			return []byte(st.Flush())
		}
		return []byte(st.Write(string(p)))
	}
}

// Stream implements turn.Veil.
func (v veil) Stream() turn.Stream { return v.Set.Stream() }
