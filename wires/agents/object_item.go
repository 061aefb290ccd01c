package agents

import (
	stdjson "encoding/json"

	"github.com/agenthost/agenthost/actors/event"
)

type messageItem struct {
	ID      string  `json:"id"`
	Content []any   `json:"content"`
	Phase   *string `json:"phase" enum:"commentary,final_answer"`
	Role    string  `json:"role" enum:"user,assistant"`
	Status  string  `json:"status" enum:"in_progress,completed,incomplete"`
	TurnID  string  `json:"turn_id"`
	Type    string  `json:"type" enum:"message"`
}

type textPart struct {
	Text wireText `json:"text"`
	Type string   `json:"type" enum:"input_text,output_text,summary_text"`
}

type imagePart struct {
	ImageURL string `json:"image_url"`
	Type     string `json:"type" enum:"input_image"`
}

type reasoningItem struct {
	ID      string     `json:"id"`
	Status  string     `json:"status" enum:"in_progress,completed,incomplete"`
	Summary []textPart `json:"summary"`
	TurnID  string     `json:"turn_id"`
	Type    string     `json:"type" enum:"reasoning"`
}

type commandItem struct {
	ID         string    `json:"id"`
	Command    string    `json:"command"`
	Cwd        *string   `json:"cwd"`
	DurationMS *int64    `json:"duration_ms"`
	ExitCode   *int      `json:"exit_code"`
	Output     *wireText `json:"output"`
	Status     string    `json:"status" enum:"in_progress,completed,failed,incomplete"`
	TurnID     string    `json:"turn_id"`
	Type       string    `json:"type" enum:"command_execution"`
}

type mcpItem struct {
	ID          string    `json:"id"`
	Arguments   any       `json:"arguments" as:"any"`
	Error       *string   `json:"error"`
	Name        string    `json:"name"`
	Output      *wireText `json:"output"`
	ServerLabel string    `json:"server_label"`
	Status      string    `json:"status" enum:"in_progress,completed,failed,incomplete"`
	TurnID      string    `json:"turn_id"`
	Type        string    `json:"type" enum:"mcp_call"`
}

type webSearchItem struct {
	ID     string `json:"id"`
	Action any    `json:"action"`
	Status string `json:"status" enum:"in_progress,completed,incomplete"`
	TurnID string `json:"turn_id"`
	Type   string `json:"type" enum:"web_search_call"`
}

type searchAction struct {
	Queries []string `json:"queries" null:"true"`
	Query   *string  `json:"query"`
	Type    string   `json:"type" enum:"search"`
}

type openPageAction struct {
	Type string  `json:"type" enum:"open_page"`
	URL  *string `json:"url"`
}

// items are the values of every item of this wire.
func items() []any { return append([]any{messageItem{}}, outputs()[1:]...) }

// outputs are those of a turn's own items. The caller's messages are never done.
func outputs() []any {
	return []any{outputMessage{}, reasoningItem{}, commandItem{}, mcpItem{}, webSearchItem{}, functionCallItem{}, functionOutputItem{}}
}

// outputMessage is a messageItem of the agent.
type outputMessage struct {
	ID      string     `json:"id"`
	Content []textPart `json:"content"`
	Phase   *string    `json:"phase" enum:"commentary,final_answer"`
	Role    string     `json:"role" enum:"assistant"`
	Status  string     `json:"status" enum:"in_progress,completed,incomplete"`
	TurnID  string     `json:"turn_id"`
	Type    string     `json:"type" enum:"message"`
}

// Variants implements openapi.Variants.
func (messageItem) Variants() map[string][]any {
	return map[string][]any{"content": {textPart{}, imagePart{}}}
}

// Variants implements openapi.Variants.
func (webSearchItem) Variants() map[string][]any {
	return map[string][]any{"action": {searchAction{}, openPageAction{}, nil}}
}

// Names of the calls that this wire has no item of their own for.
const (
	fileChangeTool = "file_change"
	subagentTool   = "subagent"
)

