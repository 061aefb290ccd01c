package qwen_test

import (
	"testing"

	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/qwen"
)

// Qwen Code speaks Claude Code's dialect, and its trouble.
//
//cases:8,28,31,33,34,35,37,38,42,46,47
func TestTroubleCases(t *testing.T) {
	t.Parallel()
	adaptertest.RunExpected(t, &qwen.Adapter{}, "../claudecode/testdata/cases")
}
