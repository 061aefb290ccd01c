package qwen_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/qwen"
)

// Each way in which the CLI is known to fail has its code.
func TestFailuresHaveTheirCodes(t *testing.T) {
	t.Parallel()
	adaptertest.RunFailures(t, &qwen.Adapter{}, "testdata/recorded", map[string]event.Code{
		"err401":             event.AuthenticationError,
		"missing_key":        event.AuthenticationError,
		"err400":             event.InvalidRequest,
		"err404":             event.ModelNotFound,
		"ctx":                event.ContextTooLong,
		"cut":                event.ProviderUnreachable,
		"badjson":            event.ProviderUnreachable,
		"max_turns":          event.TurnLimit,
		"max_tool_calls":     event.TurnLimit,
		"max_wall":           event.TurnLimit,
		"bad_flag":           event.InvalidRequest,
		"empty_stdin":        event.InvalidRequest,
		"session_id_reused":  event.InvalidRequest,
		"resume_unknown_id":  event.ResumeLost,
		"resume_bad_id":      event.ResumeLost,
		"resume_3_other_cwd": event.ResumeLost,
	})
}
