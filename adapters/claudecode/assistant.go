package claudecode

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/speech"
	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

type messageLine struct {
	Message struct {
		ID      jsonl.Str          `json:"id"`
		Model   jsonl.Word         `json:"model"`
		Content []streamjson.Block `json:"content"`

		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	Parent    jsonl.Word      `json:"parent_tool_use_id"`
	Error     jsonl.Str       `json:"error"`
	APIError  jsonl.Flag      `json:"is_api_error_message"`
	APIStatus jsonl.Num       `json:"api_error_status"`
	APIType   jsonl.Str       `json:"api_error_type"`
	Result    json.RawMessage `json:"tool_use_result"`
}

// blocks reads a message line. Its content is a list of blocks, or one text.
func blocks(obj []byte) (*messageLine, bool) {
	l := new(messageLine)
	if jsonl.Decode(obj, l) {
		return l, true
	}
	var plain struct {
		Message struct {
			ID      jsonl.Str `json:"id"`
			Content jsonl.Str `json:"content"`
		} `json:"message"`
		Parent jsonl.Word `json:"parent_tool_use_id"`
	}
	if !jsonl.Decode(obj, &plain) || plain.Message.Content == "" {
		return nil, false
	}
	*l = messageLine{Parent: plain.Parent}
	l.Message.ID = plain.Message.ID
	l.Message.Content = streamjson.TextBlock(plain.Message.Content)
	return l, true
}

// assistant takes a consolidated line: usually one block of a message.
func (p *Parser) assistant(obj []byte, out *agent.Batch) (known bool) {
	l, ok := blocks(obj)
	if !ok {
		return false
	}
	if string(l.Message.Model) != "<synthetic>" {
		p.tally.begin(string(l.Parent), string(l.Message.ID), readUsage(l.Message.Usage))
		p.tally.tell(out)
	}
	if len(l.Parent) > 0 {
		return p.theirs(l, out)
	}
	if l.Error != "" || bool(l.APIError) || string(l.Message.Model) == "<synthetic>" {
		return p.synthetic(l, out)
	}
	id := string(l.Message.ID)
	for i := range l.Message.Content {
		b := &l.Message.Content[i]
		switch string(b.Type) {
		case "text":
			p.speech.Whole(id, speech.Text, string(b.Text), out)
		case "thinking":
			p.speech.Whole(id, speech.Thinking, string(b.Thinking), out)
		case "tool_use", "server_tool_use", "mcp_tool_use":
			p.speech.Close(out)
			p.call(b, "", out)
		case "redacted_thinking":
		default:
			if b.ToolUseID == "" {
				continue
			}
			p.returned(b, nil, out)
		}
		known = true
	}
	return known
}

// synthetic takes what the CLI itself says in the model's place: why the provider
// refused.
func (p *Parser) synthetic(l *messageLine, out *agent.Batch) bool {
	p.speech.Close(out)
	said := ""
	for _, b := range l.Message.Content {
		said += string(b.Text)
	}
	if l.Error != "" || bool(l.APIError) {
		p.apiError = &apiError{Class: string(l.Error), Text: said, Status: int64(l.APIStatus), Type: string(l.APIType)}
	}
	if said == "" {
		return false
	}
	notice(out, said)
	return true
}

// user takes tool results. Texts are the CLI's own words to the model.
func (p *Parser) user(obj []byte, out *agent.Batch) (known bool) {
	l, ok := blocks(obj)
	if !ok {
		return false
	}
	if len(l.Parent) > 0 {
		return p.theirs(l, out)
	}
	p.speech.Close(out)
	for i := range l.Message.Content {
		b := &l.Message.Content[i]
		switch {
		case b.ToolUseID != "":
			known = p.returned(b, l.Result, out) || known
		case b.Text != "":
			notice(out, string(b.Text))
			known = true
		}
	}
	return known
}
