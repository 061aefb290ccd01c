package codex

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// question is a request of Codex's that waits for a person.
type question struct {
	id     json.RawMessage // of the JSON-RPC request
	permit func(approved bool) any
}

// request is what Codex asks in a turn.
type request struct {
	Thread  jsonl.Str       `json:"threadId"`
	Turn    jsonl.Str       `json:"turnId"`
	ItemID  jsonl.Str       `json:"itemId"`
	Command jsonl.Str       `json:"command"`
	Cwd     jsonl.Str       `json:"cwd"`
	Reason  jsonl.Str       `json:"reason"`
	Root    jsonl.Str       `json:"grantRoot"`
	Server  jsonl.Str       `json:"serverName"`
	Message jsonl.Str       `json:"message"`
	Wanted  json.RawMessage `json:"permissions"`
	Meta    struct {
		Kind jsonl.Str       `json:"codex_approval_kind"`
		Tool jsonl.Str       `json:"tool_name"`
		Args json.RawMessage `json:"tool_params"`
	} `json:"_meta"`
}

// decision answers a question about a command or a file.
func decision(approved bool) any {
	if approved {
		return map[string]any{"decision": "accept"}
	}
	return map[string]any{"decision": "decline"}
}

// asks takes a request of Codex's. It waits for each answer, so each gets one:
// what nobody can answer is refused.
func (p *protocol) asks(m *envelope, size int, out *agent.Talk) {
	var r request
	ok := !jsonl.Null(m.Params) && jsonl.Decode(m.Params, &r)
	q := question{id: m.ID}
	var prompt agent.Prompt
	s := p.threads[string(r.Thread)]
	switch m.Method {
	case "item/commandExecution/requestApproval":
		q.permit = decision
		prompt = agent.Prompt{Tool: "command_execution", Message: string(r.Reason), Arguments: arguments(struct {
			Command string `json:"command,omitempty"`
			Cwd     string `json:"cwd,omitempty"`
		}{string(r.Command), string(r.Cwd)})}
	case "item/fileChange/requestApproval":
		q.permit = decision
		var paths []string
		if s != nil {
			paths = s.changes[string(r.ItemID)]
		}
		prompt = agent.Prompt{Tool: "file_change", Message: string(r.Reason), Arguments: arguments(struct {
			Paths []string `json:"paths"`
			Root  string   `json:"grant_root,omitempty"`
		}{append([]string{}, paths...), string(r.Root)})}
	case "item/permissions/requestApproval":
		q.permit = func(approved bool) any {
			if approved {
				return map[string]any{"permissions": r.Wanted, "scope": "turn"}
			}
			return map[string]any{"permissions": struct{}{}, "scope": "turn"}
		}
		prompt = agent.Prompt{Tool: "permissions", Message: string(r.Reason), Arguments: jsonl.Args(r.Wanted)}
	case "mcpServer/elicitation/request":
		if r.Meta.Kind != "mcp_tool_call" {
			reply(m.ID, map[string]any{"action": "decline"}, out) // a form that nobody is shown
			return
		}
		q.permit = func(approved bool) any {
			if approved {
				return map[string]any{"action": "accept", "content": struct{}{}}
			}
			return map[string]any{"action": "decline"}
		}
		prompt = agent.Prompt{Server: string(r.Server), Tool: string(r.Meta.Tool), Message: string(r.Message), Arguments: jsonl.Args(r.Meta.Args)}
	default:
		write(map[string]any{"id": m.ID, "error": map[string]any{"code": -32601, "message": "the host does not do this"}}, out)
		return
	}
	if !ok || s == nil || s.ended || s.r.Permissions != spec.Ask {
		reply(m.ID, q.permit(false), out)
		return
	}
	said := out.Turn(s.id)
	said.Bytes += int64(size)
	key := string(m.ID)
	s.questions[key] = q
	said.Questions = append(said.Questions, agent.Question{ID: key, Prompt: prompt})
}

func reply(id json.RawMessage, result any, out *agent.Talk) {
	write(map[string]any{"id": id, "result": result}, out)
}

// Permit answers a question. Codex has no place for a reason.
func (p *protocol) Permit(turn event.ID, key string, approved bool, _ string, out *agent.Talk) {
	s := p.turns[turn]
	if s == nil {
		return
	}
	q, ok := s.questions[key]
	if !ok {
		return
	}
	delete(s.questions, key)
	reply(q.id, q.permit(approved), out)
}
