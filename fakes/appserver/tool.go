package appserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"

	"github.com/agenthost/agenthost/fakes/mind"
)

// tool asks a tool server that is started for this one call.
func (t *turn) tool(c *mind.Call) (result string, on bool) {
	id := t.newItem()
	item := object{"type": "mcpToolCall", "id": id, "server": c.Server, "tool": c.Name, "arguments": json.RawMessage(c.Args), "status": "inProgress"}
	t.item("item/started", item)
	cmd := exec.Command(t.Tools[0], t.Tools[1:]...)
	cmd.Env, cmd.SysProcAttr = t.environ(), ownSession()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err.Error(), true
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err.Error(), true
	}
	var failed error = fmt.Errorf("the tool server did not start")
	on = t.await(cmd, func() error {
		result, failed = ask(in, out, c)
		_ = in.Close() // it ends with its input
		return cmd.Wait()
	})
	if failed != nil {
		result = failed.Error()
		item["status"], item["error"] = "failed", object{"message": result}
	} else {
		item["status"], item["result"] = "completed", object{"content": []object{{"type": "text", "text": result}}}
	}
	t.item("item/completed", item)
	return result, on
}

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
