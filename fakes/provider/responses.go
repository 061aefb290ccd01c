package provider

import (
	"regexp"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/fakes/mind"
)

// responses is the OpenAI Responses wire.
type responses struct{}

func (responses) fault(f failure) any { return openAIError(f) }

type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters schema          `json:"parameters"`
	Tools      []responsesTool `json:"tools"`
}

func (responses) read(body []byte) (*question, error) {
	var in struct {
		Model  string              `json:"model"`
		Stream bool                `json:"stream"`
		Input  jsoniter.RawMessage `json:"input"`
		Tools  []responsesTool     `json:"tools"`
		Text   struct {
			Format struct {
				Schema jsoniter.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	q := &question{Model: in.Model, Stream: in.Stream, Schema: in.Text.Format.Schema}
	q.offer("", in.Tools)
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		q.Talk = []mind.Message{{From: mind.User, Text: text}}
		return q, nil
	}
	var items []struct {
		Type    string              `json:"type"`
		Role    string              `json:"role"`
		Content jsoniter.RawMessage `json:"content"`
		Output  jsoniter.RawMessage `json:"output"`
		CallID  string              `json:"call_id"`
		Tools   []responsesTool     `json:"tools"`
	}
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return nil, err
	}
	for _, it := range items {
		switch it.Type {
		case "", "message":
			q.say(it.Role, parts(it.Content))
		case "function_call_output":
			if strings.Contains(it.CallID, waitID) {
				q.scriptResult(it.CallID, parts(it.Output))
			} else {
				q.result(it.CallID, parts(it.Output))
			}
		case "custom_tool_call_output":
			q.scriptResult(it.CallID, parts(it.Output))
		case "tool_search_output":
			q.result(it.CallID, nil)
			q.offer("", it.Tools)
		case "additional_tools":
			q.offer("", it.Tools)
		}
	}
	return q, nil
}

// offer takes over the tools of a request, those in namespaces too.
func (q *question) offer(namespace string, list []responsesTool) {
	for _, t := range list {
		switch t.Type {
		case "namespace":
			q.offer(t.Name, t.Tools)
		case "tool_search":
			q.Tools = append(q.Tools, tool{Name: "tool_search", Search: true, Schema: t.Parameters})
		default:
			q.Tools = append(q.Tools, tool{Name: t.Name, Namespace: namespace, Custom: t.Type == "custom", Schema: t.Parameters})
		}
	}
}

// result adds the result of a call to the talk.
func (q *question) result(call string, texts []string) {
	if _, name, ok := strings.Cut(call, searchID); ok {
		if q.searched == nil {
			q.searched = map[string]bool{}
		}
		q.searched[name] = true
		return
	}
	q.Talk = append(q.Talk, mind.Message{From: mind.Tool, Text: commandOutput(strings.Join(texts, "\n"))})
}

// scriptResult adds the results of a script, which prints one text a call behind
// a head of the CLI's own.
func (q *question) scriptResult(call string, texts []string) {
	q.cell = ""
	if m := stillRuns.FindStringSubmatch(strings.Join(texts, "\n")); m != nil {
		q.cell = m[1]
		return
	}
	if len(texts) < 3 || commandOutput(texts[0]) != "" {
		q.result(call, texts)
		return
	}
	for _, t := range texts[1:] {
		q.result(call, []string{t})
	}
}

// say adds a message of a request to the talk, without what the CLI wrapped
// round it.
func (q *question) say(role string, texts []string) {
	var own []string
	for _, t := range texts {
		if d := dirOf(t); d != "" && (role != "user" || wrapped(t)) {
			q.Dir = d
		}
		if !wrapped(t) {
			own = append(own, t)
		}
	}
	if len(own) == 0 {
		return
	}
	switch text := strings.Join(own, "\n"); role {
	case "user":
		q.searched = nil
		q.Talk = append(q.Talk, mind.Message{From: mind.User, Text: text})
	case "assistant":
		q.Talk = append(q.Talk, mind.Message{From: mind.Model, Text: text})
	}
}

// parts are the texts of a content that is a string or a list of parts.
func parts(raw jsoniter.RawMessage) []string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []string{text}
	}
	var list []struct {
		Text string `json:"text"`
	}
	// Content of another shape has no text.
	_ = json.Unmarshal(raw, &list)
	texts := make([]string, 0, len(list))
	for _, p := range list {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return texts
}

// commandOutput takes the output out of what a CLI reports of a tool: Codex puts
// lines about the run and "Output:" before it, twice for a patch in a command;
// Claude Code puts reminders of its own behind it.
func commandOutput(text string) string {
	text = reminder.ReplaceAllString(text, "")
	for {
		head, out, ok := strings.Cut(text, "Output:\n")
		if !ok || !strings.Contains(head, "Wall time") && !strings.Contains(head, "Exit code") {
			return text
		}
		text = out
	}
}

// reminder is a text that Claude Code adds to messages and tool results.
var reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)

type object = map[string]any

