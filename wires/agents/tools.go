package agents

import (
	stdjson "encoding/json"
	"fmt"
	"regexp"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/openapi"
)

// tools are a caller's tools as they are given back, and what the engine is told of
// them.
type tools struct {
	list      stdjson.RawMessage
	functions []spec.Function
	servers   map[string]spec.MCPServer
	places    map[string]string // of servers in the request, by label
}

var toolTypes = []string{"function", "tool_search", "programmatic_tool_calling", "mcp", "web_search", "computer_use", "automations"}

// readTools reads a list of tools; nil when there is none. What an agent cannot be
// given is refused by its place: running without it would look like running with
// it.
func readTools(f *fields) *tools {
	if !f.has("tools") {
		return nil
	}
	list := f.list("tools")
	if raw := f.m["tools"]; len(raw) > spec.MaxTools && len(oneLine(raw, "[]")) > spec.MaxTools {
		f.invalid("tools", "is larger than %d bytes", spec.MaxTools)
		return nil
	}
	read := &tools{servers: map[string]spec.MCPServer{}, places: map[string]string{}}
	if len(list) == 0 {
		return read
	}
	shown := make([]any, 0, len(list))
	names := map[string]bool{}
	for i, raw := range list {
		t := f.element("tools", i, raw)
		if t == nil {
			return nil
		}
		kind := t.word("type", toolTypes...)
		switch {
		case kind == nil || *kind == "":
			t.invalid("type", "must be one of the tool types of this API")
		case *kind == "function":
			fn := readFunction(t)
			if names[fn.Name] {
				t.invalid("name", "is the name of two functions")
			}
			names[fn.Name] = true
			read.functions = append(read.functions, fn)
			shown = append(shown, functionTool{Description: fn.Description, Name: fn.Name, Parameters: fn.Parameters, Type: "function"})
		case *kind == "mcp":
			shown = append(shown, read.readServer(t))
		default:
			f.fail(event.Unsupported, fmt.Sprintf("tools[%d]", i),
				fmt.Sprintf("this host cannot give the agent a tool of type %s; a coding agent brings its own tools", *kind))
		}
		if f.fault() != nil {
			return nil
		}
	}
	if err := spec.ValidCallerServers(f.path("tools"), read.servers); err != nil {
		*f.err = err
		return nil
	}
	read.list, _ = json.Marshal(shown) // strings and checked JSON
	return read
}

// functionTool is a function as it is given back.
type functionTool struct {
	DeferLoading bool               `json:"defer_loading"`
	Description  string             `json:"description"`
	Name         string             `json:"name"`
	Parameters   stdjson.RawMessage `json:"parameters" as:"object"`
	Type         string             `json:"type" enum:"function"`
}

// functionBody describes a function that the caller runs. DeferLoading and Async are
// taken and change nothing: a CLI loads its tools as it likes, and a call waits.
type functionBody struct {
	Type         string         `json:"type" need:"true" enum:"function"`
	Name         string         `json:"name" need:"true"`
	Description  string         `json:"description"`
	Parameters   map[string]any `json:"parameters" as:"object"`
	DeferLoading bool           `json:"defer_loading"`
	Async        bool           `json:"async"`
}

// Closed implements openapi.Closed.
func (functionBody) Closed() {}

var functionFields = openapi.Names(functionBody{})

var functionName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func readFunction(t *fields) spec.Function {
	var fn spec.Function
	if t.has("function") {
		t.fail(event.InvalidRequest, "function", t.path("function")+" is of another API: name, description and parameters stand beside type, not inside function")
	}
	t.only(functionFields...)
	set(&fn.Name, read[string](t, "name"))
	if !functionName.MatchString(fn.Name) {
		t.invalid("name", "must match [A-Za-z0-9_-]{1,64}")
	}
	set(&fn.Description, read[string](t, "description"))
	fn.Parameters = stdjson.RawMessage(`{"type":"object","properties":{}}`)
	if t.given("parameters") {
		if t.object("parameters") == nil {
			t.invalid("parameters", "must be a JSON schema")
			return fn
		}
		fn.Parameters = oneLine(t.m["parameters"], "{}")
	}
	_, _ = read[bool](t, "defer_loading"), read[bool](t, "async")
	return fn
}
