package agents

import (
	"bytes"
	stdjson "encoding/json"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

type agentObject struct {
	ID           string             `json:"id"`
	CreatedAt    int64              `json:"created_at"`
	Instructions *string            `json:"instructions"`
	Metadata     map[string]string  `json:"metadata"`
	Model        string             `json:"model"`
	MultiAgent   multiAgentObject   `json:"multi_agent"`
	Name         *string            `json:"name"`
	Object       string             `json:"object" enum:"agent"`
	Reasoning    reasoningObject    `json:"reasoning"`
	ServiceTier  string             `json:"service_tier" enum:"auto,default,flex,priority,fast,ultrafast"`
	Text         textObject         `json:"text"`
	Tools        stdjson.RawMessage `json:"tools" as:"array"`
	UpdatedAt    int64              `json:"updated_at"`
	switchedOff
}

// switchedOff are settings that a coding agent decides itself: a caller cannot switch
// them on.
type switchedOff struct {
	Compaction   compactionObject   `json:"compaction"`
	Experimental experimentalObject `json:"experimental"`
}

type compactionObject struct {
	Async bool `json:"async"`
}

type experimentalObject struct {
	TimeAwareness bool `json:"time_awareness"`
}

// sessionAgentObject is the copy of an agent that a session runs with.
type sessionAgentObject struct {
	ID           string             `json:"id"`
	Instructions *string            `json:"instructions"`
	Model        string             `json:"model"`
	MultiAgent   multiAgentObject   `json:"multi_agent"`
	Name         *string            `json:"name"`
	Reasoning    reasoningObject    `json:"reasoning"`
	ServiceTier  string             `json:"service_tier" enum:"auto,default,flex,priority,fast,ultrafast"`
	Text         textObject         `json:"text"`
	Tools        stdjson.RawMessage `json:"tools" as:"array"`
	switchedOff
}

type multiAgentObject struct {
	Enabled bool `json:"enabled"`
	Max     *int `json:"max_concurrent_subagents"`
}

type reasoningObject struct {
	Effort  *string `json:"effort" enum:"none,minimal,low,medium,high,xhigh,max"`
	Summary *string `json:"summary" enum:"concise,detailed,auto"`
}

type textObject struct {
	Format    any    `json:"format"`
	Verbosity string `json:"verbosity" enum:"low,medium,high"`
}

// Variants implements openapi.Variants.
func (textObject) Variants() map[string][]any {
	return map[string][]any{"format": {plainFormat{}, schemaFormat{}}}
}

type plainFormat struct {
	Type string `json:"type" enum:"text"`
}

type schemaFormat struct {
	Schema stdjson.RawMessage `json:"schema" as:"object"`
	Type   string             `json:"type" enum:"json_schema"`
}

func newAgentObject(a *spec.Agent) *agentObject {
	return &agentObject{
		ID: a.ID.With(event.PrefixAgent), CreatedAt: a.Created, Instructions: nullable(a.Instructions),
		Metadata: filled(a.Metadata), Model: modelName(a), MultiAgent: multiAgent(a.MultiAgent), Name: nullable(a.Name),
		Object: "agent", Reasoning: reasoning(a.Reasoning), ServiceTier: or(a.ServiceTier, "auto"), Text: text(a.Text),
		Tools: list(a.Tools), UpdatedAt: max(a.Updated, a.Created),
	}
}

func newSessionAgentObject(a *spec.Agent) sessionAgentObject {
	return sessionAgentObject{
		ID: a.ID.With(event.PrefixAgent), Instructions: nullable(a.Instructions), Model: modelName(a),
		MultiAgent: multiAgent(a.MultiAgent), Name: nullable(a.Name), Reasoning: reasoning(a.Reasoning),
		ServiceTier: or(a.ServiceTier, "auto"), Text: text(a.Text), Tools: sessionTools(a.Tools),
	}
}

// modelName is the model as the caller named it; an agent of the configuration
// may name only its adapter.
func modelName(a *spec.Agent) string { return or(a.Model, a.Adapter) }

func multiAgent(m spec.MultiAgent) multiAgentObject {
	return multiAgentObject{Enabled: m.Enabled, Max: m.Max}
}

func reasoning(r spec.Reasoning) reasoningObject {
	return reasoningObject{Effort: nullable(r.Effort), Summary: nullable(r.Summary)}
}

func text(t spec.TextFormat) textObject {
	o := textObject{Format: plainFormat{Type: "text"}, Verbosity: or(t.Verbosity, "medium")}
	if t.Type == "json_schema" {
		o.Format = schemaFormat{Schema: oneLine(t.Schema, "{}"), Type: t.Type}
	}
	return o
}

func list(raw stdjson.RawMessage) stdjson.RawMessage { return oneLine(raw, "[]") }

// oneLine is raw without line breaks, which would end a data line; what is no
// JSON becomes other.
func oneLine(raw []byte, other string) stdjson.RawMessage {
	if len(raw) == 0 {
		return stdjson.RawMessage(other)
	}
	var b bytes.Buffer
	if stdjson.Compact(&b, raw) != nil {
		return stdjson.RawMessage(other)
	}
	return b.Bytes()
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func filled(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
