package responses

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// input is what the caller says: the last user message is the prompt, what stands
// around it becomes a preface, system and developer messages are instructions.
type input struct {
	instructions string // of the request
	said         []*saidItem
	last         int // the prompt's place in said, -1 without one
	// answers are the items at the end that answer what a turn asked.
	answers []*saidAnswer
	// passed are the last such items where they are not at the end.
	passed []*saidAnswer
}

// picture is where the prompt's first picture stands, "" without one.
func (in *input) picture() string {
	if in.last < 0 {
		return ""
	}
	for _, a := range in.said[in.last].attached {
		if a.Picture {
			return a.Param
		}
	}
	return ""
}

func (in *input) read(raw []byte) error {
	if len(raw) == 0 || isNull(raw) {
		return event.FailParam(event.InvalidRequest, "input", "input is required: a text or a list of items")
	}
	switch raw[0] {
	case '"':
		var text string
		if err := call.Unmarshal("input", raw, &text); err != nil {
			return err
		}
		in.said = []*saidItem{{role: "user", parts: []event.Part{{Text: text}}}}
		return in.promptSays("input")
	case '[':
		var items []stdjson.RawMessage
		if err := call.Unmarshal("input", raw, &items); err != nil {
			return err
		}
		return in.list(items)
	}
	return event.FailParam(event.InvalidRequest, "input", "input must be a text or a list of items")
}

func (in *input) list(items []stdjson.RawMessage) error {
	in.last = -1
	where := ""
	for i, raw := range items {
		param := fmt.Sprintf("input[%d]", i)
		it, err := readItem(param, raw)
		if err != nil {
			return err
		}
		if it.role == "user" {
			in.last, where = i, param+".content"
		}
		for _, a := range it.attached {
			if a.Picture && it.role != "user" {
				return event.FailParam(event.Unsupported, a.Param, "pictures are only understood in user messages")
			}
		}
		in.said = append(in.said, it)
	}
	for i := len(in.said) - 1; i >= 0 && in.said[i].answer != nil; i-- {
		in.answers = append([]*saidAnswer{in.said[i].answer}, in.answers...)
	}
	for i := len(in.said) - 1; i >= 0 && len(in.answers) == 0; i-- {
		if a := in.said[i].answer; a != nil {
			in.passed = append([]*saidAnswer{a}, in.passed...)
		} else if len(in.passed) > 0 {
			break
		}
	}
	if in.last < 0 && len(in.answers) > 0 {
		return nil
	}
	if in.last < 0 {
		return event.FailParam(event.InvalidRequest, "input", "input needs a user message: it is what the agent is asked")
	}
	return in.promptSays(where)
}

// promptSays refuses a prompt without words.
func (in *input) promptSays(param string) error {
	it := in.said[in.last]
	for _, p := range it.parts {
		if strings.TrimSpace(p.Text) != "" {
			return nil
		}
	}
	for _, a := range it.attached {
		if !a.Picture {
			return nil
		}
	}
	return event.FailParam(event.InvalidRequest, param, "the user message has no text")
}

// maxAside bounds a file in a message before the prompt: a longer one is only
// named in the preface, so that it does not push out what was said about it.
const maxAside = 16 << 10

// load puts what pictures and files stand for into the messages. Pictures of
// earlier messages are only named.
func (in *input) load(ctx context.Context, l *files.Loader) error {
	for i, it := range in.said {
		for _, a := range it.attached {
			if a.Picture && i != in.last {
				it.parts[a.at].Text = "[" + a.Name() + "]"
				continue
			}
			if a.refused != nil {
				return a.refused
			}
			part, err := l.Load(ctx, a.Attachment)
			if err != nil {
				return err
			}
			if i != in.last && !it.instructs() && len(part.Text) > maxAside {
				part.Text = "[" + a.Name() + ", left out]"
			}
			it.parts[a.at] = part
		}
	}
	return nil
}

// prompt is what the agent is asked, and what was said before and behind it.
func (in *input) prompt() (item *event.Item, before []string) {
	var lines []string
	for i, it := range in.said {
		if i == in.last || it.instructs() {
			continue
		}
		if line := it.line(); line != "" || it.role == "user" {
			lines = append(lines, line)
		}
	}
	return message(in.said[in.last].parts), lines
}

