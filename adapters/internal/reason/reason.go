package reason

import (
	"regexp"
	"strconv"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/event"
)

// rules are tried in order; the first with a pattern in the lower-cased text wins.
// A quota is told with status 429, and a retry that gave up quotes its cause, so
// the specific comes before the general.
var rules = []struct {
	code     event.Code
	patterns []string
}{
	{event.ResumeLost, []string{"no rollout found", "no conversation found with session id", "requires a valid session id", "session not found", "no saved session found"}},
	{event.WorkspaceUnavail, []string{"required mcp servers failed"}},
	{event.UsageLimited, []string{"quota exceeded", "exceeded your current quota", "insufficient_quota", "usage limit", "credit balance", "out of credits", "billing details"}},
	{event.RateLimited, []string{"status 429", "status: 429", "(429)", "error: 429", "rate limit", "rate_limit", "too many requests"}},
	{event.AuthenticationError, []string{"status 401", "status 403", "error: 401", "error: 403", "missing environment variable", "not logged in", "please run /login", "missing api key", "failed to authenticate", "incorrect api key", "invalid api key", "invalid x-api-key", "unauthorized", "authentication_error", "authentication failed"}},
	{event.ContextTooLong, []string{"context window", "context length", "context_length", "maximum context", "prompt is too long"}},
	{event.MaxOutputTokens, []string{"max_output_tokens", "output token maximum", "output token limit"}},
	{event.ModelNotFound, []string{"model does not exist", "model_not_found", "issue with the selected model", "does not exist or you do not have access", "model not found"}},
	{event.ProviderOverloaded, []string{"high demand", "overloaded", "status 500", "status 502", "status 503", "status 504", "status 529", "error: 5", "internal server error", "service unavailable", "bad gateway", "gateway timeout"}},
	{event.ProviderUnreachable, []string{"connection failed", "connection refused", "connection dropped", "connection reset", "connection error", "other side closed", "stream disconnected", "error sending request", "econnre", "enotfound", "network error", "waiting for network", "dns error", "certificate", "timed out", "timeout", "in json at position", "model stream ended"}},
	{event.InvalidRequest, []string{"invalid_request_error", "status 4", "error: 4", "invalid value", "unexpected argument", "unknown option", "unknown argument", "no input provided", "error loading config", "no prompt provided", "input must be provided", "not inside a trusted directory", "error: session id ", "requires --verbose"}},
	{event.WorkspaceUnavail, []string{"no such file or directory (os error 2)", "no space left on device"}},
}

// Code finds the code for a text, fallback if no rule knows it.
func Code(text string, fallback event.Code) event.Code {
	low := strings.ToLower(text)
	for _, r := range rules {
		for _, p := range r.patterns {
			if strings.Contains(low, p) {
				return r.code
			}
		}
	}
	return fallback
}

var remedies = map[event.Code]string{
	event.AuthenticationError: "check the provider key, or sign the CLI in",
	event.ModelNotFound:       "name a model that the provider offers",
	event.ResumeLost:          "the CLI's state for this conversation is gone; start a new session",
	event.ContextTooLong:      "start a new session or shorten the input",
}

const maxMessage = 2000

// Failure makes the failure of a text that a CLI gave as its reason: the text
// first, then what to do about it.
func Failure(code event.Code, text string) *event.Failure {
	text = strings.TrimSpace(bodyMessage(strings.ToValidUTF8(text, "\uFFFD")))
	if text == "" {
		text = "the CLI gave no reason"
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + " ..."
	}
	f := event.Fail(code, text)
	if r := remedies[code]; r != "" {
		f.Message += " (" + r + ")"
	}
	if code == event.RateLimited || code == event.UsageLimited {
		f.RetryAfter = retryAfter(text)
	}
	return f
}

// bodyMessage is the message inside a provider's error body that a CLI handed on
// as it came.
func bodyMessage(text string) string {
	if !strings.HasPrefix(text, "{") {
		return text
	}
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if jsoniter.ConfigCompatibleWithStandardLibrary.UnmarshalFromString(text, &body) != nil || body.Error.Message == "" {
		return text
	}
	return body.Error.Message
}

var again = regexp.MustCompile(`try again in (\d+)(?:\.\d+)?\s*(ms|s|m|h)?`)

// retryAfter reads "try again in 20s" as whole seconds, rounded up; 0 when the
// text does not say.
func retryAfter(text string) int {
	m := again.FindStringSubmatch(strings.ToLower(text))
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > 1<<20 {
		return 0
	}
	switch m[2] {
	case "ms":
		return n/1000 + 1
	case "m":
		return n * 60
	case "h":
		return n * 3600
	}
	return max(n, 1)
}
