package agents

import (
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// said is an input as it was read: what its messages have attached is not loaded
// yet.
type said struct {
	*spec.NewInput
	f        *fields
	name     string // of the field that it was read from
	attached []attached
}

// attached is a picture or a file that becomes a part of a message.
type attached struct {
	to *event.Part
	*files.Attachment
}

// readInput reads a field that is a text or a list of user messages: one input,
// which is one turn.
func readInput(f *fields, name string) *said {
	in := &said{NewInput: &spec.NewInput{Wire: "agents"}, f: f, name: name}
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
			in.Items = append(in.Items, userMessage(in.readMessage(m)))
		}
	}
	if strings.TrimSpace(in.Prompt()) == "" && !in.hasFile() {
		f.invalid(name, "must have some text")
	}
	in.checkSize()
	return in
}

func (in *said) hasFile() bool {
	return slices.ContainsFunc(in.attached, func(a attached) bool { return !a.Picture })
}

func (in *said) checkSize() {
	for _, it := range in.Items {
		if onWire(it) > maxMessage {
			in.f.invalid(in.name, "has a message of more than %d MiB; put long material into files of the workspace", maxMessage>>20)
		}
	}
}

// load puts what is attached into the messages of inputs, together at most what
// one request may bring.
func (w *Wire) load(c *call.Call, inputs ...*said) error {
	l := files.NewLoader(w.engine, c.Principal)
	for _, in := range inputs {
		for _, a := range in.attached {
			part, err := l.Load(c.Context(), a.Attachment)
			if err != nil {
				return err
			}
			*a.to = part
		}
		in.checkSize()
		if err := in.f.fault(); err != nil {
			return err
		}
	}
	return nil
}

// named is err with the place of a picture in the request. The engine refuses all
// pictures or none, and knows only the input that the first one is in.
func named(err error, inputs []*said) error {
	f, ok := event.AsFailure(err)
	if !ok || !strings.HasPrefix(f.Param, "input[") {
		return err
	}
	for _, in := range inputs {
		if in == nil {
			continue
		}
		for _, a := range in.attached {
			if a.Picture {
				at := *f
				at.Param = a.Param
				return &at
			}
		}
	}
	return err
}

// maxMessage bounds a user message as it stands in a frame, which SDKs read as
// one line of a few MiB at most.
const maxMessage = 7 << 20

// onWire is how much an item's texts and pictures take in JSON.
func onWire(it *event.Item) int {
	n := len(it.Text)
	for _, p := range it.Parts {
		n += len(p.Text) + len(p.ImageURL)
	}
	if n <= maxMessage/6 { // an escaped byte takes at most six
		return n
	}
	n = len(appendString(nil, it.Text))
	for _, p := range it.Parts {
		n += len(appendString(nil, p.Text)) + len(appendString(nil, p.ImageURL))
	}
	return n
}

func userMessage(parts []event.Part) *event.Item {
	it := &event.Item{Type: event.Message, Status: event.Done, User: true}
	if len(parts) == 1 && parts[0].Text != "" {
		it.Text = parts[0].Text
	} else {
		it.Parts = parts
	}
	return it
}

// readMessage gives the parts of a user message. What a coding agent would not
// get is refused, never left out.
func (in *said) readMessage(m *fields) []event.Part {
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
	parts := make([]event.Part, len(content))
	for i, raw := range content {
		p := m.element("content", i, raw)
		if p == nil {
			return nil
		}
		text, a := readPart(p)
		if parts[i].Text = text; a != nil {
			in.attached = append(in.attached, attached{&parts[i], a})
		}
	}
	return parts
}

// readPart gives a part's text, or what is attached with it.
func readPart(p *fields) (string, *files.Attachment) {
	var raw files.RawPart
	set(&raw.ImageURL, read[string](p, "image_url"))
	set(&raw.FileID, read[string](p, "file_id"))
	set(&raw.FileData, read[string](p, "file_data"))
	set(&raw.FileURL, read[string](p, "file_url"))
	set(&raw.Filename, read[string](p, "filename"))
	kind, text := p.word("type", partTypes...), read[string](p, "text")
	switch {
	case kind == nil || *kind == "":
		p.invalid("type", "must be one of %s", strings.Join(partTypes, ", "))
	case *kind != "input_text":
		return "", attachment(p, *kind, &raw)
	case text == nil || !p.given("text"):
		p.invalid("text", "must be a string")
	default:
		return *text, nil
	}
	return "", nil
}

