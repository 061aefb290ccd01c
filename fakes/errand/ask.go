package errand

import (
	"bufio"
	"encoding/json"
	"fmt"

	"github.com/agenthost/agenthost/fakes/mind"
)

type object = map[string]any

type stream interface{ Write([]byte) (int, error) }

// ask does one call of a tool.
func ask(in stream, out interface{ Read([]byte) (int, error) }, c *mind.Call) (string, error) {
	lines := bufio.NewReader(out)
	var answer struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	for n, r := range []object{
		{"method": "initialize", "params": object{"protocolVersion": "2025-06-18"}},
		{"method": "tools/call", "params": object{"name": c.Name, "arguments": json.RawMessage(c.Args)}},
	} {
		r["jsonrpc"], r["id"] = "2.0", n+1
		b, err := json.Marshal(r)
		if err != nil {
			return "", err
		}
		if _, err := in.Write(append(b, '\n')); err != nil {
			return "", fmt.Errorf("the tool server is gone: %w", err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return "", fmt.Errorf("the tool server did not answer: %w", err)
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			return "", err
		}
	}
	if len(answer.Result.Content) == 0 {
		return "", nil
	}
	return answer.Result.Content[0].Text, nil
}
