package responses

import (
	"strconv"

	"github.com/agenthost/agenthost/actors/event"
)

type messageItem struct {
	ID      string       `json:"id"`
	Type    string       `json:"type" enum:"message"`
	Status  string       `json:"status" enum:"in_progress,completed,incomplete"`
	Role    string       `json:"role" enum:"assistant"`
	Phase   string       `json:"phase,omitempty" enum:"commentary,final_answer"`
	Content []outputText `json:"content"`
}

type outputText struct {
	Type        string     `json:"type" enum:"output_text"`
	Annotations []struct{} `json:"annotations" maxitems:"0"`
	Logprobs    []struct{} `json:"logprobs" maxitems:"0"`
	Text        string     `json:"text"`
}

type reasoningItem struct {
	ID      string        `json:"id"`
	Type    string        `json:"type" enum:"reasoning"`
	Status  string        `json:"status" enum:"in_progress,completed,incomplete"`
	Summary []summaryText `json:"summary"`
}

type summaryText struct {
	Type string `json:"type" enum:"summary_text"`
	Text string `json:"text"`
}

type mcpCall struct {
	ID          string     `json:"id"`
	Type        string     `json:"type" enum:"mcp_call"`
	Status      string     `json:"status" enum:"in_progress,completed,incomplete,failed"`
	Approval    *string    `json:"approval_request_id"`
	Arguments   string     `json:"arguments"`
	Error       *toolError `json:"error"`
	Name        string     `json:"name"`
	Output      *string    `json:"output"`
	ServerLabel string     `json:"server_label"`
}

type toolError struct {
	Type    string     `json:"type" enum:"mcp_tool_execution_error"`
	Content []textPart `json:"content"`
}

type textPart struct {
	Type string `json:"type" enum:"text"`
	Text string `json:"text"`
}

