package responsestest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Check judges a whole stream of one response, from response.created to its
// terminal frame.
func Check(frames []Frame) error {
	c := checker{ids: map[string]bool{}}
	for i, f := range frames {
		if f.Seq != int64(i) {
			return fmt.Errorf("frame %d (%s) has sequence_number %d", i, f.Type, f.Seq)
		}
		if err := c.frame(i, f); err != nil {
			return fmt.Errorf("frame %d (%s): %w", i, f.Type, err)
		}
	}
	if !c.over {
		return fmt.Errorf("no terminal frame after %d frames", len(frames))
	}
	return nil
}

type checker struct {
	id      string // of the response
	ids     map[string]bool
	items   []*item
	running bool
	over    bool
}

// item is an output item so far.
type item struct {
	id, kind       string
	part, textDone bool
	partDone, done bool
	call, verdict  bool
	text           strings.Builder // joined deltas
	said           string          // of the done frame
	last           map[string]any  // of output_item.done
}

func (c *checker) frame(i int, f Frame) error {
	if c.over {
		return fmt.Errorf("after the terminal frame")
	}
	if (i == 0) != (f.Type == "response.created") {
		return fmt.Errorf("response.created must be the first frame, and only the first")
	}
	switch f.Type {
	case "response.created", "response.queued", "response.in_progress",
		"response.completed", "response.failed", "response.incomplete":
		return c.lifecycle(i, f)
	case "response.output_item.added":
		return c.added(f)
	}
	it, err := c.item(f)
	if err != nil {
		return err
	}
	if it.done {
		return fmt.Errorf("after the item's output_item.done")
	}
	return it.frame(f)
}

func (c *checker) lifecycle(i int, f Frame) error {
	r, ok := f.Data["response"].(map[string]any)
	if !ok {
		return fmt.Errorf("no response object")
	}
	if err := Object(r); err != nil {
		return err
	}
	id, _ := r["id"].(string)
	if c.id == "" {
		c.id = id
	}
	if id != c.id {
		return fmt.Errorf("the id changed from %s to %s", c.id, id)
	}
	status, _ := r["status"].(string)
	allowed := map[string][]string{
		"response.created": {"queued", "in_progress"}, "response.queued": {"queued"}, "response.in_progress": {"in_progress"},
		"response.completed": {"completed"}, "response.failed": {"failed"}, "response.incomplete": {"incomplete", "cancelled"},
	}[f.Type]
	if !slices.Contains(allowed, status) {
		return fmt.Errorf("status %s", status)
	}
	output, _ := r["output"].([]any)
	switch f.Type {
	case "response.created", "response.queued", "response.in_progress":
		if f.Type == "response.queued" && i != 1 || f.Type == "response.in_progress" && c.running {
			return fmt.Errorf("out of place")
		}
		c.running = c.running || f.Type == "response.in_progress"
		if len(output) > 0 || r["usage"] != nil {
			return fmt.Errorf("output or usage before the first item")
		}
		return nil
	}
	c.over = true
	return c.terminal(r, output)
}

func (c *checker) terminal(r map[string]any, output []any) error {
	if r["usage"] == nil {
		return fmt.Errorf("no usage at the end")
	}
	meta, _ := r["metadata"].(map[string]any)
	if meta["agenthost.output_trimmed"] == nil && len(output) != len(c.items) {
		return fmt.Errorf("%d items in the object, %d in the stream", len(output), len(c.items))
	}
	from := len(c.items) - len(output)
	for n, it := range c.items {
		if !it.done {
			return fmt.Errorf("item %d (%s) is still open", n, it.kind)
		}
		if n >= from && !reflect.DeepEqual(output[n-from], any(it.last)) {
			return fmt.Errorf("output[%d] differs from its output_item.done", n-from)
		}
	}
	if r["status"] == "completed" {
		if n := len(c.items); n == 0 || c.items[n-1].kind != "message" && !asks(c.items[n-1].kind) {
			return fmt.Errorf("a completed response must end with a message, or with what it asks of the caller")
		}
	}
	return nil
}

