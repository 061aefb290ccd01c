package cursor_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/cursor"
)

// Each way in which the CLI is known to fail has its code.
func TestFailuresHaveTheirCodes(t *testing.T) {
	t.Parallel()
	adaptertest.RunFailures(t, &cursor.Adapter{}, "testdata/documented", map[string]event.Code{
		"model_not_allowed": event.InvalidRequest,
		"cut":               "",
		"error_result":      event.ProviderUnreachable,
		"no_verdict":        "",
		"not_signed_in":     event.AuthenticationError,
		"usage_limit":       event.UsageLimited,
		"unknown_chat":      event.ResumeLost,
	})
}
