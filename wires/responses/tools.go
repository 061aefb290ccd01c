package responses

import (
	stdjson "encoding/json"
	"fmt"
	"regexp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
)

// functionTool is a function of the caller's as it is given back.
type functionTool struct {
	Type        string             `json:"type" enum:"function"`
	Name        string             `json:"name"`
	Description *string            `json:"description,omitempty"`
	Parameters  stdjson.RawMessage `json:"parameters" as:"object"`
	Strict      bool               `json:"strict"`
}

// toolBody describes a tool of a request.
type toolBody struct {
	Type        string             `json:"type" need:"true" enum:"function"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	Parameters  stdjson.RawMessage `json:"parameters" as:"object"`
	Strict      *bool              `json:"strict"`
}

var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// readTools reads the caller's tools. One that the agent cannot be given is refused:
// running without it would look like running with it.
func readTools(r *request, name string, raw []byte) error {
	if len(raw) > spec.MaxTools {
		return event.FailParam(event.InvalidRequest, name, fmt.Sprintf("tools are larger than %d bytes", spec.MaxTools))
	}
	var list []stdjson.RawMessage
	if err := call.Unmarshal(name, raw, &list); err != nil {
		return err
	}
	r.functions = &[]spec.Function{}
	if len(list) == 0 {
		return nil
	}
	shown := make([]any, 0, len(list))
	names := map[string]bool{}
	for i, raw := range list {
		param := fmt.Sprintf("%s[%d]", name, i)
		var kind struct {
			Type string `json:"type"`
		}
		if err := call.Unmarshal(param, raw, &kind); err != nil {
			return err
		}
		if kind.Type == "mcp" {
			server, err := r.readServer(param, raw)
			if err != nil {
				return err
			}
			shown = append(shown, server)
			continue
		}
		if kind.Type != "function" {
			word := ""
			if plainWord.MatchString(kind.Type) {
				word = " " + kind.Type
			}
			return event.FailParam(event.Unsupported, param, "the"+word+" tool cannot be given to this agent: it works with its own tools; leave it out, or send one of type function or mcp")
		}
		var t struct {
			toolBody
			Function stdjson.RawMessage `json:"function"` // of Chat Completions
		}
		if err := call.Unmarshal(param, raw, &t); err != nil {
			return err
		}
		if t.Name == "" && len(t.Function) > 0 && t.Function[0] == '{' {
			return event.FailParam(event.InvalidRequest, param+".function", param+".function is of another API: name, description and parameters stand beside type, not inside function")
		}
		fn, err := readFunction(param, &t.toolBody)
		if err != nil {
			return err
		}
		if names[fn.Name] {
			return event.FailParam(event.InvalidRequest, param+".name", "two functions are named "+fn.Name)
		}
		names[fn.Name] = true
		*r.functions = append(*r.functions, fn)
		shown = append(shown, functionTool{Type: "function", Name: fn.Name, Description: t.Description, Parameters: oneLine(t.Parameters), Strict: fn.Strict})
	}
	if err := spec.ValidCallerServers(name, r.servers.byLabel); err != nil {
		return err
	}
	all, err := json.Marshal(shown)
	r.echo.Tools = oneLine(all)
	return err
}

func readFunction(param string, t *toolBody) (spec.Function, error) {
	fn := spec.Function{Name: t.Name, Description: value(t.Description), Strict: t.Strict == nil || *t.Strict}
	if !functionName.MatchString(t.Name) {
		return fn, event.FailParam(event.InvalidRequest, param+".name", "a function's name must match [A-Za-z0-9_-]{1,64}")
	}
	if len(t.Parameters) == 0 || isNull(t.Parameters) {
		t.Parameters = stdjson.RawMessage(`{"type":"object","properties":{}}`)
	}
	if t.Parameters[0] != '{' {
		return fn, event.FailParam(event.InvalidRequest, param+".parameters", "a function's parameters must be a JSON schema")
	}
	fn.Parameters = oneLine(t.Parameters)
	return fn, nil
}
