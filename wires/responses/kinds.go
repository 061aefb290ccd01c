package responses

import (
	stdjson "encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/openapi"
)

// kind is a type of item, beside messages, that a caller may hand us: what it must
// have, what is put where it says nothing, and what an agent is told of it.
type kind struct {
	needs []need
	// usual holds values that answers always have, also the names of fields that they
	// may have.
	usual map[string]string
	also  string
	told  func(it *itemBody) string
}

type need struct {
	name  string
	shape shape
}

// shape is a set of the first bytes that a JSON value may have.
type shape string

const (
	text       shape = `"`
	list       shape = `[`
	object     shape = `{`
	flag       shape = `tf`
	textOrList shape = `"[`
	anyValue   shape = ``
)

// String says what is wanted, for people.
func (s shape) String() string {
	switch s {
	case text:
		return "a string"
	case list:
		return "a list"
	case object:
		return "an object"
	case flag:
		return "true or false"
	case textOrList:
		return "a string or a list"
	default:
		return "given"
	}
}

func (s shape) fits(raw []byte) bool {
	return len(raw) > 0 && !isNull(raw) && (s == anyValue || strings.IndexByte(string(s), raw[0]) >= 0)
}

const (
	completed = `"completed"`
	onServer  = `"server"`
)

var done = map[string]string{"status": completed}

// silent items tell an agent nothing.
func silent(*itemBody) string { return "" }

