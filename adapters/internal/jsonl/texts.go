package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Texts is the text of a content value: a string, or a list of blocks whose texts
// are joined by line ends. A block of another kind leaves its kind in brackets.
func Texts(raw json.RawMessage) string {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		var one struct {
			S Str `json:"s"`
		}
		if Decode(append(append([]byte(`{"s":`), raw...), '}'), &one) {
			return string(one.S)
		}
		return ""
	}
	var list struct {
		Blocks []struct {
			Type Str `json:"type"`
			Text Str `json:"text"`
			Tool Str `json:"tool_name"`
		} `json:"l"`
	}
	if raw[0] != '[' || !Decode(append(append([]byte(`{"l":`), raw...), '}'), &list) {
		return ""
	}
	parts := make([]string, 0, len(list.Blocks))
	for _, b := range list.Blocks {
		switch {
		case b.Text != "" || b.Type == "text":
			parts = append(parts, string(b.Text))
		case b.Tool != "":
			parts = append(parts, string(b.Tool))
		case b.Type != "":
			parts = append(parts, "["+string(b.Type)+"]")
		}
	}
	return strings.Join(parts, "\n")
}
