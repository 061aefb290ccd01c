package streamjson

import (
	"encoding/json"

	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// Block is one block of a message's content.
type Block struct {
	Type     jsonl.Word      `json:"type"`
	Text     jsonl.Str       `json:"text"`
	Thinking jsonl.Str       `json:"thinking"`
	ID       jsonl.Str       `json:"id"`
	Name     jsonl.Str       `json:"name"`
	Input    json.RawMessage `json:"input"`

	ToolUseID jsonl.Str       `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   jsonl.Flag      `json:"is_error"`
}

// TextBlock is the content that is one text.
func TextBlock(text jsonl.Str) []Block { return []Block{{Type: jsonl.Word("text"), Text: text}} }

// Server is an MCP server as the CLI tells of it at its start.
type Server struct {
	Name   jsonl.Str `json:"name"`
	Status jsonl.Str `json:"status"`
}

// Servers reads the list of the CLI's MCP servers; what is none gives none.
func Servers(raw json.RawMessage) []Server {
	var l struct {
		Servers []Server `json:"l"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(Wrap("l", raw), &l) {
		return nil
	}
	return l.Servers
}

// Wrap puts a JSON value that is no object into one, for jsonl.Decode.
func Wrap(key string, value []byte) []byte {
	return append(append([]byte(`{"`+key+`":`), value...), '}')
}
