package claudecode_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/claudecode"
)

// Each way in which the CLI is known to fail has its code.
func TestFailuresHaveTheirCodes(t *testing.T) {
	t.Parallel()
	adaptertest.RunFailures(t, &claudecode.Adapter{}, "testdata/recorded", map[string]event.Code{
		"err401":                           event.AuthenticationError,
		"err403":                           event.AuthenticationError,
		"missing_key":                      event.AuthenticationError,
		"err429":                           event.RateLimited,
		"ratesse":                          event.RateLimited,
		"quota":                            event.UsageLimited,
		"err400":                           event.InvalidRequest,
		"err404":                           event.ModelNotFound,
		"ctx":                              event.ContextTooLong,
		"ctxsse":                           event.ContextTooLong,
		"err500":                           event.ProviderOverloaded,
		"err529":                           event.ProviderOverloaded,
		"cut":                              event.ProviderUnreachable,
		"conn_refused":                     event.ProviderUnreachable,
		"incomplete":                       event.MaxOutputTokens,
		"refusal":                          event.InvalidRequest,
		"max_turns":                        event.TurnLimit,
		"budget":                           event.BudgetReached,
		"perm_full_as_root_no_sandbox_env": event.InvalidRequest,
		"bad_flag":                         event.InvalidRequest,
		"stream_json_without_verbose":      event.InvalidRequest,
		"empty_stdin":                      event.InvalidRequest,
		"session_id_reused":                event.InvalidRequest,
		"resume_unknown_id":                event.ResumeLost,
		"resume_other_home":                event.ResumeLost,
		"resume_not_persisted":             event.ResumeLost,
		"resume_bad_id":                    event.ResumeLost,
		"sigterm_in_hang":                  "",
	})
}
