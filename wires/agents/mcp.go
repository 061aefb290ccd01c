package agents

import (
	stdjson "encoding/json"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/openapi"
)

// mcpBody describes a tool server that an agent is to use.
type mcpBody struct {
	Type            string   `json:"type" need:"true" enum:"mcp"`
	Label           string   `json:"server_label" need:"true" doc:"1 to 40 of A-Z a-z 0-9 _ -"`
	Transport       any      `json:"transport" need:"true"`
	AllowedTools    []string `json:"allowed_tools" doc:"all when missing"`
	Origin          string   `json:"connection_origin" enum:"service,environment" doc:"the agent's own process connects"`
	Credential      any      `json:"credential_id" as:"null"`
	RequestMetadata any      `json:"request_metadata" as:"null"`
	Required        bool     `json:"required" doc:"only false"`
}

// Variants implements openapi.Variants.
func (mcpBody) Variants() map[string][]any {
	return map[string][]any{"transport": {httpBody{}}}
}

// httpBody is a server's address. Servers that are started by a command come from the
// host's configuration only.
type httpBody struct {
	Type          string            `json:"type" need:"true" enum:"http"`
	URL           string            `json:"server_url" need:"true" doc:"http or https; its host must be allowed by agents.caller_mcp"`
	Headers       map[string]string `json:"headers" doc:"the values are never given back"`
	Authorization string            `json:"authorization" doc:"a token, sent as Authorization: Bearer"`
}

// Closed implements openapi.Closed.
func (mcpBody) Closed()  {}
func (httpBody) Closed() {}

var (
	mcpFields  = openapi.Names(mcpBody{})
	httpFields = openapi.Names(httpBody{})
	origins    = openapi.Words(mcpBody{}, "connection_origin")
)

// mcpTool is a tool server as objects show it: an agent's with the names of headers,
// a session's without, and no value.
type mcpTool struct {
	AllowedTools    []string      `json:"allowed_tools"`
	Origin          string        `json:"connection_origin" enum:"service,environment"`
	Credential      *string       `json:"credential_id"`
	RequestMetadata struct{}      `json:"request_metadata"`
	Required        bool          `json:"required"`
	Label           string        `json:"server_label"`
	Transport       httpTransport `json:"transport"`
	Type            string        `json:"type" enum:"mcp"`
}

type httpTransport struct {
	Headers *map[string]string `json:"headers,omitempty"`
	URL     string             `json:"server_url"`
	Type    string             `json:"type" enum:"http"`
}

// readServer reads a tool of type mcp, and says how it is shown.
func (s *tools) readServer(t *fields) mcpTool {
	if t.has("server_url") {
		t.fail(event.InvalidRequest, "server_url", t.path("server_url")+` belongs into the transport: "transport": {"type": "http", "server_url": ...}`)
	}
	t.only(mcpFields...)
	shown := mcpTool{Type: "mcp", Origin: "environment"}
	set(&shown.Label, read[string](t, "server_label"))
	switch {
	case spec.ValidServerName(shown.Label) != nil:
		t.invalid("server_label", "must match [A-Za-z0-9_-]{1,40} and not be %s", spec.HostServer)
	case s.places[shown.Label] != "":
		t.invalid("server_label", "is that of %s; every server needs one of its own", s.places[shown.Label])
	}
	if t.given("credential_id") {
		t.fail(event.Unsupported, "credential_id", "this host has no vaults; send the headers themselves")
	}
	if m := read[map[string]any](t, "request_metadata"); m != nil && len(*m) > 0 {
		t.fail(event.Unsupported, "request_metadata", "this host cannot add metadata to the calls of an MCP server; leave request_metadata out")
	}
	if required := read[bool](t, "required"); required != nil && *required {
		t.fail(event.Unsupported, "required", "this host cannot promise that an MCP server is there before the agent starts; leave required out")
	}
	if origin := t.word("connection_origin", origins...); origin != nil && *origin != "" {
		shown.Origin = *origin
	}
	m := spec.MCPServer{Caller: true}
	if t.given("allowed_tools") {
		m.Allowed = []string{}
		set(&m.Allowed, read[[]string](t, "allowed_tools"))
		shown.AllowedTools = m.Allowed
		if err := spec.ValidToolNames(t.path("allowed_tools"), m.Allowed); err != nil && *t.err == nil {
			*t.err = err
		}
	}
	headers := readTransport(t, &m)
	shown.Transport = httpTransport{Headers: &headers, URL: m.URL, Type: "http"}
	s.servers[shown.Label], s.places[shown.Label] = m, t.at
	return shown
}

// readTransport reads where a server is, and returns its headers as they are shown.
func readTransport(t *fields, m *spec.MCPServer) map[string]string {
	shown := map[string]string{}
	o := t.object("transport")
	if o == nil {
		t.invalid("transport", "is required")
		return shown
	}
	kind := o.word("type", "http", "stdio")
	switch {
	case kind == nil || *kind == "":
		o.invalid("type", "must be http")
		return shown
	case *kind == "stdio":
		o.fail(event.Unsupported, "type", "an MCP server that is started by a command comes from the host's configuration only; give one with an http transport")
		return shown
	}
	o.only(httpFields...)
	set(&m.URL, read[string](o, "server_url"))
	check := func(err error) {
		if err != nil && *o.err == nil {
			*o.err = err
		}
	}
	check(spec.ValidServerURL(o.path("server_url"), m.URL))
	headers := map[string]string{}
	set(&headers, read[map[string]string](o, "headers"))
	if len(headers) > spec.MaxHeaders {
		o.invalid("headers", "has %d entries; at most %d are allowed", len(headers), spec.MaxHeaders)
	}
	seen := map[string]bool{}
	for name, value := range headers {
		check(spec.ValidHeader(o.path("headers"), name, value))
		lower := strings.ToLower(name)
		if seen[lower] {
			o.invalid("headers", "names %s twice", clip(lower))
		}
		seen[lower] = true
		m.SetHeader(name, value)
		shown[name] = spec.Masked
	}
	if token := read[string](o, "authorization"); token != nil && o.given("authorization") {
		if seen["authorization"] {
			o.invalid("authorization", "stands beside a header Authorization; give one of both")
		}
		check(spec.ValidHeader(o.path("authorization"), "Authorization", *token))
		m.SetHeader("Authorization", spec.Bearer(*token))
	}
	return shown
}

// sessionTools are an agent's tools as a session shows them.
func sessionTools(raw stdjson.RawMessage) stdjson.RawMessage {
	var shown []stdjson.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &shown) != nil {
		return list(raw)
	}
	for i, one := range shown {
		var t mcpTool
		if json.Unmarshal(one, &t) != nil || t.Type != "mcp" {
			continue
		}
		t.Transport.Headers = nil
		if b, err := json.Marshal(&t); err == nil {
			shown[i] = b
		}
	}
	b, err := json.Marshal(shown)
	if err != nil {
		return list(raw)
	}
	return oneLine(b, "[]")
}
