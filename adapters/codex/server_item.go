package codex

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// threadItem is the union of what the app-server calls items: what exec tells, under
// other names.
type threadItem struct {
	ID     jsonl.Str `json:"id"`
	Type   jsonl.Str `json:"type"`
	Status jsonl.Str `json:"status"`

	Text    jsonl.Str   `json:"text"`
	Summary []jsonl.Str `json:"summary"`

	Command  jsonl.Str  `json:"command"`
	Output   jsonl.Str  `json:"aggregatedOutput"`
	ExitCode *jsonl.Num `json:"exitCode"`

	Changes []struct {
		Path jsonl.Str `json:"path"`
		Kind struct {
			Type jsonl.Str `json:"type"`
		} `json:"kind"`
	} `json:"changes"`

	Server    jsonl.Str       `json:"server"`
	Tool      jsonl.Str       `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Prompt    jsonl.Str       `json:"prompt"`
	Threads   []jsonl.Str     `json:"receiverThreadIds"`
	States    json.RawMessage `json:"agentsStates"`

	Query jsonl.Str `json:"query"`
	// Client is what the host named a message.
	Client jsonl.Str `json:"clientId"`
}

// saidByBoth are the types that exec knows too; silentItems say nothing that a caller
// is told.
var saidByBoth = map[string]string{
	"agentMessage": "agent_message", "reasoning": "reasoning", "commandExecution": "command_execution",
	"fileChange": "file_change", "mcpToolCall": "mcp_tool_call", "collabAgentToolCall": "collab_tool_call", "webSearch": "web_search",
}

var silentItems = map[string]bool{
	"userMessage": true, "hookPrompt": true, "plan": true, "contextCompaction": true, "imageView": true, "sleep": true,
	"enteredReviewMode": true, "exitedReviewMode": true, "subAgentActivity": true, "functionCallOutput": true,
}

// item takes an item's beginning or end.
func (s *served) item(raw json.RawMessage, closes bool, whole []byte, said *agent.Said) {
	b := said.Batch
	var it threadItem
	if jsonl.Null(raw) || !jsonl.Decode(raw, &it) {
		jsonl.Unknown(whole, b)
		return
	}
	kind, known := saidByBoth[string(it.Type)]
	if it.Type == "userMessage" && it.Client != "" {
		s.shown(string(it.Client), said)
	}
	if !known {
		if !silentItems[string(it.Type)] {
			jsonl.Unknown(whole, b)
		}
		return
	}
	key := string(it.ID)
	e := &item{
		ID: it.ID, Type: jsonl.Word(kind), Status: jsonl.Word(snake(string(it.Status))), Text: it.Text,
		Command: it.Command, Output: it.Output, ExitCode: it.ExitCode,
		Server: it.Server, Tool: it.Tool, Arguments: it.Arguments, Result: it.Result, Error: it.Error,
		Prompt: it.Prompt, Threads: it.Threads, Query: it.Query,
	}
	switch kind {
	case "agent_message":
		if !closes || it.Text == "" {
			return // its pieces come by themselves
		}
	case "reasoning":
		parts := make([]string, len(it.Summary))
		for i, part := range it.Summary {
			parts[i] = string(part)
		}
		e.Text = jsonl.Str(strings.Join(parts, "\n\n"))
		if !closes || e.Text == "" {
			return
		}
	case "command_execution":
		if s.tools = true; closes {
			delete(s.running, key)
		} else {
			s.running[key] = true
		}
	case "file_change":
		paths := make([]string, len(it.Changes))
		for i, c := range it.Changes {
			paths[i] = string(c.Path)
			e.Changes = append(e.Changes, change{Path: c.Path, Kind: jsonl.Word(c.Kind.Type)})
		}
		s.changes[key] = paths
	case "mcp_tool_call":
		s.tools = true
	case "collab_tool_call":
		s.tools = true
		e.Tool, e.States = jsonl.Str(snake(string(it.Tool))), snakeStates(it.States)
	}
	s.parser.item(e, closes, whole, b)
}

// snake is a camelCase word as exec writes it.
func snake(word string) string {
	var b strings.Builder
	for _, r := range word {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// snakeStates are agents' states with their words as exec writes them.
func snakeStates(raw json.RawMessage) json.RawMessage {
	var states map[string]struct {
		Status  jsonl.Str `json:"status"`
		Message jsonl.Str `json:"message"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &states) {
		return nil
	}
	out := make(map[string]map[string]string, len(states))
	for id, state := range states {
		out[id] = map[string]string{"status": snake(string(state.Status)), "message": string(state.Message)}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return nil // only strings come here
	}
	return b
}
