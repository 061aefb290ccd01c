package responses

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/wires/call"
	"github.com/agenthost/agenthost/wires/files"
)

// Bounds of one post into a conversation.
const (
	maxPosted     = 20      // items
	maxPostedItem = 4 << 20 // bytes of JSON of one
)

// poster reads items that are posted into a conversation. Each is kept as it came
// (Raw), with what answers always have filled in and without the caller's id:
// items of this host have ids that lead to where they stand.
type poster struct {
	ctx    context.Context //nolint:containedctx // lives as long as one request
	engine Engine
	owner  string
	loader *files.Loader
}

func (w *Wire) poster(c *call.Call) *poster {
	return &poster{ctx: c.Context(), engine: w.engine, owner: c.Principal, loader: files.NewLoader(w.engine, c.Principal)}
}

func (p *poster) read(raw []byte) ([]*event.Item, error) {
	var list []stdjson.RawMessage
	if len(raw) == 0 || raw[0] != '[' {
		return nil, event.FailParam(event.InvalidRequest, "items", "items must be a list of items")
	}
	if err := call.Unmarshal("items", raw, &list); err != nil {
		return nil, err
	}
	if len(list) > maxPosted {
		return nil, event.FailParam(event.InvalidRequest, "items", fmt.Sprintf("items has %d items; at most %d can be posted at a time", len(list), maxPosted))
	}
	items := make([]*event.Item, 0, len(list))
	for i, raw := range list {
		param := "items[" + strconv.Itoa(i) + "]"
		if len(raw) > maxPostedItem {
			return nil, event.FailParam(event.InvalidRequest, param, fmt.Sprintf("%s is larger than %d MiB; upload it as a file and name its id", param, maxPostedItem>>20))
		}
		it, err := p.item(param, raw)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

func (p *poster) item(param string, raw []byte) (*event.Item, error) {
	var fields map[string]stdjson.RawMessage
	var in itemBody
	if len(raw) == 0 || raw[0] != '{' {
		return nil, event.FailParam(event.InvalidRequest, param, param+" must be an object")
	}
	if err := call.Unmarshal(param, raw, &fields); err != nil {
		return nil, err
	}
	if err := call.Unmarshal(param, raw, &in); err != nil {
		return nil, err
	}
	delete(fields, "id")
	switch in.Type {
	case "item_reference":
		return p.referenced(param, raw)
	case "", "message":
		if in.Type == "" && in.Role == "" {
			if len(in.Content) == 0 && len(in.ID) > 0 {
				return p.referenced(param, raw) // the type of a reference may be left out
			}
			return nil, event.FailParam(event.InvalidRequest, param+".type", param+" has neither a type nor a role")
		}
		return p.message(param, fields, &in)
	}
	k, ok := kinds[in.Type]
	if !ok {
		err, _ := event.AsFailure(unknownKind(param, in.Type))
		err.Code = event.InvalidRequest
		return nil, err
	}
	if err := k.check(param, fields); err != nil {
		return nil, err
	}
	fill(fields, k.usual)
	return foreign(fields, k.told(&in), false)
}

// referenced posts a copy of an item that is there already.
func (p *poster) referenced(param string, raw []byte) (*event.Item, error) {
	ref, err := readReference(param, raw)
	if err != nil {
		return nil, err
	}
	it, err := p.engine.Item(p.ctx, p.owner, event.ID{}, ref.ref)
	if event.CodeOf(err) == event.ItemNotFound {
		return nil, noItem(param+".id", ref.ref.With(event.PrefixItem))
	}
	if err != nil {
		return nil, err
	}
	return p.item(param, conversationItem(it.Item))
}

// roles of messages that a caller may post.
var roles = []string{"user", "assistant", "system", "developer"}

func (p *poster) message(param string, fields map[string]stdjson.RawMessage, in *itemBody) (*event.Item, error) {
	if err := oneOf(param+".role", &in.Role, roles); err != nil {
		return nil, err
	}
	k := kind{usual: map[string]string{"type": `"message"`, "status": completed}}
	if err := k.check(param, fields); err != nil {
		return nil, err
	}
	fill(fields, k.usual)
	said := saidItem{role: in.Role}
	content, err := p.content(param+".content", &said, in.Content)
	if err != nil {
		return nil, err
	}
	fields["content"] = content
	line := said.line()
	if said.instructs() {
		line = joined(said.parts)
	}
	return foreign(fields, line, said.instructs())
}

// content reads a message's content: what of it is told goes into said, and the
// content comes back as a list of parts.
func (p *poster) content(param string, said *saidItem, raw []byte) (stdjson.RawMessage, error) {
	if len(raw) == 0 || isNull(raw) {
		raw = []byte(`[]`)
	}
	if raw[0] == '"' {
		kind := `{"type":"input_text","text":`
		if said.role == "assistant" {
			kind = `{"type":"output_text","text":`
		}
		raw = []byte("[" + kind + string(raw) + "}]")
	}
	if raw[0] != '[' {
		return nil, event.FailParam(event.InvalidRequest, param, param+" must be a text or a list of parts")
	}
	var parts []stdjson.RawMessage
	if err := call.Unmarshal(param, raw, &parts); err != nil {
		return nil, err
	}
	out := make([]map[string]stdjson.RawMessage, len(parts))
	for i, raw := range parts {
		at := param + "[" + strconv.Itoa(i) + "]"
		var in partBody
		if len(raw) == 0 || raw[0] != '{' {
			return nil, event.FailParam(event.InvalidRequest, at, at+" must be an object")
		}
		if err := call.Unmarshal(at, raw, &out[i]); err != nil {
			return nil, err
		}
		if err := call.Unmarshal(at, raw, &in); err != nil {
			return nil, err
		}
		told, err := p.part(at, out[i], &in)
		if err != nil {
			return nil, err
		}
		said.parts = append(said.parts, event.Part{Text: told})
	}
	return json.Marshal(out)
}

// part checks one part of a message, fills in what answers have, and says what an
// agent is told of it.
func (p *poster) part(at string, fields map[string]stdjson.RawMessage, in *partBody) (told string, err error) {
	k, ok := partKinds[in.Type]
	if !ok {
		return "", event.FailParam(event.InvalidRequest, at+".type", at+".type is not a part of a message: it must be one of "+strings.Join(slices.Sorted(maps.Keys(partKinds)), ", "))
	}
	if err := k.check(at, fields); err != nil {
		return "", err
	}
	fill(fields, k.usual)
	switch in.Type {
	case "refusal":
		return in.Refusal, nil
	case files.InputImage, "computer_screenshot":
		if in.ImageURL == "" && in.FileID == "" {
			return "", event.FailParam(event.InvalidRequest, at, "a picture needs either image_url or file_id")
		}
		return "[picture]", nil
	case files.InputFile:
		return p.file(at, in)
	}
	return in.Text, nil
}

// file says what a file holds, where that can be read and is short; else its name.
func (p *poster) file(at string, in *partBody) (string, error) {
	named := func() string {
		switch {
		case in.Filename != "":
			return "[file " + head(in.Filename, 200) + ", not read]"
		case in.FileID != "":
			return "[file " + in.FileID + ", not read]"
		}
		return "[file, not read]"
	}
	a, err := files.ReadAttachment(at, in.Type, &in.RawPart)
	if event.CodeOf(err) == event.Unsupported {
		return named(), nil
	}
	if err != nil {
		return "", err
	}
	part, err := p.loader.Load(p.ctx, a)
	switch code := event.CodeOf(err); {
	case code == event.Unsupported, code == event.InvalidRequest:
		return named(), nil
	case err != nil:
		return "", err
	case len(part.Text) > maxAside:
		return "[" + a.Name() + ", left out]", nil
	}
	return part.Text, nil
}

// fill puts usual values where there is none.
func fill(fields map[string]stdjson.RawMessage, usual map[string]string) {
	for name, value := range usual {
		if raw, ok := fields[name]; !ok || isNull(raw) {
			fields[name] = stdjson.RawMessage(value)
		}
	}
}

func foreign(fields map[string]stdjson.RawMessage, told string, instructs bool) (*event.Item, error) {
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return &event.Item{Type: event.Foreign, Status: event.Done, Text: told, Instructs: instructs, Raw: oneLine(raw)}, nil
}

// conversationItem is an item of a conversation, whoever it is from.
func conversationItem(it *event.Item) stdjson.RawMessage {
	switch {
	case it.User, it.Type == event.FunctionOutput, it.Type == event.ApprovalAnswer:
		return encode(inputItem(it))
	case it.Type != event.Foreign:
		return appendItem(nil, it, nil)
	case len(it.Raw) < 2:
		return encode(inputItem(&event.Item{ID: it.ID, Text: it.Text})) // of a damaged journal
	}
	b := append(make([]byte, 0, len(it.Raw)+64), `{"id":"`...)
	b = append(it.ID.AppendHex(append(b, event.PrefixItem...)), '"', ',')
	return append(b, it.Raw[1:]...)
}

func noItem(param, id string) error {
	if len(id) > 80 || !plainID.MatchString(id) {
		return event.FailParam(event.ItemNotFound, param, "there is no item with this id")
	}
	return event.FailParam(event.ItemNotFound, param, "there is no item with the id "+id)
}
