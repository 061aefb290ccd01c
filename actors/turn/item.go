package turn

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

type itemState uint8

const (
	open     itemState = iota
	finished           // done or given up; its ItemDone is still owed
	closed             // its ItemDone is out
)

// item is one item, or the current part of one whose text is too long.
type item struct {
	key string
	id  event.ID
	// parent is the subagent's call that the item belongs to; zero for the turn's
	// own.
	parent event.ID
	state  itemState
	// status is what the CLI said at the end; see outcome.
	status event.Status
	body   event.Item // what is known, without text and identity
	// text is the pieces joined: of a message or reasoning, or of a tool's output.
	text  event.Rope
	whole string   // text as one, where the CLI said it at the end
	parts []string // the full parts before this one
	// stream holds back of the text what may be the beginning of a secret.
	stream Stream
	lost   int64 // bytes of output beyond the limit
	late   bool  // opened after the newest verdict
	// cut says that the item has no ItemStarted yet, or again none: see reopen. hosts
	// that it is a call of the host's own server, and no item.
	cut, hosts bool
}

// textual reports whether the item is a text, not a tool.
func (it *item) textual() bool {
	return it.body.Type == event.Message || it.body.Type == event.Reasoning
}

// outcome is the status of the ItemDone.
func (it *item) outcome() event.Status {
	switch it.status {
	case event.ItemFailed, event.Incomplete:
		return it.status
	}
	if it.body.Type == event.Command && it.body.ExitCode != nil && *it.body.ExitCode != 0 {
		return event.ItemFailed
	}
	return event.Done
}

// rest is what a done text has beyond the pieces; false when it contradicts
// them, and the pieces stand.
func (it *item) rest(done string) (string, bool) {
	for _, p := range it.parts {
		var ok bool
		if done, ok = strings.CutPrefix(done, p); !ok {
			return "", false
		}
	}
	return it.text.CutFrom(done)
}

// joined is the text of the current part.
func (it *item) joined() string {
	if it.whole != "" && it.text.Len() == len(it.whole) {
		return it.whole
	}
	return it.text.String()
}

// learn fills in what a call is about when it is opened.
func (it *item) learn(from *event.Item, adapter string, limit int) {
	if it.textual() {
		return
	}
	b := &it.body
	b.Command, b.Cwd = bounded(valid(from.Command), limit, 0), bounded(valid(from.Cwd), limit, 0)
	b.Server, b.Tool = bounded(valid(from.Server), limit, 0), bounded(valid(from.Tool), limit, 0)
	if b.Server == "" {
		b.Server = adapter // a tool of the CLI's own
	}
	b.Arguments = it.arguments(from.Arguments, limit)
	b.Prompt = bounded(valid(from.Prompt), limit, 0)
	b.Changes = validChanges(from.Changes)
	it.found(from, limit)
}

// found takes what a search looked for, which may be told late. Everything else
// stays as ItemStarted said it: a wire may have shown it already.
func (it *item) found(from *event.Item, limit int) {
	b := &it.body
	if b.Query == "" {
		b.Query = bounded(valid(from.Query), limit, 0)
	}
	if b.URL == "" {
		b.URL = bounded(valid(from.URL), limit, 0)
	}
}

// result takes what a call gave.
func (it *item) result(from *event.Item, limit int) {
	b := &it.body
	b.ExitCode, b.Millis = from.ExitCode, from.Millis
	b.Error = bounded(valid(from.Error), limit, 0)
	b.Output = bounded(valid(from.Output), limit, 0)
}

// arguments is valid JSON whatever the CLI wrote; too much of it cannot be cut
// and stay JSON, so only its size is kept.
func (it *item) arguments(raw string, limit int) string {
	if it.body.Type != event.ToolCall && it.body.Type != event.Subagent {
		return ""
	}
	return arguments(raw, limit)
}

func arguments(raw string, limit int) string {
	raw = valid(raw)
	switch {
	case raw == "":
		return "{}"
	case limit > 0 && len(raw) > limit:
		return fmt.Sprintf(`{"dropped_bytes":%d}`, len(raw))
	case !json.Valid([]byte(raw)):
		quoted, _ := json.Marshal(raw) // a string always encodes
		return string(quoted)
	}
	return raw
}

func validChanges(from []event.Change) []event.Change {
	if len(from) == 0 {
		return nil
	}
	out := make([]event.Change, len(from))
	for i, c := range from {
		out[i] = event.Change{Path: valid(c.Path), Kind: valid(c.Kind)}
	}
	return out
}

// describe names a tool for people.
func (it *item) describe() string {
	const most = 200
	switch b := &it.body; b.Type {
	case event.Command:
		return fmt.Sprintf("the command %q", b.Command[:splitAt(b.Command, most)])
	case event.ToolCall:
		return fmt.Sprintf("the tool %s/%s", b.Server, b.Tool)
	case event.WebSearch:
		return "a web search"
	case event.FileChange:
		return "a file change"
	default:
		if b.Tool != "" {
			return fmt.Sprintf("the subagent %q", b.Tool[:splitAt(b.Tool, most)])
		}
		return "a subagent"
	}
}
