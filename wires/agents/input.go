package agents

import (
	stdjson "encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// readInput reads a field that is a text or a list of user messages: one input,
// which is one turn.
func readInput(f *fields, name string) *spec.NewInput {
	in := &spec.NewInput{Wire: "agents"}
	if raw := f.m[name]; len(raw) > 0 && raw[0] == '"' {
		if s := read[string](f, name); s != nil {
			in.Items = append(in.Items, userMessage([]event.Part{{Text: *s}}))
		}
	} else {
		for i, raw := range f.list(name) {
			m := f.element(name, i, raw)
			if m == nil {
				return in
			}
			in.Items = append(in.Items, userMessage(readMessage(m)))
		}
	}
	if strings.TrimSpace(in.Prompt()) == "" {
		f.invalid(name, "must have some text")
	}
	for _, it := range in.Items {
		if onWire(it) > maxMessage {
			f.invalid(name, "has a message of more than %d MiB; put long material into files of the workspace", maxMessage>>20)
		}
	}
	return in
}

// maxMessage bounds a user message as it stands in a frame, which SDKs read as
// one line of a few MiB at most.
const maxMessage = 7 << 20

// onWire is how much an item's texts take in JSON.
func onWire(it *event.Item) int {
	n := len(it.Text)
	for _, p := range it.Parts {
		n += len(p.Text)
	}
	if n <= maxMessage/6 { // an escaped byte takes at most six
		return n
	}
	n = len(appendString(nil, it.Text))
	for _, p := range it.Parts {
		n += len(appendString(nil, p.Text))
	}
	return n
}

func userMessage(parts []event.Part) *event.Item {
	it := &event.Item{Type: event.Message, Status: event.Done, User: true}
	if len(parts) == 1 {
		it.Text = parts[0].Text
	} else {
		it.Parts = parts
	}
	return it
}

// readMessage gives the parts of a user message. What a coding agent would not
// get is refused, never left out.
func readMessage(m *fields) []event.Part {
	if kind := read[string](m, "type"); kind != nil && m.given("type") && *kind != "message" {
		m.invalid("type", "must be message")
	}
	if role := read[string](m, "role"); role == nil || *role != "user" {
		m.invalid("role", "must be user")
	}
	if raw := m.m["content"]; len(raw) > 0 && raw[0] == '"' {
		if s := read[string](m, "content"); s != nil {
			return []event.Part{{Text: *s}}
		}
		return nil
	}
	content := m.list("content")
	if len(content) == 0 {
		m.invalid("content", "must be a list of parts with at least one")
	}
	var parts []event.Part
	for i, raw := range content {
		p := m.element("content", i, raw)
		if p == nil {
			return nil
		}
		parts = append(parts, event.Part{Text: readPart(p)})
	}
	return parts
}

func readPart(p *fields) string {
	kind := read[string](p, "type")
	switch {
	case kind == nil:
		p.invalid("type", "must be input_text")
	case *kind == "input_image":
		p.fail(event.Unsupported, "type", "coding agents of this host take text only; an image would not reach them")
	case *kind != "input_text":
		p.invalid("type", "must be input_text")
	}
	text := read[string](p, "text")
	if text == nil || !p.given("text") {
		p.invalid("text", "must be a string")
		return ""
	}
	return *text
}

// Kinds of posted events. The short ones are what existing deployments send.
const (
	kindMessage        = "agent.session.input.message"
	kindCancel         = "agent.session.input.cancel"
	kindToolResult     = "agent.session.input.tool_result"
	kindMCPApproval    = "agent.session.input.mcp_approval_request_result"
	kindComputerResult = "agent.session.input.computer_use_approval_request_result"
)

var postedKinds = []string{kindMessage, kindCancel, kindToolResult, kindMCPApproval, kindComputerResult}

// readActions reads the body of POST events: `events`, or `input` as a shorthand
// of one message event.
func readActions(f *fields) []spec.Action {
	f.only(eventsFields...)
	if f.has("input") {
		if f.has("events") {
			f.invalid("input", "cannot be given together with events")
		}
		return []spec.Action{{Input: readInput(f, "input")}}
	}
	events := f.list("events")
	if len(events) == 0 {
		f.invalid("events", "must be a list with at least one event")
		return nil
	}
	actions := make([]spec.Action, 0, len(events))
	for i, raw := range events {
		actions = append(actions, readAction(f, i, raw))
	}
	return actions
}

func readAction(f *fields, i int, raw stdjson.RawMessage) spec.Action {
	ev := f.element("events", i, raw)
	if ev == nil {
		return spec.Action{}
	}
	kind := read[string](ev, "type")
	if kind == nil {
		ev.invalid("type", "must be a string")
		return spec.Action{}
	}
	name := *kind
	if short, ok := strings.CutPrefix(name, "input."); ok {
		name = "agent.session.input." + short
	}
	switch name {
	case kindMessage:
		return spec.Action{Input: readInput(ev, "input")}
	case kindCancel:
		return spec.Action{Cancel: true}
	case kindToolResult, kindMCPApproval, kindComputerResult:
		f.fail(event.Unsupported, fmt.Sprintf("events[%d]", i),
			fmt.Sprintf("no turn of this host waits for a %s: its agents run their tools themselves", clip(name)))
	default:
		message := ev.path("type") + " is not a kind of input"
		if near := nearest(name, postedKinds); near != "" {
			message += "; did you mean " + near + "?"
		}
		ev.fail(event.InvalidRequest, "type", message)
	}
	return spec.Action{}
}
