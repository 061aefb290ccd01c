package claudecode

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// question is a request of the CLI's that waits for a person.
type question struct {
	id     string
	prompt agent.Prompt
}

// asks takes a request of the CLI's. It waits for each answer, so each gets one: what
// nobody can answer is refused.
func (p *protocol) asks(l *line, size int, out *agent.Talk) {
	var head struct {
		Subtype jsonl.Word `json:"subtype"`
	}
	if jsonl.Null(l.Request) || !jsonl.Decode(l.Request, &head) || string(head.Subtype) != "can_use_tool" {
		answer(string(l.RequestID), "error", "error", "the host does not do this", out)
		return
	}
	q := question{id: string(l.RequestID)}
	prompt, err := (*Adapter)(nil).Prompt(l.Request)
	if err != nil {
		q.permit(false, "the host did not understand the question", out)
		return
	}
	q.prompt = prompt
	t := p.turn
	switch {
	case t == nil:
		q.permit(false, "nobody asked for this", out)
	case t.cancelled:
		q.permit(false, "the turn was stopped", out)
	case t.r.Permissions != spec.Ask:
		q.permit(false, "nobody can be asked", out)
	default:
		said := out.Turn(t.id)
		said.Bytes += int64(size)
		t.questions[q.id] = q
		said.Questions = append(said.Questions, agent.Question{ID: q.id, Prompt: prompt})
	}
}

func (q *question) permit(approved bool, reason string, out *agent.Talk) {
	answer(q.id, "success", "response", json.RawMessage((*Adapter)(nil).Permit(q.prompt, approved, reason)), out)
}

func answer(id, subtype, field string, body any, out *agent.Talk) {
	write(map[string]any{"type": "control_response", "response": map[string]any{"subtype": subtype, "request_id": id, field: body}}, out)
}

// Permit answers a question.
func (p *protocol) Permit(turn event.ID, key string, approved bool, reason string, out *agent.Talk) {
	t := p.turn
	if t == nil || t.id != turn {
		return
	}
	q, ok := t.questions[key]
	if !ok {
		return
	}
	delete(t.questions, key)
	q.permit(approved, reason, out)
}
