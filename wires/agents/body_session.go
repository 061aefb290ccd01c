package agents

import (
	"github.com/agenthost/agenthost/wires/files"
	"github.com/agenthost/agenthost/wires/openapi"
)

// sessionBody describes a session's creation, where other fields are left alone.
// Adapter, Runtime and Model are names that existing deployments send.
type sessionBody struct {
	Agent         inlineAgentBody `json:"agent" doc:"over the saved agent of agent_id, or alone"`
	AgentID       string          `json:"agent_id"`
	Environment   any             `json:"environment" doc:"self_hosted in a directory of the host when missing"`
	Input         any             `json:"input"`
	Stream        bool            `json:"stream" doc:"answer with events until the first idle"`
	StreamOptions any             `json:"stream_options" as:"any"`
	VaultIDs      []string        `json:"vault_ids" maxitems:"0"`
	Adapter       string          `json:"adapter"`
	Runtime       string          `json:"runtime"`
	Model         string          `json:"model"`
	settingsBody
}

// settingsBody are the fields that creation and update of a session share.
type settingsBody struct {
	Metadata           map[string]string `json:"metadata" doc:"agenthost.llm_base_url: the provider of its turns, if the policy lets its caller name that host (scope.llm_hosts)"`
	PromptCacheOptions cacheBody         `json:"prompt_cache_options"`
	Review             string            `json:"review" enum:"none,auto_review" doc:"only none"`
	SpendControl       spendBody         `json:"spend_control"`
}

// updateBody describes the update of a session.
type updateBody struct {
	Agent updatedAgentBody `json:"agent"`
	settingsBody
}

type cacheBody struct {
	TTL string `json:"ttl" enum:"30m,12h"`
}

type spendBody struct {
	Limit *int64 `json:"limit" doc:"US cents; null is no limit"`
}

// Variants implements openapi.Variants.
func (sessionBody) Variants() map[string][]any {
	return map[string][]any{
		"environment": {noneBody{}, selfHostedBody{}, hostedBody{}},
		"input":       inputs(),
	}
}

type noneBody struct {
	Type string `json:"type" need:"true" enum:"none"`
}

type selfHostedBody struct {
	Type         string   `json:"type" need:"true" enum:"self_hosted"`
	Workspace    string   `json:"workspace_directory" doc:"an absolute path"`
	Capabilities []string `json:"capability_directories" maxitems:"0"`
}

type hostedBody struct {
	Type string `json:"type" need:"true" enum:"openai_hosted"`
}

// inputs are the forms of an input: a text, or messages that make one turn.
func inputs() []any { return []any{"", []messageBody{}} }

type messageBody struct {
	Type    string `json:"type" enum:"message"`
	Role    string `json:"role" need:"true" enum:"user"`
	Content any    `json:"content" need:"true"`
}

// Variants implements openapi.Variants.
func (messageBody) Variants() map[string][]any {
	return map[string][]any{"content": {"", []partBody{}}}
}

type partBody struct {
	Type string `json:"type" need:"true" enum:"input_text,input_image,input_file"`
	Text string `json:"text" doc:"of an input_text"`
	files.RawPart
}

// eventsBody describes POST events: one of the first two fields.
type eventsBody struct {
	Events   []any             `json:"events"`
	Input    any               `json:"input" doc:"short for one message event"`
	Metadata map[string]string `json:"metadata" doc:"agenthost.on_busy: what becomes of a message that comes while a turn runs: queue, steer or reject"`
}

// Variants implements openapi.Variants.
func (eventsBody) Variants() map[string][]any {
	return map[string][]any{"events": {messageEventBody{}, cancelEventBody{}, toolResultBody{}, approvalBody{}}, "input": inputs()}
}

// messageEventBody is an event with an input; the second type is what existing
// deployments send.
type messageEventBody struct {
	Type  string `json:"type" need:"true" enum:"agent.session.input.message,input.message"`
	Input any    `json:"input" need:"true"`
}

// Variants implements openapi.Variants.
func (messageEventBody) Variants() map[string][]any {
	return map[string][]any{"input": inputs()}
}

type cancelEventBody struct {
	Type string `json:"type" need:"true" enum:"agent.session.input.cancel,input.cancel"`
}

// Closed implements openapi.Closed.
func (updateBody) Closed()     {}
func (cacheBody) Closed()      {}
func (spendBody) Closed()      {}
func (noneBody) Closed()       {}
func (selfHostedBody) Closed() {}
func (hostedBody) Closed()     {}
func (eventsBody) Closed()     {}

var (
	sessionFields    = openapi.Names(sessionBody{})
	updateFields     = openapi.Names(updateBody{})
	cacheFields      = openapi.Names(cacheBody{})
	spendFields      = openapi.Names(spendBody{})
	noneFields       = openapi.Names(noneBody{})
	selfHostedFields = openapi.Names(selfHostedBody{})
	hostedFields     = openapi.Names(hostedBody{})
	eventsFields     = openapi.Names(eventsBody{})

	cacheTimes = openapi.Words(cacheBody{}, "ttl")
	partTypes  = openapi.Words(partBody{}, "type")
	reviews    = openapi.Words(settingsBody{}, "review")
)
