package reason_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

func TestSpecificReasonsComeFirst(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]event.Code{
		"Request rejected (429) · You exceeded your current quota":    event.UsageLimited,
		"Reconnecting... 5/5 (unexpected status 401 Unauthorized: x)": event.AuthenticationError,
		"stream disconnected before completion: timeout":              event.ProviderUnreachable,
		"something new": "fallback",
		"unexpected status 404 Not Found: The model does not exist, request id: req_429_5": event.ModelNotFound,
	} {
		if got := reason.Code(text, "fallback"); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"try again in 20s": 20, "Try again in 1.2s.": 1, "try again in 300ms": 1, "try again in 2m": 120, "try again": 0, "try again in 99999999999999999999s": 0} {
		if got := reason.Failure(event.RateLimited, text).RetryAfter; got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestMessagesAreBoundedText(t *testing.T) {
	t.Parallel()
	if m := reason.Failure(event.CLICrashed, "x"+strings.Repeat("漢", 5000)).Message; len(m) > 2100 || !utf8.ValidString(m) {
		t.Errorf("%d bytes, valid: %v", len(m), utf8.ValidString(m))
	}
	if m := reason.Failure(event.CLICrashed, " ").Message; m == "" {
		t.Error("an empty message")
	}
}
