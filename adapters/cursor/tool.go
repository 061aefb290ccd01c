package cursor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
)

// call is what all tools have in common.
type call struct {
	Args      json.RawMessage `json:"args"`
	Result    json.RawMessage `json:"result"`
	Name      jsonl.Str       `json:"name"`      // of a function
	Arguments json.RawMessage `json:"arguments"` // of a function, as text
}

// tool takes the start or the end of a call. A passage that is open ends before it.
func (p *Parser) tool(raw []byte, out *agent.Batch) {
	name, c, ok := p.called()
	if !ok {
		jsonl.Unknown(raw, out)
		return
	}
	ends := string(p.line.Subtype) == "completed"
	key := p.callKey(ends)
	p.close(out)
	p.think(out)
	p.said = "" // the next passage may say the same
	if strings.HasSuffix(strings.ToLower(name), "todos") && p.todo(c.Args, out) {
		return
	}
	it := p.item(name, c)
	if !ends {
		out.Add(agent.Fact{Kind: agent.FactStart, Key: key, Item: it})
		return
	}
	outcome(it, c.Result)
	out.Add(agent.Fact{Kind: agent.FactDone, Key: key, Item: it})
}

// callKey is the call's id; calls without one are taken in the order of their lines.
func (p *Parser) callKey(ends bool) string {
	if p.line.CallID != "" {
		return "call " + string(p.line.CallID)
	}
	if !ends || p.lastCall == "" {
		p.calls++
		p.lastCall = fmt.Sprintf("line %d", p.calls)
	}
	key := p.lastCall
	if ends {
		p.lastCall = ""
	}
	return key
}

// called finds the tool's name and what is told of it.
func (p *Parser) called() (string, *call, bool) {
	for _, k := range slices.Sorted(maps.Keys(p.line.Tool)) {
		var c call
		name, tool := strings.CutSuffix(k, "ToolCall")
		if !tool && k != "function" || !jsonl.Decode(p.line.Tool[k], &c) {
			continue
		}
		if k == "function" {
			name = string(c.Name)
			if jsonl.Null(c.Result) {
				c.Result = p.line.Tool["result"]
			}
			if c.Args = c.Arguments; len(c.Args) > 0 && c.Args[0] == '"' {
				var text string
				if json.Unmarshal(c.Args, &text) == nil {
					c.Args = json.RawMessage(text)
				}
			}
		}
		return name, &c, true
	}
	return "", nil, false
}

func (p *Parser) item(name string, c *call) *event.Item {
	var args struct {
		Command jsonl.Str `json:"command"`
		Path    jsonl.Str `json:"path"`
		Server  jsonl.Str `json:"providerIdentifier"`
		Tool    jsonl.Str `json:"toolName"`
		Term    jsonl.Str `json:"searchTerm"`
	}
	jsonl.Decode(c.Args, &args)
	change := func(kind string) *event.Item {
		return &event.Item{Type: event.FileChange, Changes: []event.Change{{Path: string(args.Path), Kind: kind}}}
	}
	switch {
	case name == "shell":
		return &event.Item{Type: event.Command, Command: string(args.Command), Cwd: p.cwd}
	case (name == "write" || name == "edit") && args.Path != "":
		return change("update")
	case name == "delete" && args.Path != "":
		return change("delete")
	case name == "webSearch" && args.Term != "":
		return &event.Item{Type: event.WebSearch, Query: string(args.Term)}
	case name == "task":
		name = "subagent"
	}
	it := &event.Item{Type: event.ToolCall, Server: p.name, Tool: name, Arguments: jsonl.Args(c.Args)}
	if name == "mcp" && args.Tool != "" {
		it.Tool = string(args.Tool)
		if args.Server != "" {
			it.Server = string(args.Server)
		}
	}
	return it
}

// todo takes the agent's list, which is told as its plan. The end of the call repeats
// it, or leaves it out.
func (p *Parser) todo(args json.RawMessage, out *agent.Batch) bool {
	var l struct {
		Todos []struct {
			Content jsonl.Str `json:"content"`
			Status  jsonl.Str `json:"status"`
		} `json:"todos"`
	}
	if !jsonl.Decode(args, &l) {
		return false
	}
	if string(p.line.Subtype) == "completed" {
		return true
	}
	steps := make([]plan.Step, len(l.Todos))
	for i, t := range l.Todos {
		steps[i] = plan.Step{Text: string(t.Content), Done: strings.HasSuffix(strings.ToLower(string(t.Status)), "completed")}
	}
	p.plan.Update(steps, out)
	return true
}

// outcome reads a result: one key that says how it went, and what came of it.
func outcome(it *event.Item, raw json.RawMessage) {
	var r struct {
		Success  json.RawMessage `json:"success"`
		Error    json.RawMessage `json:"error"`
		Rejected json.RawMessage `json:"rejected"`
		Failure  json.RawMessage `json:"failure"`
	}
	jsonl.Decode(raw, &r)
	for _, bad := range []json.RawMessage{r.Error, r.Rejected, r.Failure} {
		if !jsonl.Null(bad) {
			it.Status, it.Error = event.ItemFailed, complaint(bad)
			ran(it, bad)
			return
		}
	}
	it.Status = event.Done
	ran(it, r.Success)
	if it.Type == event.ToolCall && !jsonl.Null(r.Success) {
		it.Output = jsonl.Args(r.Success)
	}
}

// ran takes what a shell gave.
func ran(it *event.Item, raw json.RawMessage) {
	var s struct {
		Stdout jsonl.Str  `json:"stdout"`
		Stderr jsonl.Str  `json:"stderr"`
		Exit   *jsonl.Num `json:"exitCode"`
		Millis jsonl.Num  `json:"executionTime"`
	}
	if it.Type != event.Command || !jsonl.Decode(raw, &s) {
		return
	}
	it.Output, it.Millis = string(s.Stdout)+string(s.Stderr), int64(s.Millis)
	if s.Exit != nil {
		code := int(*s.Exit)
		if it.ExitCode = &code; code != 0 {
			it.Status = event.ItemFailed
		}
	}
}

func complaint(raw json.RawMessage) string {
	var e struct {
		Message jsonl.Str `json:"message"`
		Error   jsonl.Str `json:"error"`
		Reason  jsonl.Str `json:"reason"`
	}
	if jsonl.Decode(raw, &e) {
		for _, s := range []jsonl.Str{e.Message, e.Error, e.Reason} {
			if s != "" {
				return string(s)
			}
		}
	}
	return jsonl.Args(raw)
}