// kinds are the items of the wire that are no message.
var kinds = map[string]kind{
	"function_call": {
		[]need{{"call_id", text}, {"name", text}, {"arguments", text}}, done, "async caller namespace created_by",
		func(it *itemBody) string { return toolLine("called "+it.Name, it.Arguments, nil) },
	},
	"function_call_output": {
		[]need{{"output", textOrList}}, done, "call_id caller created_by name namespace",
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"custom_tool_call": {
		[]need{{"call_id", text}, {"name", text}, {"input", text}}, nil, "async caller namespace",
		func(it *itemBody) string { return toolLine("called "+it.Name, it.Input, nil) },
	},
	"custom_tool_call_output": {
		[]need{{"call_id", text}, {"output", textOrList}}, nil, "caller",
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"mcp_call": {
		[]need{{"server_label", text}, {"name", text}, {"arguments", text}}, nil, "approval_request_id error output status",
		func(it *itemBody) string {
			return toolLine("called "+it.ServerLabel+"/"+it.Name, it.Arguments, it.Output)
		},
	},
	"mcp_list_tools": {[]need{{"server_label", text}, {"tools", list}}, nil, "error", silent},
	"mcp_approval_request": {
		[]need{{"server_label", text}, {"name", text}, {"arguments", text}}, nil, "",
		func(it *itemBody) string {
			return toolLine("asked for permission to use "+it.ServerLabel+"/"+it.Name, it.Arguments, nil)
		},
	},
	"mcp_approval_response": {
		[]need{{"approval_request_id", text}, {"approve", flag}}, nil, "reason",
		func(it *itemBody) string {
			if it.Approve != nil && *it.Approve {
				return "[permission given]"
			}
			return "[permission denied]"
		},
	},
	"web_search_call": {
		[]need{{"action", object}}, done, "",
		func(it *itemBody) string { return toolLine("searched the web", it.Action, nil) },
	},
	"file_search_call": {
		[]need{{"queries", list}}, done, "results",
		func(it *itemBody) string { return toolLine("searched files", it.Queries, it.Results) },
	},
	"computer_call": {
		[]need{{"call_id", text}}, map[string]string{"status": completed, "pending_safety_checks": `[]`}, "action actions",
		func(it *itemBody) string { return toolLine("used the computer", it.Action, nil) },
	},
	"computer_call_output": {
		[]need{{"call_id", text}, {"output", object}}, done, "acknowledged_safety_checks created_by",
		func(*itemBody) string { return "[result -> picture]" },
	},
	"code_interpreter_call": {
		[]need{{"container_id", text}}, map[string]string{"status": completed, "code": `null`, "outputs": `null`}, "",
		func(it *itemBody) string { return toolLine("ran code", it.Code, it.Outputs) },
	},
	"image_generation_call": {
		nil, map[string]string{"status": completed, "result": `null`}, "action background error output_format quality revised_prompt size svg_usage",
		func(*itemBody) string { return "[made a picture]" },
	},
	"local_shell_call": {
		[]need{{"call_id", text}, {"action", object}}, done, "",
		func(it *itemBody) string { return toolLine("ran", it.Action, nil) },
	},
	"local_shell_call_output": {
		[]need{{"output", text}}, nil, "status",
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"shell_call": {
		[]need{{"call_id", text}, {"action", object}}, map[string]string{"status": completed, "environment": `null`}, "caller created_by",
		func(it *itemBody) string { return toolLine("ran", it.Action, nil) },
	},
	"shell_call_output": {
		[]need{{"call_id", text}, {"output", list}}, map[string]string{"status": completed, "max_output_length": `null`}, "caller created_by",
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"apply_patch_call": {
		[]need{{"call_id", text}, {"operation", object}}, done, "caller created_by",
		func(it *itemBody) string { return toolLine("patched", it.Operation, nil) },
	},
	"apply_patch_call_output": {
		[]need{{"call_id", text}}, done, "caller created_by output",
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"tool_search_call": {
		[]need{{"arguments", anyValue}}, map[string]string{"status": completed, "execution": onServer, "call_id": `null`}, "created_by",
		func(it *itemBody) string { return toolLine("searched tools", it.Arguments, nil) },
	},
	"tool_search_output": {[]need{{"tools", list}}, map[string]string{"status": completed, "execution": onServer, "call_id": `null`}, "created_by", silent},
	"program": {
		[]need{{"call_id", text}, {"code", text}, {"fingerprint", text}}, nil, "",
		func(it *itemBody) string { return toolLine("ran code", it.Code, nil) },
	},
	"program_output": {
		[]need{{"call_id", text}, {"result", text}}, done, "",
		func(it *itemBody) string { return toolLine("result", nil, it.Result) },
	},
	"reasoning":            {nil, map[string]string{"summary": `[]`}, "content encrypted_content status", silent},
	"compaction":           {[]need{{"encrypted_content", text}}, nil, "created_by", silent},
	"additional_tools":     {[]need{{"role", text}, {"tools", list}}, nil, "", silent},
	"configuration_update": {nil, nil, "reasoning text", silent},
}

// partKinds are the parts that a posted message may have.
var partKinds = map[string]kind{
	"input_text":     {needs: []need{{"text", text}}, also: "prompt_cache_breakpoint"},
	"text":           {needs: []need{{"text", text}}},
	"summary_text":   {needs: []need{{"text", text}}},
	"reasoning_text": {needs: []need{{"text", text}}},
	"output_text":    {needs: []need{{"text", text}}, usual: map[string]string{"annotations": `[]`, "logprobs": `[]`}},
	"refusal":        {needs: []need{{"refusal", text}}},
	"input_image":    {usual: map[string]string{"detail": `"auto"`}, also: "image_url file_id prompt_cache_breakpoint"},
	"input_file":     {also: "file_id file_data file_url filename detail prompt_cache_breakpoint"},
	"computer_screenshot": {
		usual: map[string]string{"detail": `"auto"`, "image_url": `null`, "file_id": `null`}, also: "prompt_cache_breakpoint",
	},
}

// described are the shapes of kinds, for the document.
func described(prefix string, of map[string]kind) []any {
	var out []any
	for _, name := range slices.Sorted(maps.Keys(of)) {
		k := of[name]
		// What else it came with is kept.
		s := &openapi.Schema{Type: "object", AdditionalProperties: true, Properties: map[string]*openapi.Schema{"type": {Type: "string", Const: name}}, Required: []string{"type"}}
		for _, n := range k.needs {
			s.Properties[n.name] = n.shape.schema()
			s.Required = append(s.Required, n.name)
		}
		for n := range k.usual {
			s.Properties[n] = &openapi.Schema{}
			s.Required = append(s.Required, n)
		}
		for _, n := range strings.Fields(k.also) {
			s.Properties[n] = &openapi.Schema{}
		}
		if prefix == itemKinds {
			s.Properties["id"] = &openapi.Schema{Type: "string"}
			s.Required = append(s.Required, "id")
		}
		slices.Sort(s.Required)
		words := strings.Split(name, "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		out = append(out, openapi.Given{Name: prefix + strings.Join(words, ""), Schema: s})
	}
	return out
}

// Prefixes of schemas' names.
const (
	itemKinds = "ResponsesItem"
	itemParts = "ResponsesPart"
)

func (s shape) schema() *openapi.Schema {
	switch s {
	case text:
		return &openapi.Schema{Type: "string"}
	case flag:
		return &openapi.Schema{Type: "boolean"}
	default:
		return &openapi.Schema{}
	}
}

// unknownKind refuses a type that is none of kinds, by its name where it is fit to
// be repeated.
func unknownKind(param, name string) error {
	what := "this type"
	if plainWord.MatchString(name) {
		what = "type " + name
	}
	return event.FailParam(event.Unsupported, param+".type", "an item of "+what+" is not supported")
}

// check refuses an item that lacks what its kind needs.
func (k *kind) check(param string, it map[string]stdjson.RawMessage) error {
	for _, n := range k.needs {
		if raw := it[n.name]; !n.shape.fits(raw) {
			return event.FailParam(event.InvalidRequest, param+"."+n.name, param+"."+n.name+" must be "+n.shape.String())
		}
	}
	if raw, ok := it["status"]; ok && !isNull(raw) && !slices.Contains(statuses, string(raw)) {
		return event.FailParam(event.InvalidRequest, param+".status", param+".status is not a status of an item")
	}
	return nil
}

var statuses = []string{`"in_progress"`, `"completed"`, `"incomplete"`, `"failed"`, `"searching"`, `"generating"`, `"interpreting"`, `"calling"`}