type functionCall struct {
	ID        string `json:"id"`
	Type      string `json:"type" enum:"function_call"`
	Status    string `json:"status" enum:"in_progress,completed,incomplete"`
	Arguments string `json:"arguments"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
}

type approvalRequest struct {
	ID          string `json:"id"`
	Type        string `json:"type" enum:"mcp_approval_request"`
	Arguments   string `json:"arguments"`
	Name        string `json:"name"`
	ServerLabel string `json:"server_label"`
}

type functionOutput struct {
	ID     string `json:"id"`
	Type   string `json:"type" enum:"function_call_output"`
	Status string `json:"status" enum:"completed,incomplete"`
	CallID string `json:"call_id"`
	Output any    `json:"output"`
}

// Variants implements openapi.Variants.
func (functionOutput) Variants() map[string][]any {
	return map[string][]any{"output": {"", []outputPart{}}}
}

// outputPart describes a part of a function's output.
type outputPart struct {
	Type     string `json:"type" enum:"input_text,input_image"`
	Text     string `json:"text,omitempty"`
	Detail   string `json:"detail,omitempty" enum:"auto"`
	ImageURL string `json:"image_url,omitempty"`
}

type approvalResponse struct {
	ID      string  `json:"id"`
	Type    string  `json:"type" enum:"mcp_approval_response"`
	Request string  `json:"approval_request_id"`
	Approve bool    `json:"approve"`
	Reason  *string `json:"reason"`
}

type webSearch struct {
	ID     string `json:"id"`
	Type   string `json:"type" enum:"web_search_call"`
	Status string `json:"status" enum:"in_progress,completed,incomplete,failed"`
	Action any    `json:"action"`
}

type searchAction struct {
	Type    string   `json:"type" enum:"search"`
	Query   string   `json:"query"`
	Queries []string `json:"queries"`
}

type openAction struct {
	Type string `json:"type" enum:"open_page"`
	URL  string `json:"url"`
}

// Variants implements openapi.Variants.
func (webSearch) Variants() map[string][]any {
	return map[string][]any{"action": {searchAction{}, openAction{}}}
}

// outputItems are the values of every output item.
func outputItems() []any {
	return []any{messageItem{}, reasoningItem{}, mcpCall{}, webSearch{}, functionCall{}, approvalRequest{}}
}

// outputItem is an output item as it stands. The same function makes the items of
// streams and of objects.
func outputItem(it *event.Item) any {
	id, status := it.ID.With(event.PrefixItem), it.Status.String()
	open := it.Status == event.InProgress
	switch it.Type {
	case event.Message:
		m := messageItem{ID: id, Type: "message", Status: status, Role: "assistant", Phase: phase(it.Phase), Content: []outputText{}}
		if it.Status == event.ItemFailed {
			m.Status = "incomplete" // a message has no other word for it
		}
		if !open || it.Text != "" {
			m.Content = append(m.Content, textOf(it.Text))
		}
		return m
	case event.Reasoning:
		r := reasoningItem{ID: id, Type: "reasoning", Status: status, Summary: []summaryText{}}
		if it.Status == event.ItemFailed {
			r.Status = "incomplete"
		}
		if !open || it.Text != "" {
			r.Summary = append(r.Summary, summaryText{"summary_text", it.Text})
		}
		return r
	case event.WebSearch:
		w := webSearch{ID: id, Type: "web_search_call", Status: status, Action: searchAction{"search", it.Query, []string{it.Query}}}
		if it.Query == "" && it.URL != "" {
			w.Action = openAction{"open_page", it.URL}
		}
		return w
	case event.FunctionCall:
		// It is whole when it is told, whatever becomes of its answer.
		return functionCall{ID: id, Type: "function_call", Status: "completed", Arguments: argumentText(it), CallID: it.ID.With(event.PrefixCall), Name: it.Tool}
	case event.Approval:
		return approvalRequest{ID: id, Type: "mcp_approval_request", Arguments: argumentText(it), Name: it.Tool, ServerLabel: it.Server}
	default:
		return callOf(it, id, status)
	}
}

func textOf(text string) outputText {
	return outputText{Type: "output_text", Annotations: []struct{}{}, Logprobs: []struct{}{}, Text: text}
}

func phase(p event.Phase) string {
	switch p {
	case event.Commentary:
		return "commentary"
	case event.FinalAnswer:
		return "final_answer"
	default:
		return ""
	}
}

// callOf shows everything that a CLI does with a tool as a call of an MCP tool:
// the only tool item that clients pass on without wanting to run it themselves.
func callOf(it *event.Item, id, status string) mcpCall {
	c := mcpCall{ID: id, Type: "mcp_call", Status: status, Arguments: arguments(it), Name: callName(it), ServerLabel: it.Server}
	if c.ServerLabel == "" {
		c.ServerLabel = "agent"
	}
	failed := toolFailed(it)
	if failed {
		c.Status = "failed"
		c.Error = &toolError{"mcp_tool_execution_error", []textPart{{"text", failure(it)}}}
	}
	closed := it.Status != event.InProgress
	if it.Output != "" || closed && (it.Type == event.Command || it.Type != event.FileChange && !failed) {
		out := fitting(it.Output)
		c.Output = &out
	}
	return c
}

func toolFailed(it *event.Item) bool {
	return it.Status == event.ItemFailed ||
		it.Status == event.Done && it.Type == event.Command && it.ExitCode != nil && *it.ExitCode != 0
}

func callName(it *event.Item) string {
	switch it.Type {
	case event.Command:
		return "command_execution"
	case event.FileChange:
		return "file_change"
	case event.Subagent:
		return "subagent"
	default:
		if it.Tool == "" {
			return "tool"
		}
		return it.Tool
	}
}

func arguments(it *event.Item) string {
	switch it.Type {
	case event.Command:
		b := appendPlain([]byte(`{"command":`), it.Command)
		if it.Cwd != "" {
			b = appendPlain(append(b, `,"cwd":`...), it.Cwd)
		}
		return string(append(b, '}'))
	case event.FileChange:
		b := []byte(`{"changes":[`)
		for i, ch := range it.Changes {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendPlain(append(b, `{"path":`...), ch.Path)
			b = appendPlain(append(b, `,"kind":`...), ch.Kind)
			b = append(b, '}')
		}
		return string(append(b, "]}"...))
	default:
		return argumentText(it)
	}
}

func argumentText(it *event.Item) string {
	if it.Arguments == "" {
		return "{}"
	}
	return it.Arguments
}

// errorTail is how much of a failed call's output its error repeats.
const errorTail = 4 << 10

func failure(it *event.Item) string {
	text := it.Error
	if text == "" {
		text = tail(it.Output, errorTail)
	}
	if it.ExitCode != nil {
		if text != "" && text[len(text)-1] != '\n' {
			text += "\n"
		}
		text += "exit code " + strconv.Itoa(*it.ExitCode)
	}
	if text == "" {
		text = "the call failed without a reason"
	}
	return text
}

type inputMessage struct {
	ID      string `json:"id"`
	Type    string `json:"type" enum:"message"`
	Status  string `json:"status" enum:"completed"`
	Role    string `json:"role" enum:"user"`
	Content []any  `json:"content"`
}

type inputText struct {
	Type string `json:"type" enum:"input_text"`
	Text string `json:"text"`
}

type inputImage struct {
	Type     string `json:"type" enum:"input_image"`
	Detail   string `json:"detail" enum:"auto"`
	ImageURL string `json:"image_url"`
}

// Variants implements openapi.Variants.
func (inputMessage) Variants() map[string][]any {
	return map[string][]any{"content": {inputText{}, inputImage{}}}
}

// inputItem is what a caller said: a message, or an answer to what it was asked.
func inputItem(it *event.Item) any {
	switch it.Type {
	case event.FunctionOutput:
		o := functionOutput{ID: it.ID.With(event.PrefixItem), Type: "function_call_output", Status: "completed", CallID: it.Call.With(event.PrefixCall), Output: it.Output}
		if it.Output == "" {
			o.Output = it.Error
		}
		if len(it.Parts) > 0 {
			o.Output = inputParts(it)
		}
		return o
	case event.ApprovalAnswer:
		a := approvalResponse{ID: it.ID.With(event.PrefixItem), Type: "mcp_approval_response", Request: it.Call.With(event.PrefixItem), Approve: it.Approved}
		if it.Text != "" {
			a.Reason = &it.Text
		}
		return a
	default:
		return inputMessage{ID: it.ID.With(event.PrefixItem), Type: "message", Status: "completed", Role: "user", Content: inputParts(it)}
	}
}

func inputParts(it *event.Item) []any {
	content := []any{}
	if it.Text != "" || len(it.Parts) == 0 {
		content = append(content, inputText{"input_text", it.Text})
	}
	for _, p := range it.Parts {
		if p.ImageURL != "" {
			content = append(content, inputImage{"input_image", "auto", p.ImageURL})
		} else {
			content = append(content, inputText{"input_text", p.Text})
		}
	}
	return content
}

// conversationMessage is a message of a conversation, whoever it is from.
type conversationMessage struct {
	ID      string `json:"id"`
	Type    string `json:"type" enum:"message"`
	Status  string `json:"status" enum:"in_progress,completed,incomplete"`
	Role    string `json:"role" enum:"user,assistant,system,developer"`
	Phase   string `json:"phase,omitempty" enum:"commentary,final_answer"`
	Content []any  `json:"content"`
}

// Variants implements openapi.Variants.
func (conversationMessage) Variants() map[string][]any {
	return map[string][]any{"content": described(itemParts, partKinds)}
}

// conversationItems are the shapes of every item of a conversation: those of posted
// items hold what responses and their inputs have, too.
func conversationItems() []any {
	return append([]any{conversationMessage{}}, described(itemKinds, kinds)...)
}