// allInstructions joins the request's own with the system and developer messages.
func (in *input) allInstructions() string {
	var texts []string
	if in.instructions != "" {
		texts = append(texts, in.instructions)
	}
	for _, it := range in.said {
		if text := joined(it.parts); it.instructs() && strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

func message(parts []event.Part) *event.Item {
	it := &event.Item{Type: event.Message, Status: event.Done, User: true}
	if len(parts) == 1 && parts[0].ImageURL == "" {
		it.Text = parts[0].Text
	} else {
		it.Parts = parts
	}
	return it
}

// saidItem is one item of the input.
type saidItem struct {
	role     string // "" for items that are no message
	parts    []event.Part
	attached []attached
	tool     string // one line about a tool item
	answer   *saidAnswer
	// ref is a stored item that is meant, named at param; zero for none.
	ref   event.ID
	param string
}

// attached is a picture or a file that becomes one of an item's parts.
type attached struct {
	at int
	*files.Attachment
	// refused is why a picture cannot be handed on. Before the prompt it is only
	// named, so it does not matter there.
	refused error
}

// instructs says that the item tells the agent how to work.
func (s *saidItem) instructs() bool { return s.role == "system" || s.role == "developer" }

func (s *saidItem) line() string {
	if s.role == "" {
		return s.tool
	}
	if text := joined(s.parts); strings.TrimSpace(text) != "" {
		return s.role + ": " + text
	}
	return ""
}

func readItem(param string, raw []byte) (*saidItem, error) {
	var in itemBody
	if err := call.Unmarshal(param, raw, &in); err != nil {
		return nil, err
	}
	switch in.Type {
	case "", "message":
		switch in.Role {
		case "user", "assistant", "system", "developer":
			return readMessage(param, &in)
		case "":
			return nil, event.FailParam(event.InvalidRequest, param, param+" has neither a role nor a known type")
		}
		return nil, event.FailParam(event.InvalidRequest, param+".role", "role must be one of user, assistant, system, developer")
	case "function_call_output":
		a, err := readOutput(param, &in)
		return &saidItem{tool: toolLine("result", nil, in.Output), answer: a}, err
	case "mcp_approval_response":
		a, err := readApproval(param, &in)
		return &saidItem{tool: kinds[in.Type].told(&in), answer: a}, err
	case "item_reference":
		return readReference(param, raw)
	}
	if k, ok := kinds[in.Type]; ok {
		return &saidItem{tool: k.told(&in)}, nil
	}
	return nil, unknownKind(param, in.Type)
}

func readReference(param string, raw []byte) (*saidItem, error) {
	var in struct {
		ID string `json:"id"`
	}
	if err := call.Unmarshal(param, raw, &in); err != nil {
		return nil, err
	}
	id, ok := event.Parse(in.ID, event.PrefixItem)
	if !ok || id.IsZero() {
		return nil, noItem(param+".id", in.ID)
	}
	return &saidItem{ref: id, param: param}, nil
}

// refer puts the stored items in the places of their references. They are what was
// said before, never the prompt.
func (in *input) refer(find func(event.ID) (*event.Item, error)) error {
	for i, it := range in.said {
		if it.ref.IsZero() {
			continue
		}
		found, err := find(it.ref)
		if event.CodeOf(err) == event.ItemNotFound {
			return noItem(it.param+".id", it.ref.With(event.PrefixItem))
		}
		if err != nil {
			return err
		}
		if in.said[i], err = readItem(it.param, conversationItem(found)); err != nil {
			return err
		}
	}
	return nil
}

func readMessage(param string, in *itemBody) (*saidItem, error) {
	said := &saidItem{role: in.Role}
	param += ".content"
	if len(in.Content) == 0 || isNull(in.Content) {
		return said, nil
	}
	if in.Content[0] == '"' {
		var text string
		if err := call.Unmarshal(param, in.Content, &text); err != nil {
			return nil, err
		}
		said.parts = []event.Part{{Text: text}}
		return said, nil
	}
	var parts []partBody
	if err := call.Unmarshal(param, in.Content, &parts); err != nil {
		return nil, err
	}
	for i, p := range parts {
		at := fmt.Sprintf("%s[%d]", param, i)
		switch p.Type {
		case "input_text", "output_text", "text", "summary_text", "reasoning_text":
			said.parts = append(said.parts, event.Part{Text: p.Text})
		case "refusal":
			said.parts = append(said.parts, event.Part{Text: p.Refusal})
		case "computer_screenshot":
			said.parts = append(said.parts, event.Part{Text: "[picture]"})
		case files.InputImage, files.InputFile:
			a, err := files.ReadAttachment(at, p.Type, &p.RawPart)
			if p.Type == files.InputImage && event.CodeOf(err) == event.Unsupported {
				said.attached = append(said.attached, attached{i, &files.Attachment{Param: at, Picture: true}, err})
				said.parts = append(said.parts, event.Part{})
				continue
			}
			if err != nil {
				return nil, err
			}
			said.attached = append(said.attached, attached{i, a, nil})
			said.parts = append(said.parts, event.Part{})
		default:
			return nil, event.FailParam(event.Unsupported, at, "this part of a message is not supported; send input_text")
		}
	}
	return said, nil
}

func joined(parts []event.Part) string {
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// maxToolLine bounds what is told of one tool item.
const maxToolLine = 1 << 10

func toolLine(what string, arguments, output []byte) string {
	b := "[" + what
	if s := plain(arguments); s != "" {
		b += " " + s
	}
	if s := plain(output); s != "" {
		b += " -> " + s
	}
	b = strings.Join(strings.Fields(b), " ")
	if cut := head(b, maxToolLine); cut != b {
		b = cut + "..."
	}
	return b + "]"
}

// plain is a JSON string's text, or another value as it is; null is "".
func plain(raw []byte) string {
	if len(raw) == 0 || isNull(raw) {
		return ""
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
