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
	Metadata           map[string]string `json:"metadata" doc:"agenthost.llm_base_url: the provider of this turn, if the policy lets its caller name that host (scope.llm_hosts)"`
	Instructions       string            `json:"instructions"`
	Reasoning          reasoningBody     `json:"reasoning"`
	Text               textBody          `json:"text"`
	Tools              []any             `json:"tools" doc:"besides those that a coding agent brings itself, for this response"`
	ToolChoice         any               `json:"tool_choice" doc:"ignored unless auto or none"`
	Prompt             any               `json:"prompt" as:"null"`
	Include            []string          `json:"include" doc:"ignored"`
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
	CacheOptions       any               `json:"prompt_cache_options" as:"any" doc:"ignored"`
	AccessPrograms     any               `json:"access_programs" as:"any" doc:"ignored"`
	BackgroundOptions  any               `json:"background_options" as:"any" doc:"ignored"`
	ContextManagement  any               `json:"context_management" as:"any" doc:"ignored"`
	Image              any               `json:"image" as:"any" doc:"ignored"`
	Moderation         any               `json:"moderation" as:"any" doc:"ignored"`
}

// Variants implements openapi.Variants.
func (createBody) Variants() map[string][]any {
	return map[string][]any{
		"input":        {"", []itemBody{}},
		"conversation": {"", conversationBody{}},
		"tool_choice":  {"", toolChoice{}},
		"tools":        {toolBody{}, mcpBody{}},
	}
}

type conversationBody struct {
	ID string `json:"id" need:"true"`
}

type reasoningBody struct {
	Effort  *string `json:"effort" enum:"none,minimal,low,medium,high,xhigh,max"`
	Summary *string `json:"summary" enum:"auto,concise,detailed"`
	Old     *string `json:"generate_summary" enum:"auto,concise,detailed"`
	Context *string `json:"context" doc:"ignored"`
	Mode    *string `json:"mode" doc:"ignored"`
}

type textBody struct {
	Format    stdjson.RawMessage `json:"format"`
	Verbosity *string            `json:"verbosity" enum:"low,medium,high"`
}

// Variants implements openapi.Variants.
func (textBody) Variants() map[string][]any { return map[string][]any{"format": {formatBody{}}} }

type formatBody struct {
	Type        string             `json:"type" need:"true" enum:"text,json_schema"`
	Name        string             `json:"name"`
	Description *string            `json:"description" doc:"given back; a coding agent is told the schema alone"`
	Strict      *bool              `json:"strict" doc:"given back; whether the schema binds is up to the coding agent"`
	Schema      stdjson.RawMessage `json:"schema" as:"object"`
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
	Name                     string             `json:"name"`
	ServerLabel              string             `json:"server_label"`
	Arguments                stdjson.RawMessage `json:"arguments" as:"any"`
	Input                    stdjson.RawMessage `json:"input" as:"any"`
	Output                   stdjson.RawMessage `json:"output" as:"any"`
	Outputs                  stdjson.RawMessage `json:"outputs" as:"any"`
	Action                   stdjson.RawMessage `json:"action" as:"any"`
	Queries                  stdjson.RawMessage `json:"queries" as:"any"`
	Results                  stdjson.RawMessage `json:"results" as:"any"`
	Result                   stdjson.RawMessage `json:"result" as:"any"`
	Code                     stdjson.RawMessage `json:"code" as:"any"`
	Operation                stdjson.RawMessage `json:"operation" as:"any"`
	Status                   stdjson.RawMessage `json:"status" as:"any"`
	Phase                    stdjson.RawMessage `json:"phase" as:"any"`
	Caller                   stdjson.RawMessage `json:"caller" as:"any"`
	Async                    stdjson.RawMessage `json:"async" as:"any"`
	Namespace                stdjson.RawMessage `json:"namespace" as:"any"`
	Error                    stdjson.RawMessage `json:"error" as:"any"`
	Summary                  stdjson.RawMessage `json:"summary" as:"any"`
	EncryptedContent         stdjson.RawMessage `json:"encrypted_content" as:"any"`
	Tools                    stdjson.RawMessage `json:"tools" as:"any"`
	Execution                stdjson.RawMessage `json:"execution" as:"any"`
	Actions                  stdjson.RawMessage `json:"actions" as:"any"`
	PendingSafetyChecks      stdjson.RawMessage `json:"pending_safety_checks" as:"any"`
	AcknowledgedSafetyChecks stdjson.RawMessage `json:"acknowledged_safety_checks" as:"any"`
	ContainerID              stdjson.RawMessage `json:"container_id" as:"any"`
	Environment              stdjson.RawMessage `json:"environment" as:"any"`
	MaxOutputLength          stdjson.RawMessage `json:"max_output_length" as:"any"`
	Fingerprint              stdjson.RawMessage `json:"fingerprint" as:"any"`
	Reasoning                stdjson.RawMessage `json:"reasoning" as:"any"`
	Text                     stdjson.RawMessage `json:"text" as:"any"`
	Background               stdjson.RawMessage `json:"background" as:"any"`
	OutputFormat             stdjson.RawMessage `json:"output_format" as:"any"`
	Quality                  stdjson.RawMessage `json:"quality" as:"any"`
	RevisedPrompt            stdjson.RawMessage `json:"revised_prompt" as:"any"`
	Size                     stdjson.RawMessage `json:"size" as:"any"`
	SVGUsage                 stdjson.RawMessage `json:"svg_usage" as:"any"`
	CreatedBy                stdjson.RawMessage `json:"created_by" as:"any"`
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
	Annotations stdjson.RawMessage `json:"annotations" as:"any"`
	Logprobs    stdjson.RawMessage `json:"logprobs" as:"any"`
	Detail      stdjson.RawMessage `json:"detail" as:"any"`
	Breakpoint  stdjson.RawMessage `json:"prompt_cache_breakpoint" as:"any"`
}
