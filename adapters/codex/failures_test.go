package codex_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/codex"
)

// Each way in which the CLI is known to fail has its code.
func TestFailuresHaveTheirCodes(t *testing.T) {
	t.Parallel()
	adaptertest.RunFailures(t, &codex.Adapter{}, "testdata/recorded", map[string]event.Code{
		"err401":               event.AuthenticationError,
		"err403":               event.AuthenticationError,
		"missing_key_env":      event.AuthenticationError,
		"err429":               event.RateLimited,
		"ratesse":              event.RateLimited,
		"quota":                event.UsageLimited,
		"err400":               event.InvalidRequest,
		"err404":               event.ModelNotFound,
		"ctx":                  event.ContextTooLong,
		"ctxsse":               event.ContextTooLong,
		"err500":               event.ProviderOverloaded,
		"err503":               event.ProviderOverloaded,
		"cut":                  event.ProviderUnreachable,
		"badjson":              event.ProviderUnreachable,
		"incomplete":           event.MaxOutputTokens,
		"conn_refused_bounded": event.ProviderUnreachable,
		"bad_flag":             event.InvalidRequest,
		"wire_api_chat":        event.InvalidRequest,
		"no_git_check":         event.InvalidRequest,
		"empty_stdin":          event.InvalidRequest,
		"cwd_missing":          event.WorkspaceUnavail,
		"mcp_required_broken":  event.WorkspaceUnavail,
		"resume_unknown_id":    event.ResumeLost,
		"resume_other_home":    event.ResumeLost,
		"resume_ephemeral":     event.ResumeLost,
	})
}
