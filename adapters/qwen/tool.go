package qwen

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

// tool is one call of the model.
type tool struct {
	id   string
	item event.Item
	held bool // told at its end only
	mute bool // told in another way
	done bool
}

// input is the union of the fields of the built-in tools' inputs that items show.
type input struct {
	Command  jsonl.Str `json:"command"`
	Path     jsonl.Str `json:"file_path"`
	Notebook jsonl.Str `json:"notebook_path"`
	Query    jsonl.Str `json:"query"`
}

// call takes a tool_use block. A block that comes again changes nothing.
func (p *parser) call(b *streamjson.Block, out *agent.Batch) {
	id := string(b.ID)
	if id == "" || p.tools[id] != nil {
		return
	}
	t := &tool{id: id}
	p.tools[id] = t
	p.order = append(p.order, t)
	name, raw := bridged(string(b.Name), b.Input)
	var in input
	jsonl.Decode(raw, &in) // what it is not, shows as a plain call
	p.describe(t, name, &in, raw)
	if t.mute || t.held {
		return
	}
	start := t.item
	start.Status = event.InProgress
	out.Add(agent.Fact{Kind: agent.FactStart, Key: id, Item: &start})
}

// bridged looks through tool_call, by which the model calls a tool that was not
// offered to it from the start.
func bridged(name string, raw json.RawMessage) (string, json.RawMessage) {
	var in struct {
		Name      jsonl.Str       `json:"name"`
		Tool      jsonl.Str       `json:"tool_name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if name != "tool_call" || !jsonl.Decode(raw, &in) {
		return name, raw
	}
	if in.Name == "" {
		in.Name = in.Tool
	}
	if in.Name == "" {
		return name, raw
	}
	return string(in.Name), in.Arguments
}

// describe makes the item of a call.
func (p *parser) describe(t *tool, name string, in *input, raw json.RawMessage) {
	path := string(in.Path)
	if path == "" {
		path = string(in.Notebook)
	}
	switch {
	case name == "run_shell_command" && in.Command != "":
		t.item = event.Item{Type: event.Command, Command: string(in.Command), Cwd: p.cwd}
	case (name == "write_file" || name == "edit" || name == "notebook_edit") && path != "":
		// Only the result says whether the file is new.
		t.held = true
		t.item = event.Item{Type: event.FileChange, Changes: []event.Change{{Path: path, Kind: "update"}}}
	case name == "structured_output":
		t.mute = true // the result line has it
	case name == "web_search" && in.Query != "":
		t.item = event.Item{Type: event.WebSearch, Query: string(in.Query)}
	default:
		t.item = event.Item{Type: event.ToolCall, Arguments: jsonl.Args(raw)}
		t.item.Server, t.item.Tool = p.toolName(name)
	}
}

// toolName is whose tool a call is of, and its name.
func (p *parser) toolName(name string) (server, toolName string) {
	if server, toolName, ok := streamjson.ToolName(name, p.mcp); ok {
		return server, toolName
	}
	if name == "agent" {
		name = "subagent"
	}
	return Name, name
}

// end closes a call.
func (p *parser) end(t *tool, status event.Status, output, why string, out *agent.Batch) {
	t.done = true
	item := t.item
	if item.Type == event.Command && output == "" {
		output = why // a command has no other place for words
	}
	item.Status, item.Output, item.Error = status, output, why
	out.Add(agent.Fact{Kind: agent.FactDone, Key: t.id, Item: &item})
}

// returned takes the result of a call. One of an unknown call is not known; one that
// comes twice is.
func (p *parser) returned(b *streamjson.Block, out *agent.Batch) bool {
	t := p.tools[string(b.ToolUseID)]
	if t == nil {
		return false
	}
	if t.done {
		return true
	}
	if t.mute {
		t.done = true
		return true
	}
	said, failed := jsonl.Texts(b.Content), bool(b.IsError)
	switch {
	case t.item.Type == event.Command:
		p.ran(t, said, failed, out)
	case failed:
		p.end(t, event.ItemFailed, "", said, out)
	case t.item.Type == event.FileChange:
		if strings.HasPrefix(said, "Successfully created") || strings.HasPrefix(said, "Created new file") {
			t.item.Changes = []event.Change{{Path: t.item.Changes[0].Path, Kind: "add"}}
		}
		p.end(t, event.Done, "", "", out) // the text is words for the model
	default:
		p.end(t, event.Done, said, "", out)
	}
	return true
}

// ran closes a command. Its result is the output alone, or a report with the output
// and the exit status in it.
func (p *parser) ran(t *tool, said string, failed bool, out *agent.Batch) {
	output, exit, reported := report(said)
	switch {
	case reported:
		t.item.ExitCode = exit
		if failed || exit == nil || *exit != 0 {
			p.end(t, event.ItemFailed, output, "", out)
			return
		}
		p.end(t, event.Done, output, "", out)
	case failed:
		p.end(t, event.ItemFailed, "", said, out)
	default:
		t.item.ExitCode = new(int)
		p.end(t, event.Done, said, "", out)
	}
}

// report reads what the CLI tells the model about a command: lines "Command: ...",
// "Directory: ...", "Output: ...", "Error: ...", "Exit Code: ...", "Signal: ...".
// exit is nil for a command that was ended by a signal.
func report(said string) (output string, exit *int, ok bool) {
	rest, ok := strings.CutPrefix(said, "Command: ")
	if !ok {
		return "", nil, false
	}
	_, rest, ok = strings.Cut(rest, "\nOutput: ")
	if !ok {
		return "", nil, false
	}
	at := strings.LastIndex(rest, "\nExit Code: ") // the output may hold such a line itself
	if at < 0 {
		return "", nil, false
	}
	output = rest[:at]
	status, _, _ := strings.Cut(rest[at+len("\nExit Code: "):], "\n")
	if code, err := strconv.Atoi(strings.TrimSpace(status)); err == nil {
		exit = &code
	}
	if at := strings.LastIndex(output, "\nError: "); at >= 0 {
		if why := output[at+len("\nError: "):]; why != "(none)" {
			output = output[:at] + "\n" + why
		} else {
			output = output[:at]
		}
	}
	if output == "(empty)" {
		output = ""
	}
	return output, exit, true
}