func (w responses) object(a *answer, status string, output []any) object {
	o := object{
		"id": a.id("resp"), "object": "response", "created_at": 1_700_000_000, "status": status,
		"model": a.Model, "output": output, "error": nil, "incomplete_details": nil, "instructions": nil, "metadata": object{},
		"parallel_tool_calls": true, "temperature": nil, "tool_choice": "auto", "tools": []any{}, "top_p": nil, "usage": nil,
	}
	if a.ends("incomplete") && status == "incomplete" {
		o["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	if status != "in_progress" {
		o["usage"] = object{
			"input_tokens": a.input(), "input_tokens_details": object{"cached_tokens": CachedTokens},
			"output_tokens": a.output(), "output_tokens_details": object{"reasoning_tokens": ReasoningTokens},
			"total_tokens": a.input() + a.output(),
		}
	}
	return o
}

func reasoningItem(a *answer) object {
	return object{
		"type": "reasoning", "id": a.id("rs"), "encrypted_content": "c2NyaXB0ZWQ=",
		"summary": []any{object{"type": "summary_text", "text": a.Move.Think}},
	}
}

func messageItem(a *answer) object {
	part := object{"type": "output_text", "text": a.Move.Say, "annotations": []any{}}
	if a.ends("refusal") {
		part = object{"type": "refusal", "refusal": "I can't help with this."}
	}
	return object{"type": "message", "id": a.id("msg"), "role": "assistant", "status": "completed", "content": []any{part}}
}

func callItem(a *answer, i int) object {
	c, id := a.Calls[i], func(prefix string) string { return a.id(nth(prefix, i)) }
	switch {
	case c.Search:
		return object{"type": "tool_search_call", "id": id("ts"), "call_id": c.ID, "execution": "client", "status": "completed", "arguments": jsoniter.RawMessage(c.Args)}
	case c.Custom:
		return object{"type": "custom_tool_call", "id": id("ctc"), "call_id": c.ID, "name": c.Name, "input": c.Args, "status": "completed"}
	}
	o := object{"type": "function_call", "id": id("fc"), "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": "completed"}
	if c.Namespace != "" && c.Namespace != ownTools {
		o["namespace"] = c.Namespace
	}
	return o
}

func (w responses) whole(a *answer) any {
	output := []any{}
	if a.Move.Think != "" {
		output = append(output, reasoningItem(a))
	}
	if a.Move.Say != "" || a.ends("refusal") {
		output = append(output, messageItem(a))
	}
	for i := range a.Calls {
		output = append(output, callItem(a, i))
	}
	if a.ends("incomplete") {
		return w.object(a, "incomplete", output)
	}
	return w.object(a, "completed", output)
}

// stream writes the events of a response in the order of the public API.
func (w responses) stream(e *events, a *answer) {
	s := &responseStream{events: e, answer: a, output: []any{}}
	s.event("response.created", object{"response": w.object(a, "in_progress", []any{})})
	s.event("response.in_progress", object{"response": w.object(a, "in_progress", []any{})})
	if a.Move.Think != "" {
		s.reasoning()
	}
	if a.Move.Say != "" || a.ends("refusal") {
		s.message()
	}
	if e.broken(a) {
		return
	}
	for i := range a.Calls {
		s.call(i)
	}
	status := "completed"
	if a.ends("incomplete") {
		status = "incomplete"
	}
	s.event("response."+status, object{"response": w.object(a, status, s.output)})
}

// responseStream holds the running numbers of one stream.
type responseStream struct {
	*events
	*answer
	sequence int
	output   []any
}

func (s *responseStream) number(name string, o object) object {
	o["type"], o["sequence_number"] = name, s.sequence
	s.sequence++
	return o
}

func (s *responseStream) event(name string, o object) { s.send(name, s.number(name, o)) }

func (s *responseStream) delta(name string, o object) { s.piece(name, s.number(name, o)) }

func (s *responseStream) added(item object) {
	s.event("response.output_item.added", object{"output_index": len(s.output), "item": item})
}

func (s *responseStream) finished(item object) {
	s.event("response.output_item.done", object{"output_index": len(s.output), "item": item})
	s.output = append(s.output, item)
}

func (s *responseStream) reasoning() {
	id, at := s.id("rs"), len(s.output)
	s.added(object{"type": "reasoning", "id": id, "summary": []any{}})
	s.event("response.reasoning_summary_part.added", object{"item_id": id, "output_index": at, "summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
	for _, p := range mind.Pieces(s.Move.Think) {
		s.delta("response.reasoning_summary_text.delta", object{"item_id": id, "output_index": at, "summary_index": 0, "delta": p})
	}
	s.event("response.reasoning_summary_text.done", object{"item_id": id, "output_index": at, "summary_index": 0, "text": s.Move.Think})
	s.event("response.reasoning_summary_part.done", object{"item_id": id, "output_index": at, "summary_index": 0, "part": object{"type": "summary_text", "text": s.Move.Think}})
	s.finished(reasoningItem(s.answer))
}

func (s *responseStream) message() {
	id, at := s.id("msg"), len(s.output)
	s.added(object{"type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": []any{}})
	if !s.ends("refusal") {
		s.event("response.content_part.added", object{"item_id": id, "output_index": at, "content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []any{}}})
		for _, p := range mind.Pieces(s.Move.Say) {
			s.delta("response.output_text.delta", object{"item_id": id, "output_index": at, "content_index": 0, "delta": p})
		}
		if s.broken(s.answer) {
			return
		}
		s.event("response.output_text.done", object{"item_id": id, "output_index": at, "content_index": 0, "text": s.Move.Say})
		s.event("response.content_part.done", object{"item_id": id, "output_index": at, "content_index": 0, "part": object{"type": "output_text", "text": s.Move.Say, "annotations": []any{}}})
	}
	s.finished(messageItem(s.answer))
}

func (s *responseStream) call(i int) {
	item, at := callItem(s.answer, i), len(s.output)
	s.added(item)
	if item["type"] == "function_call" {
		s.delta("response.function_call_arguments.delta", object{"item_id": item["id"], "output_index": at, "delta": s.Calls[i].Args})
		s.event("response.function_call_arguments.done", object{"item_id": item["id"], "output_index": at, "arguments": s.Calls[i].Args})
	}
	s.finished(item)
}
