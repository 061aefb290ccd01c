package claudecode

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

// tool is one call of the model.
type tool struct {
	id string
	// parent is the call of the subagent that makes this one; "" for the turn's own.
	parent string
	item   event.Item
	held   bool // told at its end only
	mute   bool // told in another way
	away   bool // goes on in the background when its result is there
	done   bool
}

// input is the union of the fields of the built-in tools' inputs that items show.
type input struct {
	Command  jsonl.Str       `json:"command"`
	Path     jsonl.Str       `json:"file_path"`
	Notebook jsonl.Str       `json:"notebook_path"`
	Query    jsonl.Str       `json:"query"`
	Todos    json.RawMessage `json:"todos"`
	Prompt   jsonl.Str       `json:"prompt"`
	Agent    jsonl.Str       `json:"subagent_type"`
}

// call takes a tool_use block of the turn's agent, or of the subagent of a call. A
// block that comes again changes nothing.
func (p *Parser) call(b *streamjson.Block, parent string, out *agent.Batch) {
	id := string(b.ID)
	if id == "" || p.tools[id] != nil {
		return
	}
	t := &tool{id: id, parent: parent}
	p.tools[id] = t
	p.order = append(p.order, t)
	var in input
	jsonl.Decode(b.Input, &in) // what it is not, shows as a plain call
	p.describe(t, string(b.Name), &in, b.Input, out)
	if t.mute || t.held {
		return
	}
	start := t.item
	start.Status = event.InProgress
	out.Add(agent.Fact{Kind: agent.FactStart, Key: id, Parent: parent, Item: &start})
}

// describe makes the item of a call.
func (p *Parser) describe(t *tool, name string, in *input, raw json.RawMessage, out *agent.Batch) {
	path := string(in.Path)
	if path == "" {
		path = string(in.Notebook)
	}
	switch {
	case name == "Bash" && in.Command != "":
		t.item = event.Item{Type: event.Command, Command: string(in.Command), Cwd: p.cwd}
	case name == "Write" && path != "":
		t.held = true
		t.item = event.Item{Type: event.FileChange, Changes: []event.Change{{Path: path, Kind: "add"}}}
	case (name == "Edit" || name == "MultiEdit" || name == "NotebookEdit") && path != "":
		t.item = event.Item{Type: event.FileChange, Changes: []event.Change{{Path: path, Kind: "update"}}}
	case name == "TodoWrite" && t.parent == "" && p.todo(in.Todos, out):
		t.mute = true
	case name == "StructuredOutput":
		t.mute = true // the result line has it
	case (name == "WebSearch" || name == "web_search") && in.Query != "":
		t.item = event.Item{Type: event.WebSearch, Query: string(in.Query)}
	case name == "Task" || name == "Agent":
		t.item = event.Item{
			Type: event.Subagent, Server: p.name, Tool: string(in.Agent), Prompt: string(in.Prompt), Arguments: jsonl.Args(raw),
		}
	default:
		t.item = event.Item{Type: event.ToolCall, Arguments: jsonl.Args(raw)}
		t.item.Server, t.item.Tool = p.toolName(name)
	}
}

// toolName is whose tool a call is of, and its name.
func (p *Parser) toolName(name string) (server, toolName string) {
	if server, toolName, ok := streamjson.ToolName(name, p.mcp); ok {
		return server, toolName
	}
	return p.name, name
}

