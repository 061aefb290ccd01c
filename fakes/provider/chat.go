package provider

import (
	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/fakes/mind"
)

// chat is the OpenAI Chat Completions wire.
type chat struct{}

func (chat) fault(f failure) any { return openAIError(f) }

func (chat) read(body []byte) (*question, error) {
	var in struct {
		Model   string `json:"model"`
		Stream  bool   `json:"stream"`
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role    string              `json:"role"`
			Content jsoniter.RawMessage `json:"content"`
			CallID  string              `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string `json:"name"`
				Parameters schema `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	q := &question{Model: in.Model, Stream: in.Stream, Usage: in.Options.Usage}
	for _, t := range in.Tools {
		name := t.Function.Name
		q.Tools = append(q.Tools, tool{Name: name, Search: name == "tool_search", Schema: t.Function.Parameters})
	}
	for _, m := range in.Messages {
		if m.Role == "tool" {
			q.result(m.CallID, parts(m.Content))
		} else {
			q.say(m.Role, parts(m.Content))
		}
	}
	return q, nil
}

func chatUsage(a *answer) object {
	return object{
		"prompt_tokens": a.input(), "completion_tokens": a.output(), "total_tokens": a.input() + a.output(),
		"prompt_tokens_details":     object{"cached_tokens": CachedTokens},
		"completion_tokens_details": object{"reasoning_tokens": ReasoningTokens},
	}
}

func finishReason(a *answer) string {
	switch {
	case len(a.Calls) > 0:
		return "tool_calls"
	case a.ends("incomplete"):
		return "length"
	case a.ends("refusal"):
		return "content_filter"
	}
	return "stop"
}

func chatCalls(a *answer) []any {
	list := make([]any, 0, len(a.Calls))
	for i, c := range a.Calls {
		list = append(list, object{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}})
	}
	return list
}

func (chat) whole(a *answer) any {
	message := object{"role": "assistant", "content": a.Move.Say}
	if a.Move.Think != "" {
		message["reasoning_content"] = a.Move.Think
	}
	if len(a.Calls) > 0 {
		message["tool_calls"] = chatCalls(a)
	}
	return object{
		"id": a.id("chatcmpl"), "object": "chat.completion", "created": 1_700_000_000, "model": a.Model,
		"choices": []any{object{"index": 0, "message": message, "finish_reason": finishReason(a)}},
		"usage":   chatUsage(a),
	}
}

func (chat) stream(e *events, a *answer) {
	chunk := func(choices []any, usage any) object {
		return object{"id": a.id("chatcmpl"), "object": "chat.completion.chunk", "created": 1_700_000_000, "model": a.Model, "choices": choices, "usage": usage}
	}
	delta := func(d object, finish any) object {
		return chunk([]any{object{"index": 0, "delta": d, "finish_reason": finish}}, nil)
	}
	e.send("", delta(object{"role": "assistant", "content": ""}, nil))
	for _, p := range mind.Pieces(a.Move.Think) {
		e.piece("", delta(object{"reasoning_content": p}, nil))
	}
	for _, p := range mind.Pieces(a.Move.Say) {
		e.piece("", delta(object{"content": p}, nil))
	}
	if e.broken(a) {
		return
	}
	for _, call := range chatCalls(a) {
		e.piece("", delta(object{"tool_calls": []any{call}}, nil))
	}
	e.send("", delta(object{}, finishReason(a)))
	if a.Usage {
		e.send("", chunk([]any{}, chatUsage(a)))
	}
	e.raw("", []byte("[DONE]"))
}
