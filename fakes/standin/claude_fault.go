package standin

// claudeFault is how one kind of fault shows.
type claudeFault struct{ error, status, text, reason string }

var claudeFaults = map[string]claudeFault{
	"400":        {"unknown", "400", "API Error: 400 The scripted provider refuses this request.", "api_error"},
	"401":        {"authentication_failed", "401", "Failed to authenticate. API Error: 401 Incorrect API key provided.", "api_error"},
	"403":        {"authentication_failed", "403", "Failed to authenticate. API Error: 403 This key may not use this model.", "api_error"},
	"404":        {"model_not_found", "404", "There's an issue with the selected model. It may not exist or you may not have access to it.", "api_error"},
	"429":        {"rate_limit", "429", "API Error: Request rejected (429) · Rate limit reached. Please try again in 1s.", "api_error"},
	"quota":      {"rate_limit", "429", "API Error: Request rejected (429) · You exceeded your current quota, please check your plan and billing details.", "api_error"},
	"500":        {"server_error", "500", "API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment.", "api_error"},
	"503":        {"server_error", "503", "API Error: 503 Service unavailable", "api_error"},
	"529":        {"server_error", "529", "API Error: 529 Overloaded", "api_error"},
	"context":    {"invalid_request", "400", "Prompt is too long · the request is ~250000 tokens (limit 200000).", "prompt_too_long"},
	"cut":        {"server_error", "null", "API Error: Connection dropped (ECONNRESET).", "api_error"},
	"garbage":    {"server_error", "null", "API Error: Connection dropped (ECONNRESET).", "api_error"},
	"incomplete": {"max_output_tokens", "null", "API Error: Claude's response exceeded the 32000 output token maximum.", "api_error"},
	"refusal":    {"invalid_request", "null", "API Error: the model can't help with this.", "api_error"},
}
