package responses

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/openapi"
)

// request is a decoded body of POST /responses.
type request struct {
	echo         echo
	stream       bool
	background   bool
	forget       bool
	previous     string
	conversation string
	reasoning    *spec.Reasoning
	format       *spec.TextFormat
	functions    *[]spec.Function // nil when the request says nothing of tools
	servers      servers
	input        input
	ignored      []string
}

// field reads one parameter; raw is neither missing nor null.
type field struct {
	name string
	read func(r *request, name string, raw []byte) error
	// ignored says that the parameter is given back, if at all, and has no effect.
	ignored bool
}

// fields are the parameters of a create, in the order in which they are judged.
var fields = []field{
	{name: "model", read: func(r *request, name string, raw []byte) error {
		if err := call.Unmarshal(name, raw, &r.echo.Model); err != nil {
			return err
		}
		if len(r.echo.Model) > 256 {
			return event.FailParam(event.InvalidRequest, name, "model is longer than 256 bytes")
		}
		return nil
	}},
	{name: "stream", read: func(r *request, name string, raw []byte) error { return call.Unmarshal(name, raw, &r.stream) }},
	{name: "background", read: func(r *request, name string, raw []byte) error { return call.Unmarshal(name, raw, &r.background) }},
	{name: "store", read: func(r *request, name string, raw []byte) error {
		store := true
		err := call.Unmarshal(name, raw, &store)
		r.forget = !store
		return err
	}},
	{name: "previous_response_id", read: func(r *request, name string, raw []byte) error { return call.Unmarshal(name, raw, &r.previous) }},
	{name: "conversation", read: readConversation},
	{name: "metadata", read: readMetadata},
	{name: "instructions", read: func(r *request, name string, raw []byte) error {
		return call.Unmarshal(name, raw, &r.input.instructions)
	}},
	{name: "reasoning", read: readReasoning},
	{name: "text", read: readText},
	{name: "tools", read: readTools},
	{name: "tool_choice", read: readToolChoice},
	{name: "prompt", read: func(_ *request, name string, _ []byte) error {
		return event.FailParam(event.Unsupported, name, "prompt templates are not supported; send the text as input")
	}},
	{name: "include", read: readInclude},
	{name: "stream_options", read: unread},
	{name: "temperature", ignored: true, read: into(func(r *request) any { return &r.echo.Temperature })},
	{name: "top_p", ignored: true, read: into(func(r *request) any { return &r.echo.TopP })},
	{name: "top_logprobs", ignored: true, read: into(func(r *request) any { return &r.echo.TopLogprobs })},
	{name: "max_output_tokens", ignored: true, read: into(func(r *request) any { return &r.echo.MaxOutputTokens })},
	{name: "max_tool_calls", ignored: true, read: into(func(r *request) any { return &r.echo.MaxToolCalls })},
	{name: "parallel_tool_calls", ignored: true, read: into(func(r *request) any { return &r.echo.ParallelToolCalls })},
	{name: "truncation", ignored: true, read: word(func(r *request) **string { return &r.echo.Truncation })},
	{name: "service_tier", ignored: true, read: word(func(r *request) **string { return &r.echo.ServiceTier })},
	{name: "user", ignored: true, read: word(func(r *request) **string { return &r.echo.User })},
	{name: "safety_identifier", ignored: true, read: word(func(r *request) **string { return &r.echo.SafetyIdentifier })},
	{name: "prompt_cache_key", ignored: true, read: word(func(r *request) **string { return &r.echo.PromptCacheKey })},
	{name: "prompt_cache_retention", ignored: true, read: word(func(r *request) **string { return &r.echo.CacheRetention })},
	{name: "prompt_cache_options", ignored: true, read: unread},
	{name: "access_programs", ignored: true, read: unread},
	{name: "background_options", ignored: true, read: unread},
	{name: "context_management", ignored: true, read: unread},
	{name: "image", ignored: true, read: unread},
	{name: "moderation", ignored: true, read: unread},
}

// unread takes a parameter of the hosted service that a coding agent has no
// counterpart for.
func unread(*request, string, []byte) error { return nil }

// decode reads and judges a body.
func decode(c *call.Call) (*request, error) {
	body, err := c.Object()
	if err != nil {
		return nil, err
	}
	r := &request{}
	for _, f := range fields {
		raw, ok := body[f.name]
		delete(body, f.name)
		if !ok || isNull(raw) {
			continue
		}
		if err := f.read(r, f.name, raw); err != nil {
			return nil, err
		}
		if f.ignored {
			r.ignored = append(r.ignored, f.name)
		}
	}
	raw := body["input"]
	delete(body, "input")
	if err := r.input.read(raw); err != nil {
		return nil, err
	}
	for name, raw := range body {
		if !isNull(raw) {
			r.ignored = append(r.ignored, name)
		}
	}
	return r, r.agree()
}

// agree judges parameters that exclude one another.
func (r *request) agree() error {
	if r.previous != "" && r.conversation != "" {
		return event.FailParam(event.InvalidRequest, "conversation", "give previous_response_id or conversation, not both")
	}
	if r.background && r.forget {
		return event.FailParam(event.InvalidRequest, "background", "a background response can only be read when it is stored; leave out store: false")
	}
	return nil
}

func isNull(raw []byte) bool { return string(raw) == "null" }

func into(where func(*request) any) func(*request, string, []byte) error {
	return func(r *request, name string, raw []byte) error { return call.Unmarshal(name, raw, where(r)) }
}

// maxWord bounds a string that is only given back.
const maxWord = 512

