package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
)

// item is the union of what Codex calls items.
type item struct {
	ID     jsonl.Str  `json:"id"`
	Type   jsonl.Word `json:"type"`
	Status jsonl.Word `json:"status"`

	Text    jsonl.Str `json:"text"`
	Message jsonl.Str `json:"message"`

	Command  jsonl.Str  `json:"command"`
	Output   jsonl.Str  `json:"aggregated_output"`
	ExitCode *jsonl.Num `json:"exit_code"`

	Changes []change `json:"changes"`

	Server    jsonl.Str       `json:"server"`
	Tool      jsonl.Str       `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Prompt    jsonl.Str       `json:"prompt"`
	Threads   []jsonl.Str     `json:"receiver_thread_ids"`
	States    json.RawMessage `json:"agents_states"`

	Query jsonl.Str `json:"query"`

	Items []struct {
		Text      jsonl.Str  `json:"text"`
		Completed jsonl.Flag `json:"completed"`
	} `json:"items"`
}

type change struct {
	Path jsonl.Str  `json:"path"`
	Kind jsonl.Word `json:"kind"`
}

// item takes an item line; closes says that it is complete.
func (p *Parser) item(it *item, closes bool, raw []byte, out *agent.Batch) {
	if it == nil {
		jsonl.Unknown(raw, out)
		return
	}
	switch string(it.Type) {
	case "error":
		p.warning(it, raw, out)
	case "todo_list":
		p.todo(it, closes, out)
	case "agent_message":
		p.text(it, event.Message, agent.FactText, closes, raw, out)
	case "reasoning":
		p.text(it, event.Reasoning, agent.FactReasoning, closes, raw, out)
	case "collab_tool_call":
		p.collab(it, closes, out)
	default:
		if e := p.tool(it); e != nil {
			p.call(it, e, closes, out)
			return
		}
		jsonl.Unknown(raw, out)
	}
}

func (p *Parser) key(it *item) string {
	if it.ID != "" {
		return string(it.ID)
	}
	return fmt.Sprintf("line %d", p.count)
}

// warning is an item of type error: about the model's metadata, say. It is no
// reason for a failure.
func (p *Parser) warning(it *item, raw []byte, out *agent.Batch) {
	if it.Message == "" {
		jsonl.Unknown(raw, out)
		return
	}
	out.Add(agent.Fact{Kind: agent.FactNotice, Text: string(it.Message)})
}

// todo takes a plan. It closes with the turn: Codex completes it there too.
func (p *Parser) todo(it *item, closes bool, out *agent.Batch) {
	steps := make([]plan.Step, len(it.Items))
	for i, s := range it.Items {
		steps[i] = plan.Step{Text: string(s.Text), Done: bool(s.Completed)}
	}
	p.plan.Update(steps, out)
	if closes {
		p.plan.Close(out)
	}
}

// text takes a message or a reasoning summary. An empty one is nothing to show.
func (p *Parser) text(it *item, typ event.ItemType, piece agent.FactKind, closes bool, raw []byte, out *agent.Batch) {
	key, text := p.key(it), string(it.Text)
	told := p.open[key]
	if text == "" && told == nil {
		jsonl.Unknown(raw, out)
		return
	}
	if closes {
		delete(p.open, key)
		out.Add(agent.Fact{Kind: agent.FactDone, Key: key, Item: &event.Item{Type: typ, Text: text}})
		return
	}
	if told == nil {
		told = &progress{}
		p.open[key] = told
	}
	if rest, ok := strings.CutPrefix(text, told.told); ok && rest != "" {
		told.told = text
		out.Add(agent.Fact{Kind: piece, Key: key, Text: rest})
	}
}

// call takes an item that starts and ends.
func (p *Parser) call(it *item, e *event.Item, closes bool, out *agent.Batch) {
	key := p.key(it)
	if closes {
		delete(p.open, key)
		out.Add(agent.Fact{Kind: agent.FactDone, Key: key, Item: e})
		return
	}
	told := p.open[key]
	if told == nil {
		told = &progress{}
		p.open[key] = told
		start := *e
		start.Output, start.ExitCode, start.Error, start.Status = "", nil, "", event.InProgress
		out.Add(agent.Fact{Kind: agent.FactStart, Key: key, Item: &start})
	}
	if rest, ok := strings.CutPrefix(e.Output, told.told); ok && rest != "" {
		told.told = e.Output
		out.Add(agent.Fact{Kind: agent.FactOutput, Key: key, Text: rest})
	}
}

// tool makes the neutral item of a call, nil for a type that is not known.
func (p *Parser) tool(it *item) *event.Item {
	e := &event.Item{Status: event.Done}
	switch string(it.Status) {
	case "failed", "declined":
		e.Status = event.ItemFailed
	}
	switch string(it.Type) {
	case "command_execution":
		e.Type, e.Command, e.Cwd, e.Output = event.Command, string(it.Command), p.cwd, string(it.Output)
		if it.ExitCode != nil {
			code := int(*it.ExitCode)
			e.ExitCode = &code
			if code != 0 {
				e.Status = event.ItemFailed
			}
		}
	case "file_change":
		e.Type = event.FileChange
		for _, c := range it.Changes {
			e.Changes = append(e.Changes, event.Change{Path: string(c.Path), Kind: changeKind(string(c.Kind))})
		}
	case "mcp_tool_call":
		e.Type, e.Server, e.Tool, e.Arguments = event.ToolCall, string(it.Server), string(it.Tool), jsonl.Args(it.Arguments)
		e.Output, e.Error = result(it.Result), message(it.Error)
		if e.Error != "" {
			e.Status = event.ItemFailed
		}
	case "web_search":
		e.Type, e.Query = event.WebSearch, string(it.Query)
	default:
		return nil
	}
	return e
}

func changeKind(k string) string {
	switch k {
	case "add", "delete":
		return k
	}
	return "update"
}

// result is the text of a tool's result: its text blocks, else its structured
// content, else its JSON.
func result(raw json.RawMessage) string {
	if jsonl.Null(raw) {
		return ""
	}
	var r struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structured_content"`
		Camel      json.RawMessage `json:"structuredContent"` // of the app-server
	}
	if !jsonl.Decode(raw, &r) {
		return jsonl.Args(raw)
	}
	if text := jsonl.Texts(r.Content); text != "" {
		return text
	}
	for _, value := range []json.RawMessage{r.Structured, r.Camel} {
		if !jsonl.Null(value) {
			return jsonl.Args(value)
		}
	}
	return ""
}

// message is an error's text, "" for none.
func message(raw json.RawMessage) string {
	if jsonl.Null(raw) {
		return ""
	}
	var e struct {
		Message jsonl.Str `json:"message"`
	}
	if jsonl.Decode(raw, &e) && e.Message != "" {
		return string(e.Message)
	}
	return jsonl.Args(raw)
}
