package appserver

import (
	"encoding/json"

	"github.com/agenthost/agenthost/fakes/mind"
)

func (t *turn) call(c *mind.Call) (result string, on bool) {
	switch c.Kind {
	case mind.Shell:
		return t.shell(c.Args)
	case mind.MCP:
		return t.tool(c)
	}
	return "there is no such tool", true
}

func (t *turn) shell(command string) (string, bool) {
	item := object{"type": "commandExecution", "id": t.newItem(), "command": command, "status": "inProgress"}
	t.item("item/started", item)
	output, code, on := t.errand().Shell(command)
	item["status"], item["aggregatedOutput"], item["exitCode"] = "completed", output, code
	if code != 0 {
		item["status"] = "failed"
	}
	t.item("item/completed", item)
	return output, on
}

func (t *turn) tool(c *mind.Call) (result string, on bool) {
	item := object{"type": "mcpToolCall", "id": t.newItem(), "server": c.Server, "tool": c.Name, "arguments": json.RawMessage(c.Args), "status": "inProgress"}
	t.item("item/started", item)
	result, on, err := t.errand().Tool(c)
	if err != nil {
		result = err.Error()
		item["status"], item["error"] = "failed", object{"message": result}
	} else {
		item["status"], item["result"] = "completed", object{"content": []object{{"type": "text", "text": result}}}
	}
	t.item("item/completed", item)
	return result, on
}
