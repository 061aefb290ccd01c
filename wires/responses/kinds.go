package responses

import (
	stdjson "encoding/json"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

// kind is a type of item, beside messages, that a caller may hand us: what it must
// have, what is put where it says nothing, and what an agent is told of it.
type kind struct {
	needs []need
	// usual holds values that answers always have.
	usual map[string]string
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
		[]need{{"call_id", text}, {"name", text}, {"arguments", text}}, done,
		func(it *itemBody) string { return toolLine("called "+it.Name, it.Arguments, nil) },
	},
	"function_call_output": {
		[]need{{"output", textOrList}}, done,
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"custom_tool_call": {
		[]need{{"call_id", text}, {"name", text}, {"input", text}}, nil,
		func(it *itemBody) string { return toolLine("called "+it.Name, it.Input, nil) },
	},
	"custom_tool_call_output": {
		[]need{{"call_id", text}, {"output", textOrList}}, nil,
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"mcp_call": {
		[]need{{"server_label", text}, {"name", text}, {"arguments", text}}, nil,
		func(it *itemBody) string {
			return toolLine("called "+it.ServerLabel+"/"+it.Name, it.Arguments, it.Output)
		},
	},
	"mcp_list_tools": {[]need{{"server_label", text}, {"tools", list}}, nil, silent},
	"mcp_approval_request": {
		[]need{{"server_label", text}, {"name", text}, {"arguments", text}}, nil,
		func(it *itemBody) string {
			return toolLine("asked for permission to use "+it.ServerLabel+"/"+it.Name, it.Arguments, nil)
		},
	},
	"mcp_approval_response": {
		[]need{{"approval_request_id", text}, {"approve", flag}}, nil,
		func(it *itemBody) string {
			if it.Approve != nil && *it.Approve {
				return "[permission given]"
			}
			return "[permission denied]"
		},
	},
	"web_search_call": {
		[]need{{"action", object}}, done,
		func(it *itemBody) string { return toolLine("searched the web", it.Action, nil) },
	},
	"file_search_call": {
		[]need{{"queries", list}}, done,
		func(it *itemBody) string { return toolLine("searched files", it.Queries, it.Results) },
	},
	"computer_call": {
		[]need{{"call_id", text}}, map[string]string{"status": completed, "pending_safety_checks": `[]`},
		func(it *itemBody) string { return toolLine("used the computer", it.Action, nil) },
	},
	"computer_call_output": {
		[]need{{"call_id", text}, {"output", object}}, done,
		func(*itemBody) string { return "[result -> picture]" },
	},
	"code_interpreter_call": {
		[]need{{"container_id", text}}, done,
		func(it *itemBody) string { return toolLine("ran code", it.Code, it.Outputs) },
	},
	"image_generation_call": {
		nil, map[string]string{"status": completed, "result": `null`},
		func(*itemBody) string { return "[made a picture]" },
	},
	"local_shell_call": {
		[]need{{"call_id", text}, {"action", object}}, done,
		func(it *itemBody) string { return toolLine("ran", it.Action, nil) },
	},
	"local_shell_call_output": {
		[]need{{"output", text}}, nil,
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"shell_call": {
		[]need{{"call_id", text}, {"action", object}}, done,
		func(it *itemBody) string { return toolLine("ran", it.Action, nil) },
	},
	"shell_call_output": {
		[]need{{"call_id", text}, {"output", list}}, done,
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"apply_patch_call": {
		[]need{{"call_id", text}, {"operation", object}}, done,
		func(it *itemBody) string { return toolLine("patched", it.Operation, nil) },
	},
	"apply_patch_call_output": {
		[]need{{"call_id", text}}, done,
		func(it *itemBody) string { return toolLine("result", nil, it.Output) },
	},
	"tool_search_call": {
		[]need{{"arguments", anyValue}}, map[string]string{"status": completed, "execution": onServer},
		func(it *itemBody) string { return toolLine("searched tools", it.Arguments, nil) },
	},
	"tool_search_output": {[]need{{"tools", list}}, map[string]string{"status": completed, "execution": onServer}, silent},
	"program": {
		[]need{{"call_id", text}, {"code", text}, {"fingerprint", text}}, nil,
		func(it *itemBody) string { return toolLine("ran code", it.Code, nil) },
	},
	"program_output": {
		[]need{{"call_id", text}, {"result", text}}, done,
		func(it *itemBody) string { return toolLine("result", nil, it.Result) },
	},
	"reasoning":            {nil, map[string]string{"summary": `[]`}, silent},
	"compaction":           {[]need{{"encrypted_content", text}}, nil, silent},
	"additional_tools":     {[]need{{"role", text}, {"tools", list}}, nil, silent},
	"configuration_update": {nil, nil, silent},
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
