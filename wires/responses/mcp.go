package responses

import (
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/openapi"
)

// servers are the MCP servers that a request gives the agent for its one turn.
type servers struct {
	byLabel map[string]spec.MCPServer
	places  map[string]string // in the request, by label
}

// mcpBody describes a tool server that the agent is to use for this response.
type mcpBody struct {
	Type            string            `json:"type" need:"true" enum:"mcp"`
	Label           string            `json:"server_label" need:"true" doc:"1 to 40 of A-Z a-z 0-9 _ -"`
	URL             string            `json:"server_url" need:"true" doc:"http or https; its host must be allowed by agents.caller_mcp"`
	Description     string            `json:"server_description" doc:"ignored"`
	Headers         map[string]string `json:"headers" doc:"the values are never given back"`
	Authorization   string            `json:"authorization" doc:"a token, sent as Authorization: Bearer"`
	AllowedTools    any               `json:"allowed_tools"`
	RequireApproval any               `json:"require_approval" doc:"never when missing"`
	DeferLoading    bool              `json:"defer_loading" doc:"ignored"`
	AllowedCallers  []string          `json:"allowed_callers" enum:"direct"`
	Connector       any               `json:"connector_id" as:"null"`
	Tunnel          any               `json:"tunnel_id" as:"null"`
}

// Variants implements openapi.Variants.
func (mcpBody) Variants() map[string][]any {
	return map[string][]any{
		"allowed_tools":    {[]string{}, toolFilter{}},
		"require_approval": {openapi.Word("always"), openapi.Word("never"), approvalFilter{}},
	}
}

// toolFilter picks tools by name. The host does not ask the server which of its tools
// only read, so that filter is refused.
type toolFilter struct {
	Names    []string `json:"tool_names,omitempty"`
	ReadOnly any      `json:"read_only,omitempty" as:"null"`
}

type approvalFilter struct {
	Always *toolFilter `json:"always,omitempty"`
	Never  *toolFilter `json:"never,omitempty"`
}

// Closed implements openapi.Closed.
func (mcpBody) Closed()        {}
func (toolFilter) Closed()     {}
func (approvalFilter) Closed() {}

var (
	mcpFields      = openapi.Names(mcpBody{})
	filterFields   = openapi.Names(toolFilter{})
	approvalFields = openapi.Names(approvalFilter{})
)

// mcpTool is a tool server as a response object shows it: names of headers, and no
// value.
type mcpTool struct {
	Type            string             `json:"type" enum:"mcp"`
	Label           string             `json:"server_label"`
	URL             string             `json:"server_url"`
	Description     string             `json:"server_description,omitempty"`
	Headers         map[string]string  `json:"headers,omitempty"`
	AllowedTools    stdjson.RawMessage `json:"allowed_tools"`
	RequireApproval stdjson.RawMessage `json:"require_approval"`
}

// Variants implements openapi.Variants.
func (mcpTool) Variants() map[string][]any {
	v := mcpBody{}.Variants()
	v["allowed_tools"] = append(v["allowed_tools"], nil)
	return v
}

// readServer reads a tool of type mcp into the request and says how it is shown.
func (r *request) readServer(place string, raw []byte) (mcpTool, error) {
	bad := func(field, message string) (mcpTool, error) {
		return mcpTool{}, event.FailParam(event.InvalidRequest, place+"."+field, place+"."+field+" "+message)
	}
	refused := func(field, message string) (mcpTool, error) {
		return mcpTool{}, event.FailParam(event.Unsupported, place+"."+field, message)
	}
	var t mcpBody
	if err := closed(place, raw, mcpFields, &t); err != nil {
		return mcpTool{}, err
	}
	switch {
	case t.Connector != nil:
		return refused("connector_id", "this host has no connectors; give the server's own server_url")
	case t.Tunnel != nil:
		return refused("tunnel_id", "this host has no tunnels; give the server's own server_url")
	case spec.ValidServerName(t.Label) != nil:
		return bad("server_label", "must match [A-Za-z0-9_-]{1,40} and not be "+spec.HostServer)
	case r.servers.places[t.Label] != "":
		return bad("server_label", "is that of "+r.servers.places[t.Label]+"; every server needs one of its own")
	case slices.ContainsFunc(t.AllowedCallers, func(c string) bool { return c != "direct" }):
		return refused("allowed_callers", "the agent calls its tools directly; leave allowed_callers out")
	}
	if t.URL == "" {
		return bad("server_url", "is missing: the address of the MCP server")
	}
	if err := spec.ValidServerURL(place+".server_url", t.URL); err != nil {
		return mcpTool{}, err
	}
	s := spec.MCPServer{URL: t.URL, Caller: true}
	shown := mcpTool{Type: "mcp", Label: t.Label, URL: t.URL, Description: head(t.Description, maxWord)}
	if err := setHeaders(place, &t, &s, &shown); err != nil {
		return mcpTool{}, err
	}
	var fields map[string]stdjson.RawMessage
	if err := call.Unmarshal(place, raw, &fields); err != nil {
		return mcpTool{}, err
	}
	var err error
	if s.Allowed, err = readAllowed(place+".allowed_tools", fields["allowed_tools"]); err != nil {
		return mcpTool{}, err
	}
	if s.Approval, err = readRequired(place+".require_approval", fields["require_approval"]); err != nil {
		return mcpTool{}, err
	}
	shown.AllowedTools = rawOr(fields["allowed_tools"], "null")
	if shown.RequireApproval = rawOr(fields["require_approval"], `"never"`); isNull(shown.RequireApproval) {
		shown.RequireApproval = stdjson.RawMessage(`"never"`)
	}
	if t.Description != "" {
		r.ignored = append(r.ignored, "tools.server_description")
	}
	if t.DeferLoading {
		r.ignored = append(r.ignored, "tools.defer_loading")
	}
	if r.servers.byLabel == nil {
		r.servers = servers{map[string]spec.MCPServer{}, map[string]string{}}
	}
	r.servers.byLabel[t.Label], r.servers.places[t.Label] = s, place
	return shown, nil
}

