package agents

import "github.com/agenthost/agenthost/wires/openapi"

// The types below describe bodies that are read field by field. Their fields are
// the closed sets that readers refuse others by, so what is documented is what is
// taken.

// agentBody describes a saved agent.
type agentBody struct {
	inlineAgentBody
	Name     string            `json:"name" doc:"makes the agent a model of the Responses wire"`
	Metadata map[string]string `json:"metadata" doc:"agenthost.llm_base_url: the provider of its turns, if the policy lets its caller name that host (scope.llm_hosts)"`
}

// newAgentBody describes an agent that is to be saved.
type newAgentBody struct {
	Model string `json:"model" need:"true" doc:"a model, a saved agent or a coding agent"`
	agentBody
}

// inlineAgentBody describes the agent of a new session. Adapter and Runtime are
// names that existing deployments send.
type inlineAgentBody struct {
	Model        string           `json:"model" doc:"a model, a saved agent or a coding agent"`
	Instructions string           `json:"instructions"`
	MultiAgent   multiAgentBody   `json:"multi_agent"`
	Reasoning    reasoningBody    `json:"reasoning"`
	ServiceTier  string           `json:"service_tier" enum:"auto,default,flex,priority,fast,ultrafast"`
	Text         textBody         `json:"text"`
	Tools        []any            `json:"tools" doc:"beside those that a coding agent brings"`
	Compaction   compactionBody   `json:"compaction"`
	Experimental experimentalBody `json:"experimental"`
	Adapter      string           `json:"adapter"`
	Runtime      string           `json:"runtime"`
}

// updatedAgentBody is what can be changed of a session's agent. Instructions are not
// in the SDKs' type; this host changes them as well.
type updatedAgentBody struct {
	Model        string        `json:"model"`
	Instructions string        `json:"instructions"`
	Reasoning    reasoningBody `json:"reasoning"`
	ServiceTier  string        `json:"service_tier" enum:"auto,default,flex,priority,fast,ultrafast"`
	Tools        []any         `json:"tools"`
}

// callerTools are the values of a tool.
func callerTools() map[string][]any { return map[string][]any{"tools": {functionBody{}, mcpBody{}}} }

// Variants implements openapi.Variants.
func (inlineAgentBody) Variants() map[string][]any { return callerTools() }

// Variants implements openapi.Variants.
func (updatedAgentBody) Variants() map[string][]any { return callerTools() }

type multiAgentBody struct {
	Enabled bool `json:"enabled" need:"true" doc:"neither true nor false: as the coding agent does by itself"`
	Max     int  `json:"max_concurrent_subagents" min:"1"`
}

type reasoningBody struct {
	Effort  string `json:"effort" enum:"none,minimal,low,medium,high,xhigh,max"`
	Summary string `json:"summary" enum:"concise,detailed,auto"`
}

type textBody struct {
	Format    any    `json:"format"`
	Verbosity string `json:"verbosity" enum:"low,medium,high"`
}

// Variants implements openapi.Variants.
func (textBody) Variants() map[string][]any {
	return map[string][]any{"format": {plainFormatBody{}, schemaFormatBody{}}}
}

type plainFormatBody struct {
	Type string `json:"type" need:"true" enum:"text"`
}

// schemaFormatBody: Strict and Description are taken and mean nothing here.
type schemaFormatBody struct {
	Type        string         `json:"type" need:"true" enum:"json_schema"`
	Schema      map[string]any `json:"schema" need:"true" as:"object"`
	Name        string         `json:"name"`
	Strict      any            `json:"strict" as:"any"`
	Description any            `json:"description" as:"any"`
}

type compactionBody struct {
	Async bool `json:"async" doc:"only false"`
}

type experimentalBody struct {
	TimeAwareness bool `json:"time_awareness" doc:"only false"`
}

// Closed implements openapi.Closed.
func (agentBody) Closed()        {}
func (inlineAgentBody) Closed()  {}
func (updatedAgentBody) Closed() {}
func (multiAgentBody) Closed()   {}
func (reasoningBody) Closed()    {}
func (textBody) Closed()         {}
func (plainFormatBody) Closed()  {}
func (schemaFormatBody) Closed() {}
func (compactionBody) Closed()   {}
func (experimentalBody) Closed() {}

var (
	agentFields        = openapi.Names(agentBody{})
	inlineAgentFields  = openapi.Names(inlineAgentBody{})
	updatedAgentFields = openapi.Names(updatedAgentBody{})
	multiAgentFields   = openapi.Names(multiAgentBody{})
	reasoningFields    = openapi.Names(reasoningBody{})
	textFields         = openapi.Names(textBody{})
	plainFormatFields  = openapi.Names(plainFormatBody{})
	schemaFormatFields = openapi.Names(schemaFormatBody{})

	efforts     = openapi.Words(reasoningBody{}, "effort")
	summaries   = openapi.Words(reasoningBody{}, "summary")
	verbosities = openapi.Words(textBody{}, "verbosity")
)
