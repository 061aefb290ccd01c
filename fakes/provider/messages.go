package provider

import (
	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/fakes/mind"
)

// messages is the Anthropic Messages wire.
type messages struct{}

func (messages) fault(f failure) any {
	return object{"type": "error", "error": object{"type": f.anthropic, "message": f.message}}
}

func (messages) read(body []byte) (*question, error) {
	var in struct {
		Model    string              `json:"model"`
		Stream   bool                `json:"stream"`
		System   jsoniter.RawMessage `json:"system"`
		Messages []struct {
			Role    string              `json:"role"`
			Content jsoniter.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string `json:"name"`
			Schema schema `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	q := &question{Model: in.Model, Stream: in.Stream}
	for _, t := range in.Tools {
		q.Tools = append(q.Tools, tool{Name: t.Name, Search: t.Name == "ToolSearch", Schema: t.Schema})
	}
	q.say("system", parts(in.System))
	for _, m := range in.Messages {
		q.results(m.Content)
		q.say(m.Role, parts(m.Content))
	}
	return q, nil
}

// results adds the tool results in a message to the talk.
func (q *question) results(raw jsoniter.RawMessage) {
	var list []struct {
		Type    string              `json:"type"`
		ID      string              `json:"tool_use_id"`
		Content jsoniter.RawMessage `json:"content"`
	}
	// A content that is a string has no results.
	_ = json.Unmarshal(raw, &list)
	for _, p := range list {
		if p.Type == "tool_result" {
			q.result(p.ID, parts(p.Content))
		}
	}
}

func messagesUsage(a *answer) object {
	return object{
		"input_tokens": max(0, a.input()-CachedTokens), "cache_creation_input_tokens": 0,
		"cache_read_input_tokens": CachedTokens, "output_tokens": a.output(),
	}
}

func stopReason(a *answer) string {
	switch {
	case len(a.Calls) > 0:
		return "tool_use"
	case a.ends("incomplete"):
		return "max_tokens"
	case a.ends("refusal"):
		return "refusal"
	}
	return "end_turn"
}

// blocks are the content blocks of a message, each with its deltas.
func blocks(a *answer) (list []object, deltas [][]object) {
	if a.Move.Think != "" {
		var d []object
		for _, p := range mind.Pieces(a.Move.Think) {
			d = append(d, object{"type": "thinking_delta", "thinking": p})
		}
		d = append(d, object{"type": "signature_delta", "signature": "c2NyaXB0ZWQ="})
		list, deltas = append(list, object{"type": "thinking", "thinking": a.Move.Think, "signature": "c2NyaXB0ZWQ="}), append(deltas, d)
	}
	if a.Move.Say != "" {
		var d []object
		for _, p := range mind.Pieces(a.Move.Say) {
			d = append(d, object{"type": "text_delta", "text": p})
		}
		list, deltas = append(list, object{"type": "text", "text": a.Move.Say}), append(deltas, d)
	}
	for _, c := range a.Calls {
		list = append(list, object{"type": "tool_use", "id": "tool" + c.ID, "name": c.Name, "input": jsoniter.RawMessage(c.Args)})
		deltas = append(deltas, []object{{"type": "input_json_delta", "partial_json": c.Args}})
	}
	return list, deltas
}

func (messages) whole(a *answer) any {
	list, _ := blocks(a)
	content := make([]any, 0, len(list))
	for _, b := range list {
		content = append(content, b)
	}
	return object{
		"id": a.id("msg"), "type": "message", "role": "assistant", "model": a.Model, "content": content,
		"stop_reason": stopReason(a), "stop_sequence": nil, "usage": messagesUsage(a),
	}
}

func (messages) stream(e *events, a *answer) {
	usage := messagesUsage(a)
	usage["output_tokens"] = 1
	e.send("message_start", object{"type": "message_start", "message": object{
		"id": a.id("msg"), "type": "message", "role": "assistant", "model": a.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	list, deltas := blocks(a)
	for i, b := range list {
		start := object{"type": b["type"]}
		switch b["type"] {
		case "thinking":
			start["thinking"], start["signature"] = "", ""
		case "text":
			start["text"] = ""
		case "tool_use":
			start["id"], start["name"], start["input"] = b["id"], b["name"], object{}
		}
		e.send("content_block_start", object{"type": "content_block_start", "index": i, "content_block": start})
		for _, d := range deltas[i] {
			e.piece("content_block_delta", object{"type": "content_block_delta", "index": i, "delta": d})
		}
		if b["type"] == "text" && e.broken(a) {
			return
		}
		e.send("content_block_stop", object{"type": "content_block_stop", "index": i})
	}
	if e.broken(a) {
		return
	}
	e.send("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": stopReason(a), "stop_sequence": nil},
		"usage": object{"output_tokens": a.output()},
	})
	e.send("message_stop", object{"type": "message_stop"})
}