// itemObject is an item in this wire's shape.
func itemObject(turn event.ID, it *event.Item) any {
	id, turnID := it.ID.With(event.PrefixItem), turn.With(event.PrefixTurn)
	switch it.Type {
	case event.Message:
		return message(id, turnID, it)
	case event.FunctionCall:
		return functionCall(turnID, it)
	case event.FunctionOutput:
		return functionOutput(turnID, it)
	case event.Reasoning:
		o := reasoningItem{ID: id, Status: outputStatus(it), Summary: []textPart{}, TurnID: turnID, Type: "reasoning"}
		if it.Text != "" || it.Status != event.InProgress {
			o.Summary = append(o.Summary, textPart{Text: wireText(it.Text), Type: "summary_text"})
		}
		return o
	case event.Command:
		o := commandItem{
			ID: id, Command: it.Command, Cwd: nullable(it.Cwd), ExitCode: it.ExitCode,
			Output: output(it), Status: it.Status.String(), TurnID: turnID, Type: "command_execution",
		}
		if it.Millis > 0 {
			o.DurationMS = &it.Millis
		}
		if it.Status == event.Done && it.ExitCode != nil && *it.ExitCode != 0 {
			o.Status = event.ItemFailed.String()
		}
		return o
	case event.WebSearch:
		return webSearchItem{ID: id, Action: searched(it), Status: outputStatus(it), TurnID: turnID, Type: "web_search_call"}
	}
	o := mcpItem{
		ID: id, Arguments: arguments(it.Arguments), Error: nullable(it.Error), Name: it.Tool, Output: output(it),
		ServerLabel: it.Server, Status: it.Status.String(), TurnID: turnID, Type: "mcp_call",
	}
	switch it.Type {
	case event.FileChange:
		o.Name, o.Arguments = fileChangeTool, changes{append([]event.Change{}, it.Changes...)}
	case event.Subagent:
		o.Name = subagentTool
	}
	return o
}

type changes struct {
	Changes []event.Change `json:"changes"`
}

func message(id, turnID string, it *event.Item) messageItem {
	o := messageItem{ID: id, Content: []any{}, Role: "assistant", Status: outputStatus(it), TurnID: turnID, Type: "message"}
	if it.User {
		o.Role = "user"
		for _, p := range it.Parts {
			if p.ImageURL != "" {
				o.Content = append(o.Content, imagePart{ImageURL: p.ImageURL, Type: "input_image"})
			} else {
				o.Content = append(o.Content, textPart{Text: wireText(p.Text), Type: "input_text"})
			}
		}
		if len(it.Parts) == 0 {
			o.Content = append(o.Content, textPart{Text: wireText(it.Text), Type: "input_text"})
		}
		return o
	}
	if it.Text != "" || it.Status != event.InProgress {
		o.Content = append(o.Content, textPart{Text: wireText(it.Text), Type: "output_text"})
	}
	switch it.Phase {
	case event.Commentary:
		o.Phase = nullable("commentary")
	case event.FinalAnswer:
		o.Phase = nullable("final_answer")
	}
	return o
}

// outputStatus is the status of items that cannot be failed on this wire.
func outputStatus(it *event.Item) string {
	if it.Status == event.ItemFailed {
		return event.Incomplete.String()
	}
	return it.Status.String()
}

// output is null until there is some, or the call is over without an error.
func output(it *event.Item) *wireText {
	if it.Output == "" && (it.Status == event.InProgress || it.Error != "" || it.Type == event.FileChange) {
		return nil
	}
	text := wireText(it.Output)
	return &text
}

func searched(it *event.Item) any {
	switch {
	case it.Query != "":
		return searchAction{Query: &it.Query, Type: "search"}
	case it.URL != "":
		return openPageAction{Type: "open_page", URL: &it.URL}
	}
	return nil
}

// arguments are a call's arguments as JSON; text that is none stays a text.
func arguments(s string) any {
	if s == "" {
		return struct{}{}
	}
	if raw := oneLine([]byte(s), ""); len(raw) > 0 {
		return stdjson.RawMessage(raw)
	}
	return s
}
