package provider

// failure is how one kind of mind.Fault shows. Kinds without a status break the
// stream instead, which each wire does in its own way.
type failure struct {
	status     int
	kind, code string // OpenAI's error type and code
	anthropic  string // Anthropic's error type
	message    string
	retryAfter string
	// whole says that a request that is not streamed can show it.
	whole bool
}

var failures = map[string]failure{
	"400":        {status: 400, kind: "invalid_request_error", code: "invalid_value", anthropic: "invalid_request_error", message: "The scripted provider refuses this request."},
	"401":        {status: 401, kind: "invalid_request_error", code: "invalid_api_key", anthropic: "authentication_error", message: "Incorrect API key provided."},
	"403":        {status: 403, kind: "invalid_request_error", code: "forbidden", anthropic: "permission_error", message: "This key may not use this model."},
	"404":        {status: 404, kind: "invalid_request_error", code: "model_not_found", anthropic: "not_found_error", message: "The model does not exist or you do not have access to it."},
	"429":        {status: 429, kind: "requests", code: "rate_limit_exceeded", anthropic: "rate_limit_error", message: "Rate limit reached. Please try again in 1s.", retryAfter: "1"},
	"quota":      {status: 429, kind: "insufficient_quota", code: "insufficient_quota", anthropic: "rate_limit_error", message: "You exceeded your current quota, please check your plan and billing details."},
	"500":        {status: 500, kind: "server_error", code: "server_error", anthropic: "api_error", message: "Internal server error"},
	"503":        {status: 503, kind: "server_error", code: "service_unavailable", anthropic: "api_error", message: "Service unavailable"},
	"529":        {status: 529, kind: "server_error", code: "overloaded", anthropic: "overloaded_error", message: "Overloaded"},
	"context":    {status: 400, kind: "invalid_request_error", code: "context_length_exceeded", anthropic: "invalid_request_error", message: "prompt is too long: 250000 tokens > 200000 maximum"},
	"cut":        {},
	"stall":      {},
	"garbage":    {},
	"incomplete": {whole: true},
	"refusal":    {whole: true},
}

// openAIError is the error body of the Responses and Chat Completions wires.
func openAIError(f failure) any {
	return map[string]any{"error": map[string]any{"message": f.message, "type": f.kind, "param": nil, "code": f.code}}
}

// broken plays a fault in the middle of a stream and says whether it did.
func (e *events) broken(a *answer) bool {
	if a.Move.Fault == nil {
		return false
	}
	switch a.Move.Fault.Kind {
	case "cut":
		e.cut()
	case "stall":
		e.stall()
	case "garbage":
		e.raw("", []byte(`{"type": "resp`))
	default:
		return false
	}
	return true
}

// ends says whether the answer ends with a fault of this kind.
func (a *answer) ends(kind string) bool { return a.Move.Fault != nil && a.Move.Fault.Kind == kind }
