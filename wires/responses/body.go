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
	Type       string             `json:"type" enum:"message,item_reference,function_call,function_call_output,custom_tool_call,custom_tool_call_output,mcp_call,mcp_list_tools,mcp_approval_request,mcp_approval_response,web_search_call,file_search_call,computer_call,computer_call_output,code_interpreter_call,image_generation_call,local_shell_call,local_shell_call_output,shell_call,shell_call_output,apply_patch_call,apply_patch_call_output,tool_search_call,tool_search_output,program,program_output,reasoning,compaction,additional_tools,configuration_update"`
	Role       string             `json:"role" enum:"user,assistant,system,developer"`
	Content    stdjson.RawMessage `json:"content"`
	ID         stdjson.RawMessage `json:"id" as:"any"`
	CallID     string             `json:"call_id" doc:"of a function_call_output: the call it answers"`
	ApprovalID string             `json:"approval_request_id"`
	Approve    *bool              `json:"approve"`
	Reason     *string            `json:"reason"`
	itemFields
}

// itemFields are those of items that are no message: of calls that were made, for
// the most part. What is not read of an item is kept where items are kept.
type itemFields struct {
	Name                     string             `json:"name,omitempty"`
	ServerLabel              string             `json:"server_label,omitempty"`
	Arguments                stdjson.RawMessage `json:"arguments,omitempty" as:"any"`
	Input                    stdjson.RawMessage `json:"input,omitempty" as:"any"`
	Output                   stdjson.RawMessage `json:"output,omitempty" as:"any"`
	Outputs                  stdjson.RawMessage `json:"outputs,omitempty" as:"any"`
	Action                   stdjson.RawMessage `json:"action,omitempty" as:"any"`
	Queries                  stdjson.RawMessage `json:"queries,omitempty" as:"any"`
	Results                  stdjson.RawMessage `json:"results,omitempty" as:"any"`
	Result                   stdjson.RawMessage `json:"result,omitempty" as:"any"`
	Code                     stdjson.RawMessage `json:"code,omitempty" as:"any"`
	Operation                stdjson.RawMessage `json:"operation,omitempty" as:"any"`
	Status                   stdjson.RawMessage `json:"status,omitempty" as:"any"`
	Phase                    stdjson.RawMessage `json:"phase,omitempty" as:"any"`
	Caller                   stdjson.RawMessage `json:"caller,omitempty" as:"any"`
	Async                    stdjson.RawMessage `json:"async,omitempty" as:"any"`
	Namespace                stdjson.RawMessage `json:"namespace,omitempty" as:"any"`
	Error                    stdjson.RawMessage `json:"error,omitempty" as:"any"`
	Summary                  stdjson.RawMessage `json:"summary,omitempty" as:"any"`
	EncryptedContent         stdjson.RawMessage `json:"encrypted_content,omitempty" as:"any"`
	Tools                    stdjson.RawMessage `json:"tools,omitempty" as:"any"`
	Execution                stdjson.RawMessage `json:"execution,omitempty" as:"any"`
	Actions                  stdjson.RawMessage `json:"actions,omitempty" as:"any"`
	PendingSafetyChecks      stdjson.RawMessage `json:"pending_safety_checks,omitempty" as:"any"`
	AcknowledgedSafetyChecks stdjson.RawMessage `json:"acknowledged_safety_checks,omitempty" as:"any"`
	ContainerID              stdjson.RawMessage `json:"container_id,omitempty" as:"any"`
	Environment              stdjson.RawMessage `json:"environment,omitempty" as:"any"`
	MaxOutputLength          stdjson.RawMessage `json:"max_output_length,omitempty" as:"any"`
	Fingerprint              stdjson.RawMessage `json:"fingerprint,omitempty" as:"any"`
	Reasoning                stdjson.RawMessage `json:"reasoning,omitempty" as:"any"`
	Text                     stdjson.RawMessage `json:"text,omitempty" as:"any"`
	Background               stdjson.RawMessage `json:"background,omitempty" as:"any"`
	OutputFormat             stdjson.RawMessage `json:"output_format,omitempty" as:"any"`
	Quality                  stdjson.RawMessage `json:"quality,omitempty" as:"any"`
	RevisedPrompt            stdjson.RawMessage `json:"revised_prompt,omitempty" as:"any"`
	Size                     stdjson.RawMessage `json:"size,omitempty" as:"any"`
	SVGUsage                 stdjson.RawMessage `json:"svg_usage,omitempty" as:"any"`
	CreatedBy                stdjson.RawMessage `json:"created_by,omitempty" as:"any"`
}

// Variants implements openapi.Variants.
func (itemBody) Variants() map[string][]any {
	return map[string][]any{"content": {"", []partBody{}}}
}

type partBody struct {
	Type    string `json:"type" need:"true" enum:"input_text,output_text,text,summary_text,reasoning_text,refusal,input_image,computer_screenshot,input_file"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
	files.RawPart
}
