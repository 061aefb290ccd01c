package responses

import (
	stdjson "encoding/json"

	jsoniter "github.com/json-iterator/go"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// echo is what a response object repeats of its request. It is stored in
// event.Input.Echo: fields are added, never renamed.
type echo struct {
	Model              string             `json:"model,omitempty"`
	Instructions       *string            `json:"instructions,omitempty"`
	Metadata           map[string]string  `json:"metadata,omitempty"`
	PreviousResponseID *string            `json:"previous_response_id,omitempty"`
	Temperature        *float64           `json:"temperature,omitempty"`
	TopP               *float64           `json:"top_p,omitempty"`
	TopLogprobs        *int64             `json:"top_logprobs,omitempty"`
	MaxOutputTokens    *int64             `json:"max_output_tokens,omitempty"`
	MaxToolCalls       *int64             `json:"max_tool_calls,omitempty"`
	ParallelToolCalls  *bool              `json:"parallel_tool_calls,omitempty"`
	Tools              stdjson.RawMessage `json:"tools,omitempty"`
	ToolChoice         stdjson.RawMessage `json:"tool_choice,omitempty"`
	Format             stdjson.RawMessage `json:"format,omitempty"` // text.format
	Verbosity          *string            `json:"verbosity,omitempty"`
	Effort             *string            `json:"effort,omitempty"`
	Summary            *string            `json:"summary,omitempty"`
	ServiceTier        *string            `json:"service_tier,omitempty"`
	Truncation         *string            `json:"truncation,omitempty"`
	SafetyIdentifier   *string            `json:"safety_identifier,omitempty"`
	PromptCacheKey     *string            `json:"prompt_cache_key,omitempty"`
	CacheRetention     *string            `json:"prompt_cache_retention,omitempty"`
	User               *string            `json:"user,omitempty"`
	Context            *string            `json:"reasoning_context,omitempty"`
	Mode               *string            `json:"reasoning_mode,omitempty"`
}

// readEcho reads what a turn stores; an unreadable one counts as none.
func readEcho(b []byte) (e echo, asked bool) {
	if len(b) == 0 || json.Unmarshal(b, &e) != nil {
		return echo{}, false
	}
	return e, true
}

// tools are those of the request, never nil.
func (e *echo) tools() []stdjson.RawMessage {
	list := []stdjson.RawMessage{}
	if len(e.Tools) > 0 && json.Unmarshal(e.Tools, &list) != nil {
		return []stdjson.RawMessage{}
	}
	return list
}