// setHeaders moves a tool's headers and token to where their values are not stored.
func setHeaders(place string, t *mcpBody, s *spec.MCPServer, shown *mcpTool) error {
	if len(t.Headers) > spec.MaxHeaders {
		return event.FailParam(event.InvalidRequest, place+".headers", fmt.Sprintf("%s.headers has %d entries; at most %d are allowed", place, len(t.Headers), spec.MaxHeaders))
	}
	seen := map[string]bool{}
	for name, value := range t.Headers {
		if err := spec.ValidHeader(place+".headers", name, value); err != nil {
			return err
		}
		if lower := strings.ToLower(name); seen[lower] {
			return event.FailParam(event.InvalidRequest, place+".headers", place+".headers names "+lower+" twice")
		} else {
			seen[lower] = true
		}
		s.SetHeader(name, value)
		if shown.Headers == nil {
			shown.Headers = map[string]string{}
		}
		shown.Headers[name] = spec.Masked
	}
	if t.Authorization == "" {
		return nil
	}
	if seen["authorization"] {
		return event.FailParam(event.InvalidRequest, place+".authorization", place+": give authorization or a header Authorization, not both")
	}
	if err := spec.ValidHeader(place+".authorization", "Authorization", t.Authorization); err != nil {
		return err
	}
	s.SetHeader("Authorization", spec.Bearer(t.Authorization))
	return nil
}

// closed decodes an object that has no other fields than the known ones.
func closed(place string, raw []byte, known []string, to any) error {
	var fields map[string]stdjson.RawMessage
	if err := call.Unmarshal(place, raw, &fields); err != nil {
		return err
	}
	for name := range fields {
		if !slices.Contains(known, name) {
			if !plainWord.MatchString(name) {
				name = "a field"
			}
			return event.FailParam(event.InvalidRequest, place, place+" has "+name+", which is not known here; it can have "+strings.Join(known, ", "))
		}
	}
	return call.Unmarshal(place, raw, to)
}

// readAllowed reads a list of names or a filter; nil is every tool.
func readAllowed(place string, raw []byte) ([]string, error) {
	if len(raw) == 0 || isNull(raw) {
		return nil, nil
	}
	names := []string{}
	if raw[0] == '[' {
		if err := call.Unmarshal(place, raw, &names); err != nil {
			return nil, err
		}
		return names, spec.ValidToolNames(place, names)
	}
	return readFilter(place, raw)
}

func readFilter(place string, raw []byte) ([]string, error) {
	var f toolFilter
	if err := closed(place, raw, filterFields, &f); err != nil {
		return nil, err
	}
	if f.ReadOnly != nil {
		return nil, event.FailParam(event.Unsupported, place+".read_only", "this host does not know which tools only read; name the tools in tool_names")
	}
	if f.Names == nil {
		return nil, event.FailParam(event.InvalidRequest, place+".tool_names", place+".tool_names is required: a list of names")
	}
	return f.Names, spec.ValidToolNames(place+".tool_names", f.Names)
}

// readRequired reads require_approval. When it is missing no call asks: who runs the
// host has listed the server. A filter that names tools to be asked for leaves the
// others alone; one that names only those not to be asked for asks for the others.
func readRequired(place string, raw []byte) (a spec.Approval, err error) {
	if len(raw) == 0 || isNull(raw) {
		return a, nil
	}
	if raw[0] == '"' {
		var word string
		if err := call.Unmarshal(place, raw, &word); err != nil {
			return a, err
		}
		a.Rest = word == "always"
		return a, oneOf(place, &word, []string{"always", "never"})
	}
	var lists map[string]stdjson.RawMessage
	if err := closed(place, raw, approvalFields, &lists); err != nil {
		return a, err
	}
	for name, to := range map[string]*[]string{"always": &a.Always, "never": &a.Never} {
		if len(lists[name]) == 0 || isNull(lists[name]) {
			continue
		}
		if *to, err = readFilter(place+"."+name, lists[name]); err != nil {
			return a, err
		}
	}
	a.Rest = a.Always == nil
	return a, nil
}
