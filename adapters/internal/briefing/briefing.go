package briefing

import (
	"crypto/sha256"
	"encoding/hex"
)

// Identify names instructions without keeping them.
func Identify(instructions string) string {
	sum := sha256.Sum256([]byte(instructions))
	return hex.EncodeToString(sum[:8])
}

// Renew is a prompt of a conversation that knows other instructions, or none.
func Renew(instructions, prompt string) string {
	if instructions == "" {
		return "The developer's earlier instructions no longer apply.\n\n" + prompt
	}
	return "The developer's instructions have changed. From now on these apply instead of the earlier ones:\n\n" + instructions + "\n\nThe user's message:\n\n" + prompt
}