func attachment(p *fields, kind string, raw *files.RawPart) *files.Attachment {
	if p.fault() != nil {
		return nil
	}
	a, err := files.ReadAttachment(p.at, kind, raw)
	if err != nil {
		*p.err = err
		return nil
	}
	return a
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
// of one message event. The inputs among the actions are to be loaded.
func readActions(f *fields) ([]spec.Action, []*said) {
	if f.has("type") && !f.has("events") { // an event that nothing is around
		f.fail(event.InvalidRequest, "type", "the fields of this request are events, a list of events such as this one, or input, a message by itself")
	}
	f.only(eventsFields...)
	busy := onBusy(f)
	if f.has("input") {
		if f.has("events") {
			f.invalid("input", "cannot be given together with events")
		}
		in := readInput(f, "input")
		in.OnBusy = busy
		return []spec.Action{{Input: in.NewInput}}, []*said{in}
	}
	events := f.list("events")
	if len(events) == 0 {
		f.invalid("events", "must be a list with at least one event")
		return nil, nil
	}
	actions := make([]spec.Action, 0, len(events))
	var inputs []*said
	for i, raw := range events {
		a, in := readAction(f, i, raw)
		if actions = append(actions, a); in != nil {
			in.OnBusy = busy
			inputs = append(inputs, in)
		}
	}
	return actions, inputs
}

// onBusy is the only metadata that input has a place for.
func onBusy(f *fields) spec.OnBusy {
	m := f.metadata("metadata")
	if m == nil {
		return ""
	}
	for k := range *m {
		if k != spec.OnBusyKey {
			f.fail(event.InvalidRequest, "metadata."+clip(k), "input has no metadata but "+spec.OnBusyKey+", which is queue, steer or reject; metadata is kept of sessions and agents")
		}
	}
	return spec.OnBusy((*m)[spec.OnBusyKey])
}

// meant is the kind that a wrong one most likely stands for: the one that ends with
// its last word, else the nearest by its letters. What is the beginning of all of
// them means none.
func meant(name string) string {
	const all = "agent.session.input"
	if strings.HasPrefix(all+".", strings.TrimSuffix(name, ".")+".") || name == "input" || name == "" {
		return ""
	}
	word := name[strings.LastIndexByte(name, '.')+1:]
	for _, k := range postedKinds {
		if strings.TrimPrefix(k, all+".") == word {
			return k
		}
	}
	return nearest(name, postedKinds)
}

func readAction(f *fields, i int, raw stdjson.RawMessage) (spec.Action, *said) {
	ev := f.element("events", i, raw)
	if ev == nil {
		return spec.Action{}, nil
	}
	kind := read[string](ev, "type")
	if kind == nil {
		ev.invalid("type", "must be a string")
		return spec.Action{}, nil
	}
	name := *kind
	if short, ok := strings.CutPrefix(name, "input."); ok {
		name = "agent.session.input." + short
	}
	switch name {
	case kindMessage:
		in := readInput(ev, "input")
		return spec.Action{Input: in.NewInput}, in
	case kindCancel:
		return spec.Action{Cancel: true}, nil
	case kindToolResult:
		return readToolResult(ev)
	case kindMCPApproval:
		return readApproval(ev), nil
	case kindComputerResult:
		f.fail(event.Unsupported, fmt.Sprintf("events[%d]", i),
			fmt.Sprintf("no turn of this host waits for a %s: its agents run their tools themselves", clip(name)))
	default:
		message := ev.path("type") + " is not a kind of input"
		if near := meant(name); near != "" {
			message += "; did you mean " + near + "?"
		} else {
			message += "; the kinds are " + strings.Join(postedKinds, ", ")
		}
		ev.fail(event.InvalidRequest, "type", message)
	}
	return spec.Action{}, nil
}
