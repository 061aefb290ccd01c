package qwen

import (
	"encoding/json"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/speech"
	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

// blocks reads the content of a message line: a list of blocks, or one text.
func blocks(obj []byte) ([]streamjson.Block, bool) {
	var l struct {
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if !jsonl.Decode(obj, &l) || jsonl.Null(l.Message.Content) {
		return nil, false
	}
	var list struct {
		Blocks []streamjson.Block `json:"l"`
	}
	if jsonl.Decode(streamjson.Wrap("l", l.Message.Content), &list) {
		return list.Blocks, true
	}
	if text := jsonl.Texts(l.Message.Content); text != "" {
		return streamjson.TextBlock(jsonl.Str(text)), true
	}
	return nil, false
}

// assistant takes consolidated blocks. Without a stream around them each line is a
// message of its own.
func (p *parser) assistant(obj []byte, out *agent.Batch) (known bool) {
	list, ok := blocks(obj)
	if !ok {
		return false
	}
	streamed := p.live
	if !streamed {
		p.begin(out)
	}
	for i := range list {
		b := &list[i]
		switch string(b.Type) {
		case "text":
			p.whole(string(b.Text), streamed, out)
		case "thinking":
			p.speech.Whole(p.current(), speech.Thinking, string(b.Thinking), out)
		case "tool_use":
			p.release(out)
			p.speech.Close(out)
			p.call(b, out)
		default:
			continue
		}
		known = true
	}
	return known
}

// whole is a consolidated text. What is held of it waits for the result.
func (p *parser) whole(text string, streamed bool, out *agent.Batch) {
	if !streamed && p.held == "" && strings.HasPrefix(text, apiError) {
		p.held = text
	}
	if p.held != "" {
		text = strings.TrimSuffix(text, p.held)
	}
	if text != "" {
		p.speech.Whole(p.current(), speech.Text, text, out)
	}
}

// user takes tool results. Texts are the CLI's own words to the model.
func (p *parser) user(obj []byte, out *agent.Batch) (known bool) {
	list, ok := blocks(obj)
	if !ok {
		return false
	}
	p.release(out)
	p.speech.Close(out)
	for i := range list {
		b := &list[i]
		switch {
		case b.ToolUseID != "":
			known = p.returned(b, out) || known
		case b.Text != "":
			notice(out, string(b.Text))
			known = true
		}
	}
	return known
}
