package agents

import (
	stdjson "encoding/json"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/openapi"
)

var serviceTiers = openapi.Words(agentBody{}, "service_tier")

// definition is what a caller says about an agent. nil fields were not given; null
// ones are given as their zero value.
type definition struct {
	model, name, instructions, tier *string
	metadata                        *map[string]string
	multi                           *spec.MultiAgent
	reasoning                       *spec.Reasoning
	text                            *spec.TextFormat
	tools                           *tools
	adapter                         string
}

// readDefinition reads the fields that f may have; the caller has refused others.
func readDefinition(f *fields) definition {
	d := definition{
		model: read[string](f, "model"), name: read[string](f, "name"), instructions: read[string](f, "instructions"),
		tier: f.word("service_tier", serviceTiers...), metadata: f.metadata("metadata"), tools: readTools(f),
	}
	if d.model != nil && *d.model == "" {
		f.invalid("model", "must not be empty")
	}
	if d.name != nil && *f.err == nil {
		*f.err = spec.ValidAgentName(*d.name)
	}
	for _, name := range []string{"adapter", "runtime"} {
		if s := read[string](f, name); s != nil && d.adapter == "" {
			d.adapter = *s
		}
	}
	if f.has("multi_agent") {
		d.multi = readMultiAgent(f)
	}
	if f.has("reasoning") {
		d.reasoning = readReasoning(f)
	}
	if f.has("text") {
		d.text = readText(f)
	}
	refuseOn(f, "compaction", "async")
	refuseOn(f, "experimental", "time_awareness")
	return d
}

// apply changes a by what was given, the model and the adapter excepted.
func (d *definition) apply(a *spec.Agent) error {
	set(&a.Name, d.name)
	set(&a.Instructions, d.instructions)
	set(&a.ServiceTier, d.tier)
	set(&a.Metadata, d.metadata)
	set(&a.MultiAgent, d.multi)
	set(&a.Reasoning, d.reasoning)
	set(&a.Text, d.text)
	if d.tools == nil {
		return nil
	}
	if err := a.Taken(d.tools.servers); err != nil {
		return d.named(err)
	}
	a.Tools, a.Functions, a.MCP = d.tools.list, d.tools.functions, a.WithMCP(d.tools.servers)
	return nil
}

// named gives a failure of the engine the place in the request that it is about.
func (d *definition) named(err error) error {
	if d.tools == nil {
		return err
	}
	return call.ToolFault(err, d.tools.places, "transport.server_url")
}

func set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}

// maxSubagents is how many subagents work at once when the caller only enables them.
const maxSubagents = 6

// readMultiAgent reads the wish for subagents. Whether the agent's CLI has any is
// the host's to say.
func readMultiAgent(f *fields) *spec.MultiAgent {
	m := new(spec.MultiAgent)
	o := f.object("multi_agent")
	if o == nil {
		return m
	}
	o.only(multiAgentFields...)
	enabled := read[bool](o, "enabled")
	if enabled == nil || !o.given("enabled") {
		o.invalid("enabled", "must be true or false")
		return m
	}
	most := maxSubagents
	if o.given("max_concurrent_subagents") {
		if n := read[int](o, "max_concurrent_subagents"); n != nil {
			if most = *n; most < 1 {
				o.invalid("max_concurrent_subagents", "must be at least 1")
			}
		}
	}
	if m.Enabled, m.Disabled = *enabled, !*enabled; m.Enabled {
		m.Max = &most
	}
	return m
}

func readReasoning(f *fields) *spec.Reasoning {
	r := new(spec.Reasoning)
	o := f.object("reasoning")
	if o == nil {
		return r
	}
	o.only(reasoningFields...)
	set(&r.Effort, o.word("effort", efforts...))
	set(&r.Summary, o.word("summary", summaries...))
	return r
}

func readText(f *fields) *spec.TextFormat {
	t := new(spec.TextFormat)
	o := f.object("text")
	if o == nil {
		return t
	}
	o.only(textFields...)
	set(&t.Verbosity, o.word("verbosity", verbosities...))
	format := o.object("format")
	if format == nil {
		return t
	}
	kind := format.word("type", "text", "json_schema")
	if kind == nil || *kind == "" {
		format.invalid("type", "must be one of text, json_schema")
		return t
	}
	if *kind == "text" {
		format.only(plainFormatFields...)
		return t
	}
	format.only(schemaFormatFields...)
	schema := read[map[string]stdjson.RawMessage](format, "schema")
	if schema == nil || !format.given("schema") {
		format.invalid("schema", "must be a JSON schema")
		return t
	}
	t.Type, t.Schema = *kind, oneLine(format.m["schema"], "{}")
	set(&t.Name, read[string](format, "name"))
	return t
}

// refuseOn takes an object whose switch is off, and refuses one that is on.
func refuseOn(f *fields, name, field string) {
	o := f.object(name)
	if o == nil {
		return
	}
	o.only(field)
	if on := read[bool](o, field); on != nil && *on {
		o.fail(event.Unsupported, field, o.path(field)+" cannot be switched on: the coding agent decides that itself")
	}
}

// pinned is the adapter that the request's address or header names, else the
// body's.
func pinned(c *call.Call, body string) string {
	if a := c.Param("adapter"); a != "" {
		return a
	}
	return or(c.Header("X-ABX-Adapter"), body)
}

// resolve finds who takes a model; param is the field that named it. On this
// wire a name that nobody takes is a fault of the body.
func (w *Wire) resolve(c *call.Call, param, model, pin string) (*spec.Agent, error) {
	a, err := w.engine.ResolveModel(c.Context(), c.Principal, model, pin)
	if err == nil {
		copied := *a
		return &copied, nil
	}
	f, ok := event.AsFailure(err)
	if !ok {
		return nil, err
	}
	named := *f
	if named.Code == event.ModelNotFound {
		named.Code = event.AdapterRequired
	}
	named.Param = param
	return nil, &named
}