func (p *Parser) todo(raw json.RawMessage, out *agent.Batch) bool {
	var l struct {
		Todos []struct {
			Content jsonl.Str `json:"content"`
			Status  jsonl.Str `json:"status"`
		} `json:"t"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(streamjson.Wrap("t", raw), &l) {
		return false
	}
	steps := make([]plan.Step, len(l.Todos))
	for i, t := range l.Todos {
		steps[i] = plan.Step{Text: string(t.Content), Done: t.Status == "completed"}
	}
	p.plan.Update(steps, out)
	return true
}

// denied fails a call that the permission mode refused; its tool result repeats it.
func (p *Parser) denied(id, why string, out *agent.Batch) bool {
	t := p.tools[id]
	if t == nil || t.done || t.mute {
		return false
	}
	p.end(t, event.ItemFailed, "", why, out)
	return true
}

// background marks a call whose work goes on after its result: a subagent. The item
// stays open, so that waiting for it does not count as silence.
func (p *Parser) background(id, kind string) bool {
	t := p.tools[id]
	if t == nil || t.done || kind != "local_agent" {
		return false
	}
	t.away = true
	return true
}

// notified closes the call of a subagent, which the CLI tells of in the background
// or not.
func (p *Parser) notified(id, status, summary string, out *agent.Batch) bool {
	t := p.tools[id]
	if t == nil || t.done || !t.away {
		return false
	}
	if status == "completed" {
		p.end(t, event.Done, summary, "", out)
	} else {
		p.end(t, event.ItemFailed, "", strings.TrimSpace(status+" "+summary), out)
	}
	return true
}

// end closes a call.
func (p *Parser) end(t *tool, status event.Status, output, why string, out *agent.Batch) {
	t.done = true
	item := t.item
	if item.Type == event.Subagent {
		p.drop(t.id, out)
	}
	if item.Type == event.Command && output == "" {
		output = why // a command has no other place for words
	}
	item.Status, item.Output, item.Error = status, output, why
	out.Add(agent.Fact{Kind: agent.FactDone, Key: t.id, Parent: t.parent, Item: &item})
}

// details is what the CLI tells programs about a result.
type details struct {
	Type       jsonl.Str  `json:"type"` // of a Write: create, update
	Stdout     *jsonl.Str `json:"stdout"`
	Stderr     jsonl.Str  `json:"stderr"`
	Background jsonl.Str  `json:"backgroundTaskId"`
}

// returned takes the result of a call. One of an unknown call is not known; one that
// comes twice is.
func (p *Parser) returned(b *streamjson.Block, extra json.RawMessage, out *agent.Batch) bool {
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
	if t.away && !bool(b.IsError) {
		return true // the notification has what came of it
	}
	said := jsonl.Texts(b.Content)
	if t.item.Type == event.Subagent && !bool(b.IsError) {
		said = report(said)
	}
	var d details
	if !jsonl.Null(extra) {
		jsonl.Decode(extra, &d) // a text for failed calls
	}
	switch t.item.Type {
	case event.Command:
		p.ran(t, said, bool(b.IsError), &d, out)
	case event.FileChange:
		if t.held && d.Type == "update" {
			t.item.Changes = []event.Change{{Path: t.item.Changes[0].Path, Kind: "update"}}
		}
		said = "" // words for the model
		fallthrough
	default:
		if bool(b.IsError) {
			p.end(t, event.ItemFailed, "", unwrap(jsonl.Texts(b.Content)), out)
			return true
		}
		p.end(t, event.Done, said, "", out)
	}
	return true
}

// noOutput is what the CLI tells the model in place of an empty output.
const noOutput = "(Bash completed with no output)"

// ran closes a command. The exit status of a failed one is in its text only.
func (p *Parser) ran(t *tool, said string, failed bool, d *details, out *agent.Batch) {
	if !failed {
		if d.Background == "" {
			t.item.ExitCode = new(int)
		}
		if said == noOutput && (d.Stdout == nil || *d.Stdout == "" && d.Stderr == "") {
			said = ""
		}
		p.end(t, event.Done, said, "", out)
		return
	}
	if rest, ok := strings.CutPrefix(said, "Exit code "); ok {
		number, output, _ := strings.Cut(rest, "\n")
		if code, err := strconv.Atoi(strings.TrimSpace(number)); err == nil {
			t.item.ExitCode = &code
			p.end(t, event.ItemFailed, output, "", out)
			return
		}
	}
	p.end(t, event.ItemFailed, "", unwrap(said), out)
}

// unwrap takes the tag off an error that the CLI wrapped for the model.
func unwrap(s string) string {
	if in, ok := strings.CutPrefix(s, "<tool_use_error>"); ok {
		return strings.TrimSuffix(in, "</tool_use_error>")
	}
	return s
}
