package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// What a waiting turn asks of its caller, and what the caller says to it.

type functionCallItem struct {
	ID        string `json:"id"`
	Arguments any    `json:"arguments" as:"any"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Status    string `json:"status" enum:"in_progress,completed,failed,incomplete"`
	TurnID    string `json:"turn_id"`
	Type      string `json:"type" enum:"function_call"`
}

type functionOutputItem struct {
	ID     string  `json:"id"`
	CallID string  `json:"call_id"`
	Error  *string `json:"error"`
	Output any     `json:"output"`
	Status string  `json:"status" enum:"in_progress,completed,failed,incomplete"`
	TurnID string  `json:"turn_id"`
	Type   string  `json:"type" enum:"function_call_output"`
}

// Variants implements openapi.Variants.
func (functionOutputItem) Variants() map[string][]any {
	return map[string][]any{"output": {"", []outputPart{}, nil}}
}

// outputPart describes a part of a function's output.
type outputPart struct {
	Type     string `json:"type" enum:"input_text,input_image"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type functionAction struct {
	Arguments any    `json:"arguments" as:"any"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	TurnID    string `json:"turn_id"`
	Type      string `json:"type" enum:"function_call"`
}

type approvalAction struct {
	Request   approvalRequest `json:"request"`
	RequestID string          `json:"request_id"`
	TurnID    string          `json:"turn_id"`
	Type      string          `json:"type" enum:"mcp_approval_request"`
}

type approvalRequest struct {
	Arguments   any     `json:"arguments" as:"any"`
	Message     string  `json:"message"`
	Name        *string `json:"name"`
	ServerLabel string  `json:"server_label"`
	Type        string  `json:"type" enum:"mcp_tool_call"`
}

// requiredActions are what the session's waiting turn asks.
func requiredActions(s *fold.Session) []any {
	out := make([]any, 0, len(s.Required))
	for _, it := range s.Required {
		turn := event.TurnOf(it.ID).With(event.PrefixTurn)
		if it.Type == event.Approval {
			out = append(out, approvalAction{
				Request: approvalRequest{
					Arguments: arguments(it.Arguments), Message: it.Text, Name: nullable(it.Tool), ServerLabel: it.Server, Type: "mcp_tool_call",
				},
				RequestID: it.ID.With(event.PrefixItem), TurnID: turn, Type: "mcp_approval_request",
			})
			continue
		}
		out = append(out, functionAction{
			Arguments: arguments(it.Arguments), CallID: it.ID.With(event.PrefixCall), Name: it.Tool, TurnID: turn, Type: "function_call",
		})
	}
	return out
}

func functionCall(turnID string, it *event.Item) functionCallItem {
	return functionCallItem{
		ID: it.ID.With(event.PrefixItem), Arguments: arguments(it.Arguments), CallID: it.ID.With(event.PrefixCall),
		Name: it.Tool, Status: it.Status.String(), TurnID: turnID, Type: "function_call",
	}
}

func functionOutput(turnID string, it *event.Item) functionOutputItem {
	o := functionOutputItem{
		ID: it.ID.With(event.PrefixItem), CallID: it.Call.With(event.PrefixCall), Error: nullable(it.Error),
		Status: it.Status.String(), TurnID: turnID, Type: "function_call_output",
	}
	switch {
	case len(it.Parts) > 0:
		parts := make([]any, len(it.Parts))
		for i, p := range it.Parts {
			if p.ImageURL != "" {
				parts[i] = imagePart{ImageURL: p.ImageURL, Type: "input_image"}
			} else {
				parts[i] = textPart{Text: wireText(p.Text), Type: "input_text"}
			}
		}
		o.Output = parts
	case it.Output != "" || it.Error == "":
		o.Output = wireText(it.Output)
	}
	return o
}

// shows reports whether an item has a place on this wire: an approval is a required
// action and no item.
func shows(it *event.Item) bool { return it.Type != event.Approval && it.Type != event.ApprovalAnswer }

// waiting says what the turn asks.
func (r *renderer) waiting(v *fold.View) {
	if v != nil {
		r.sessionFrame("agent.session.requires_action", v)
	}
}

// answered says what a caller said.
func (r *renderer) answered(ev *event.Event) {
	it, ok := ev.Body.(*event.Item)
	if !ok || !shows(it) {
		return
	}
	r.said(ev.Turn, []*event.Item{it})
}

// toolResultBody describes the answer to a function call.
type toolResultBody struct {
	Type    string  `json:"type" need:"true" enum:"agent.session.input.tool_result,input.tool_result"`
	CallID  string  `json:"call_id" need:"true"`
	TurnID  string  `json:"turn_id" need:"true"`
	Success bool    `json:"success" need:"true"`
	Output  any     `json:"output"`
	Error   *string `json:"error"`
}

// Variants implements openapi.Variants.
func (toolResultBody) Variants() map[string][]any {
	return map[string][]any{"output": {"", []partBody{}}}
}

// approvalBody describes the answer to a question for permission. Reason is ours: it
// is told to the agent.
type approvalBody struct {
	Type      string           `json:"type" need:"true" enum:"agent.session.input.mcp_approval_request_result,input.mcp_approval_request_result"`
	RequestID string           `json:"request_id" need:"true"`
	Response  approvalDecision `json:"response" need:"true"`
}

type approvalDecision struct {
	Type     string `json:"type" need:"true" enum:"mcp_tool_call"`
	Decision string `json:"decision" need:"true" enum:"approve,deny,cancel"`
	Reason   string `json:"reason"`
}

// readToolResult reads the answer to a function call.
func readToolResult(ev *fields) (spec.Action, *said) {
	a := &spec.Answer{}
	written := read[string](ev, "call_id")
	success := read[bool](ev, "success")
	if written == nil {
		ev.invalid("call_id", "must be a string")
	}
	if success == nil || !ev.given("success") {
		ev.invalid("success", "must be true or false")
	}
	if ev.fault() != nil {
		return spec.Action{}, nil
	}
	var ok bool
	a.Item, ok = event.Parse(*written, event.PrefixCall)
	if turn := read[string](ev, "turn_id"); turn != nil && ev.given("turn_id") {
		id, fits := event.Parse(*turn, event.PrefixTurn, event.PrefixResponse)
		ok = ok && fits && id == event.TurnOf(a.Item)
	}
	if !ok {
		ev.fail(event.CallUnknown, "call_id", "no call with the id "+clip(*written)+" waits for an answer in this turn")
		return spec.Action{}, nil
	}
	a.Failed = !*success
	set(&a.Error, read[string](ev, "error"))
	if a.Failed && a.Error == "" {
		a.Error = "the tool failed without telling why"
	}
	if raw := ev.m["output"]; ev.given("output") && raw[0] != '"' {
		in := &said{NewInput: &spec.NewInput{}, f: ev, name: "output"}
		list := ev.list("output")
		a.Parts = make([]event.Part, len(list))
		for i, raw := range list {
			p := ev.element("output", i, raw)
			if p == nil {
				return spec.Action{}, nil
			}
			text, file := readPart(p)
			if a.Parts[i].Text = text; file != nil {
				in.attached = append(in.attached, attached{&a.Parts[i], file})
			}
		}
		return spec.Action{Answer: a}, in
	}
	set(&a.Output, read[string](ev, "output"))
	return spec.Action{Answer: a}, nil
}

// readApproval reads the answer to a question for permission.
func readApproval(ev *fields) spec.Action {
	a := &spec.Answer{Permission: true}
	written := read[string](ev, "request_id")
	response := ev.object("response")
	if written == nil {
		ev.invalid("request_id", "must be a string")
	}
	if response == nil {
		ev.invalid("response", "must be an object")
	}
	if ev.fault() != nil {
		return spec.Action{}
	}
	var ok bool
	if a.Item, ok = event.Parse(*written, event.PrefixItem); !ok {
		ev.fail(event.CallUnknown, "request_id", "no question with the id "+clip(*written)+" waits for an answer")
	}
	if kind := response.word("type", "mcp_tool_call"); kind == nil || *kind == "" {
		response.invalid("type", "must be mcp_tool_call")
	}
	switch decision := response.word("decision", "approve", "deny", "cancel"); {
	case decision == nil || *decision == "":
		response.invalid("decision", "must be one of approve, deny, cancel")
	default:
		a.Approve, a.Cancel = *decision == "approve", *decision == "cancel"
	}
	set(&a.Reason, read[string](response, "reason"))
	return spec.Action{Answer: a}
}