func asks(kind string) bool { return kind == "function_call" || kind == "mcp_approval_request" }

func (c *checker) added(f Frame) error {
	if !c.running {
		return fmt.Errorf("before response.in_progress")
	}
	if n, err := number(f, "output_index"); err != nil || n != len(c.items) {
		return fmt.Errorf("output_index %d (%w), want %d", n, err, len(c.items))
	}
	o, _ := f.Data["item"].(map[string]any)
	it := &item{}
	it.id, _ = o["id"].(string)
	it.kind, _ = o["type"].(string)
	if it.id == "" || c.ids[it.id] {
		return fmt.Errorf("item id %q is empty or taken", it.id)
	}
	if it.kind == "mcp_approval_request" { // is whole from the first
		c.ids[it.id], c.items = true, append(c.items, it)
		return nil
	}
	if o["status"] != "in_progress" {
		return fmt.Errorf("status %v", o["status"])
	}
	if args, ok := o["arguments"]; ok && args != "" {
		return fmt.Errorf("arguments before their frames")
	}
	c.ids[it.id] = true
	c.items = append(c.items, it)
	return nil
}

// item finds the item that f is about and checks its place.
func (c *checker) item(f Frame) (*item, error) {
	n, err := number(f, "output_index")
	if err != nil {
		return nil, err
	}
	if n < 0 || n >= len(c.items) {
		return nil, fmt.Errorf("no item at output_index %d", n)
	}
	it := c.items[n]
	id, _ := f.Data["item_id"].(string)
	if o, ok := f.Data["item"].(map[string]any); ok {
		id, _ = o["id"].(string)
		if o["type"] != it.kind {
			return nil, fmt.Errorf("item %d turned from %s into %v", n, it.kind, o["type"])
		}
	}
	if id != it.id {
		return nil, fmt.Errorf("item_id %s at output_index %d, which is %s", id, n, it.id)
	}
	part := map[string]string{"message": "content_index", "reasoning": "summary_index"}[it.kind]
	if part != "" && f.Type != "response.output_item.done" {
		if p, err := number(f, part); err != nil || p != 0 {
			return nil, fmt.Errorf("%s is %d (%w)", part, p, err)
		}
	}
	return it, nil
}

// kinds says which items a frame may be about.
var kinds = map[string]string{
	"response.content_part.added": "message", "response.output_text.delta": "message",
	"response.output_text.done": "message", "response.content_part.done": "message",
	"response.reasoning_summary_part.added": "reasoning", "response.reasoning_summary_text.delta": "reasoning",
	"response.reasoning_summary_text.done": "reasoning", "response.reasoning_summary_part.done": "reasoning",
	"response.function_call_arguments.delta": "function_call", "response.function_call_arguments.done": "function_call",
	"response.mcp_call.in_progress": "mcp_call", "response.mcp_call_arguments.delta": "mcp_call",
	"response.mcp_call_arguments.done": "mcp_call", "response.mcp_call.completed": "mcp_call", "response.mcp_call.failed": "mcp_call",
	"response.web_search_call.in_progress": "web_search_call", "response.web_search_call.searching": "web_search_call",
	"response.web_search_call.completed": "web_search_call",
}

