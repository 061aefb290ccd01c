package responses

import (
	stdjson "encoding/json"

	"github.com/agenthost/agenthost/wires/files"
)

// createBody describes the body of POST /responses, whose parameters the table
// fields reads one by one; a test holds the two together. Other parameters are
// ignored by name.
type createBody struct {
	Input              any               `json:"input" need:"true"`
	Model              string            `json:"model" doc:"a model, a saved agent or a coding agent"`
	Stream             bool              `json:"stream"`
	Background         bool              `json:"background"`
	Store              bool              `json:"store" doc:"true when missing"`
	PreviousResponseID string            `json:"previous_response_id"`
	Conversation       any               `json:"conversation"`
	Metadata           map[string]string `json:"metadata"`
	Instructions       string            `json:"instructions"`
	Reasoning          reasoningBody     `json:"reasoning"`
	Text               textBody          `json:"text"`
	Tools              []toolBody        `json:"tools" doc:"beside those that a coding agent brings"`
	ToolChoice         any               `json:"tool_choice" doc:"ignored unless auto or none"`
	Prompt             any               `json:"prompt" as:"null"`
	Include            []string          `json:"include"`
	StreamOptions      any               `json:"stream_options" as:"any"`
	Temperature        float64           `json:"temperature" doc:"ignored"`
	TopP               float64           `json:"top_p" doc:"ignored"`
	TopLogprobs        int64             `json:"top_logprobs" doc:"ignored"`
	MaxOutputTokens    int64             `json:"max_output_tokens" doc:"ignored"`
	MaxToolCalls       int64             `json:"max_tool_calls" doc:"ignored"`
	ParallelToolCalls  bool              `json:"parallel_tool_calls" doc:"ignored"`
	Truncation         string            `json:"truncation" doc:"ignored"`
	ServiceTier        string            `json:"service_tier" doc:"ignored"`
	User               string            `json:"user" doc:"ignored"`
	SafetyIdentifier   string            `json:"safety_identifier" doc:"ignored"`
	PromptCacheKey     string            `json:"prompt_cache_key" doc:"ignored"`
	CacheRetention     string            `json:"prompt_cache_retention" doc:"ignored"`
}

// Variants implements openapi.Variants.
func (createBody) Variants() map[string][]any {
	return map[string][]any{
		"input":        {"", []itemBody{}},
		"conversation": {"", conversationBody{}},
		"tool_choice":  {"", toolChoice{}},
	}
}

type conversationBody struct {
	ID string `json:"id" need:"true"`
}

type reasoningBody struct {
	Effort  *string `json:"effort" enum:"none,minimal,low,medium,high,xhigh,max"`
	Summary *string `json:"summary" enum:"auto,concise,detailed"`
	Old     *string `json:"generate_summary" enum:"auto,concise,detailed"`
}

type textBody struct {
	Format    stdjson.RawMessage `json:"format"`
	Verbosity *string            `json:"verbosity" enum:"low,medium,high"`
}

// Variants implements openapi.Variants.
func (textBody) Variants() map[string][]any { return map[string][]any{"format": {formatBody{}}} }

type formatBody struct {
	Type   string             `json:"type" need:"true" enum:"text,json_schema"`
	Name   string             `json:"name"`
	Schema stdjson.RawMessage `json:"schema" as:"object"`
}

// itemBody is an item of an input. Without a type it is a message. The roles are
// those of messages, and so is content; the rest belongs to calls that were made.
type itemBody struct {
	Type        string             `json:"type" enum:"message,mcp_call,function_call,function_call_output,mcp_approval_request,mcp_approval_response,web_search_call,reasoning,mcp_list_tools"`
	Role        string             `json:"role" enum:"user,assistant,system,developer"`
	Content     stdjson.RawMessage `json:"content"`
	Name        string             `json:"name"`
	ServerLabel string             `json:"server_label"`
	Arguments   stdjson.RawMessage `json:"arguments" as:"any"`
	Output      stdjson.RawMessage `json:"output" as:"any"`
	Action      stdjson.RawMessage `json:"action" as:"any"`
	CallID      string             `json:"call_id" doc:"of a function_call_output: the call it answers"`
	ApprovalID  string             `json:"approval_request_id"`
	Approve     *bool              `json:"approve"`
	Reason      *string            `json:"reason"`
}

// Variants implements openapi.Variants.
func (itemBody) Variants() map[string][]any {
	return map[string][]any{"content": {"", []partBody{}}}
}

type partBody struct {
	Type    string `json:"type" need:"true" enum:"input_text,output_text,text,refusal,input_image,input_file"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
	files.RawPart
}