func word(where func(*request) **string) func(*request, string, []byte) error {
	return func(r *request, name string, raw []byte) error {
		var s string
		if err := call.Unmarshal(name, raw, &s); err != nil {
			return err
		}
		*where(r) = short(&s)
		return nil
	}
}

func short(s *string) *string {
	if s == nil {
		return nil
	}
	cut := head(*s, maxWord)
	return &cut
}

// included is what include may ask for that is always there.
const included = "message.input_image.image_url"

// readInclude ignores by name what is asked for and never comes.
func readInclude(r *request, name string, raw []byte) error {
	var include []string
	if err := call.Unmarshal(name, raw, &include); err != nil {
		return err
	}
	if slices.ContainsFunc(include, func(s string) bool { return s != included }) {
		r.ignored = append(r.ignored, name)
	}
	return nil
}

func readConversation(r *request, name string, raw []byte) error {
	if raw[0] == '"' {
		return call.Unmarshal(name, raw, &r.conversation)
	}
	var o conversationBody
	if err := call.Unmarshal(name, raw, &o); err != nil {
		return err
	}
	if o.ID == "" {
		return event.FailParam(event.InvalidRequest, name+".id", "conversation needs an id")
	}
	r.conversation = o.ID
	return nil
}

func readMetadata(r *request, name string, raw []byte) error {
	if err := call.Unmarshal(name, raw, &r.echo.Metadata); err != nil {
		return err
	}
	return spec.ValidMetadata(name, r.echo.Metadata)
}

var (
	efforts     = openapi.Words(reasoningBody{}, "effort")
	summaries   = openapi.Words(reasoningBody{}, "summary")
	verbosities = openapi.Words(textBody{}, "verbosity")
)

func oneOf(param string, v *string, allowed []string) error {
	if v == nil || slices.Contains(allowed, *v) {
		return nil
	}
	return event.FailParam(event.InvalidRequest, param, param+" must be one of "+strings.Join(allowed, ", "))
}

func readReasoning(r *request, name string, raw []byte) error {
	var in reasoningBody
	if err := call.Unmarshal(name, raw, &in); err != nil {
		return err
	}
	if in.Summary == nil {
		in.Summary = in.Old
	}
	if err := oneOf(name+".effort", in.Effort, efforts); err != nil {
		return err
	}
	if err := oneOf(name+".summary", in.Summary, summaries); err != nil {
		return err
	}
	r.echo.Effort, r.echo.Summary = in.Effort, in.Summary
	r.echo.Context, r.echo.Mode = short(in.Context), short(in.Mode)
	for what, given := range map[string]*string{".context": in.Context, ".mode": in.Mode} {
		if given != nil {
			r.ignored = append(r.ignored, name+what)
		}
	}
	if in.Effort != nil || in.Summary != nil {
		r.reasoning = &spec.Reasoning{Effort: value(in.Effort), Summary: value(in.Summary)}
	}
	return nil
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// maxSchema bounds text.format, which every response object repeats.
const maxSchema = 256 << 10

func readText(r *request, name string, raw []byte) error {
	var in textBody
	if err := call.Unmarshal(name, raw, &in); err != nil {
		return err
	}
	if err := oneOf(name+".verbosity", in.Verbosity, verbosities); err != nil {
		return err
	}
	r.echo.Verbosity = in.Verbosity
	want := spec.TextFormat{Verbosity: value(in.Verbosity)}
	if len(in.Format) > 0 && !isNull(in.Format) {
		param := name + ".format"
		var f formatBody
		if err := call.Unmarshal(param, in.Format, &f); err != nil {
			return err
		}
		switch f.Type {
		case "text":
		case "json_schema":
			if len(f.Schema) == 0 || f.Schema[0] != '{' {
				return event.FailParam(event.InvalidRequest, param+".schema", "a json_schema format needs a schema object")
			}
			if len(in.Format) > maxSchema {
				return event.FailParam(event.InvalidRequest, param+".schema", fmt.Sprintf("the schema is larger than %d bytes", maxSchema))
			}
			want.Type, want.Name, want.Schema = f.Type, f.Name, oneLine(f.Schema)
		default:
			return event.FailParam(event.Unsupported, param+".type", "text.format.type must be text or json_schema")
		}
		r.echo.Format = oneLine(in.Format)
	}
	if want.Type != "" || want.Verbosity != "" {
		r.format = &want
	}
	return nil
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func readToolChoice(r *request, name string, raw []byte) error {
	if c := raw[0]; c != '"' && c != '{' {
		return event.FailParam(event.InvalidRequest, name, "tool_choice must be a string or an object")
	}
	if len(raw) <= 4<<10 {
		r.echo.ToolChoice = oneLine(raw)
	}
	switch string(raw) {
	case `"auto"`:
	case `"none"`:
		r.functions = &[]spec.Function{} // judged after tools
	default:
		r.ignored = append(r.ignored, name)
	}
	return nil
}

// oneLine is raw without space between tokens and without characters that a
// stream's reader may take for the end of a line.
func oneLine(raw []byte) []byte {
	var compact, line bytes.Buffer
	if stdjson.Compact(&compact, raw) != nil {
		return nil
	}
	stdjson.HTMLEscape(&line, compact.Bytes())
	return line.Bytes()
}

// HeaderIgnored lists the parameters of a request that have no effect.
const HeaderIgnored = "X-Agent-Sandbox-Ignored-Params"

// ignoredHeader is the header's value, "" for none. Names that do not fit into a
// header are left out, and so are those beyond 50.
func (r *request) ignoredHeader() string {
	names := slices.DeleteFunc(slices.Clone(r.ignored), func(s string) bool { return !plainWord.MatchString(s) })
	slices.Sort(names)
	return strings.Join(names[:min(len(names), 50)], ",")
}