func (it *item) frame(f Frame) error {
	if want, ok := kinds[f.Type]; ok && want != it.kind {
		return fmt.Errorf("on an item of type %s", it.kind)
	}
	switch f.Type {
	case "response.content_part.added", "response.reasoning_summary_part.added":
		if it.part {
			return fmt.Errorf("twice")
		}
		it.part = true
		return partText(f, "")
	case "response.mcp_call.in_progress", "response.web_search_call.in_progress":
		if it.call {
			return fmt.Errorf("twice")
		}
		it.call = true
	case "response.web_search_call.searching":
		if !it.call || it.textDone {
			return fmt.Errorf("out of place")
		}
		it.textDone = true
	case "response.output_text.delta", "response.reasoning_summary_text.delta", "response.mcp_call_arguments.delta":
		d, ok := f.Data["delta"].(string)
		if !ok || d == "" || it.textDone || !it.part && !it.call {
			return fmt.Errorf("delta %q out of place", d)
		}
		it.text.WriteString(d)
	case "response.function_call_arguments.delta":
		d, ok := f.Data["delta"].(string)
		if !ok || it.textDone {
			return fmt.Errorf("delta %q out of place", d)
		}
		it.text.WriteString(d)
	case "response.function_call_arguments.done":
		if said, ok := f.Data["arguments"].(string); !ok || said != it.text.String() || it.textDone {
			return fmt.Errorf("arguments %.60q, the deltas say %.60q", said, it.text.String())
		}
		if name, ok := f.Data["name"].(string); !ok || name == "" {
			return fmt.Errorf("no name")
		}
		it.said, it.textDone = it.text.String(), true
	case "response.output_text.done", "response.reasoning_summary_text.done", "response.mcp_call_arguments.done":
		name := "text"
		if it.kind == "mcp_call" {
			name = "arguments"
		}
		said, ok := f.Data[name].(string)
		if !ok || said != it.text.String() || it.textDone {
			return fmt.Errorf("%s %.60q, the deltas say %.60q", name, said, it.text.String())
		}
		it.said, it.textDone = said, true
	case "response.content_part.done", "response.reasoning_summary_part.done":
		if !it.textDone || it.partDone {
			return fmt.Errorf("out of place")
		}
		it.partDone = true
		return partText(f, it.said)
	case "response.mcp_call.completed", "response.mcp_call.failed", "response.web_search_call.completed":
		if !it.textDone || it.verdict {
			return fmt.Errorf("out of place")
		}
		it.verdict = true
	case "response.output_item.done":
		return it.finish(f)
	default:
		return fmt.Errorf("clients do not know it, or it is not ours")
	}
	return nil
}

func (it *item) finish(f Frame) error {
	switch it.kind {
	case "message", "reasoning":
		if !it.partDone {
			return fmt.Errorf("before the part's end")
		}
	case "mcp_call":
		if !it.verdict {
			return fmt.Errorf("before completed or failed")
		}
	case "function_call":
		if !it.textDone {
			return fmt.Errorf("before its arguments")
		}
	}
	it.done = true
	it.last, _ = f.Data["item"].(map[string]any)
	if it.kind == "web_search_call" && (!it.textDone || it.verdict != (it.last["status"] == "completed")) {
		return fmt.Errorf("%v without its own frames", it.last["status"])
	}
	if it.last["status"] == "in_progress" {
		return fmt.Errorf("still in progress")
	}
	var text any = it.said
	switch it.kind {
	case "message":
		text = first(it.last, "content")["text"]
	case "reasoning":
		text = first(it.last, "summary")["text"]
	case "mcp_call", "function_call":
		text = it.last["arguments"]
	}
	if text != it.said {
		return fmt.Errorf("the item says %.60q, its frames %.60q", text, it.said)
	}
	return nil
}

func first(o map[string]any, name string) map[string]any {
	list, _ := o[name].([]any)
	if len(list) != 1 {
		return nil
	}
	m, _ := list[0].(map[string]any)
	return m
}

func partText(f Frame, want string) error {
	p, _ := f.Data["part"].(map[string]any)
	if p["text"] != want {
		return fmt.Errorf("part says %.60q, want %.60q", p["text"], want)
	}
	return nil
}

func number(f Frame, name string) (int, error) {
	n, ok := f.Data[name].(json.Number)
	if !ok {
		return -1, fmt.Errorf("no %s", name)
	}
	v, err := n.Int64()
	return int(v), err
}
