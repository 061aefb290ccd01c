package provider

import (
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
)

// Script says how a provider behaves. The zero value answers by its mind alone.
type Script struct {
	// Moves are played first, one a request; then the mind takes over.
	Moves []mind.Move
	// Key is the only key accepted, "" accepts any and none.
	Key string
	// Slow comes before each piece of each answer.
	Slow time.Duration
	// Models are the ids at /v1/models; empty means "scripted".
	Models []string
	// MaxRequests bounds the log, 0 means 10,000; the oldest go first.
	MaxRequests int
}

// Usage of every response, so that totals can be asserted: one response counts
// InputTokens, CachedTokens of them read from a cache, and OutputTokens,
// ReasoningTokens of them reasoning. The Messages wire counts the cached ones
// beside the input. A move that says so counts other numbers.
const (
	InputTokens     = 120
	CachedTokens    = 20
	OutputTokens    = 30
	ReasoningTokens = 10
)

// input and output are the tokens that an answer counts.
func (a *answer) input() int  { return orElse(a.Move.Use.Input, InputTokens) }
func (a *answer) output() int { return orElse(a.Move.Use.Output, OutputTokens) }

func orElse(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}
