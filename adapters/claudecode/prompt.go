package claudecode

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/spec"
)

// promptTool is the tool that --permission-prompt-tool names.
const promptTool = "approve"

// PromptTool is what the CLI calls before it uses a tool that is not allowed. Seen
// with 2.1.328: {tool_name, input, tool_use_id}; it wants a text that is JSON,
// {behavior: allow, updatedInput} or {behavior: deny, message}.
func (*Adapter) PromptTool() spec.Function {
	return spec.Function{
		Name: promptTool, Description: "Asks the person in charge for permission to use a tool.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"tool_name":{"type":"string"},"input":{"type":"object"},"tool_use_id":{"type":"string"}},"required":["tool_name","input"]}`),
	}
}

// Prompt reads a question.
func (*Adapter) Prompt(arguments []byte) (agent.Prompt, error) {
	var in struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil {
		return agent.Prompt{}, fmt.Errorf("claude-code: question for permission: %w", err)
	}
	if in.Tool == "" {
		return agent.Prompt{}, fmt.Errorf("claude-code: question for permission names no tool")
	}
	p := agent.Prompt{Tool: in.Tool, Arguments: string(in.Input)}
	if rest, ok := strings.CutPrefix(in.Tool, "mcp__"); ok {
		if server, tool, ok := strings.Cut(rest, "__"); ok {
			p.Server, p.Tool = server, tool
		}
	}
	return p, nil
}

// Permit is the answer that the CLI understands.
func (*Adapter) Permit(p agent.Prompt, approved bool, reason string) string {
	out := struct {
		Behavior string          `json:"behavior"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
		Message  string          `json:"message,omitempty"`
	}{Behavior: "deny", Message: reason}
	if approved {
		out.Behavior, out.Message, out.Input = "allow", "", json.RawMessage(p.Arguments)
		if !json.Valid(out.Input) {
			out.Input = json.RawMessage("{}")
		}
	}
	b, _ := json.Marshal(out) // strings and checked JSON
	return string(b)
}
