package acp

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
	"github.com/agenthost/agenthost/adapters/internal/speech"
)

// update is what a session tells of itself.
type update struct {
	Kind    jsonl.Str       `json:"sessionUpdate"`
	Message jsonl.Str       `json:"messageId"`
	Content json.RawMessage `json:"content"`
	Meta    meta            `json:"_meta"`
	Mode    jsonl.Str       `json:"currentModeId"`
	Entries []struct {
		Content jsonl.Str `json:"content"`
		Status  jsonl.Str `json:"status"`
	} `json:"entries"`
	toolCall
}

// meta is what some CLIs tell beyond the protocol.
type meta struct {
	Tool   jsonl.Str `json:"toolName"`
	Server jsonl.Str `json:"serverId"`
	Usage  *struct {
		Input    jsonl.Num `json:"inputTokens"`
		Output   jsonl.Num `json:"outputTokens"`
		Thought  jsonl.Num `json:"thoughtTokens"`
		Cached   jsonl.Num `json:"cachedReadTokens"`
		Written  jsonl.Num `json:"cachedWriteTokens"`
		Reported jsonl.Num `json:"totalTokens"`
	} `json:"usage"`
}

// silent are the kinds that say nothing that a caller is told.
var silent = map[string]bool{
	"user_message_chunk": true, "available_commands_update": true, "usage_update": true, "config_option_update": true,
	"session_info_update": true,
}

// maxUnknown bounds how many updates of unknown kinds a turn keeps.
const maxUnknown = 100

// updated takes a session/update. One about a session that is not prompted is history
// that is told again, or about nothing of ours.
func (p *protocol) updated(raw json.RawMessage, whole []byte, out *agent.Talk) {
	var m struct {
		Session jsonl.Word      `json:"sessionId"`
		Update  json.RawMessage `json:"update"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &m) {
		return
	}
	s := p.sessions[string(m.Session)]
	if s == nil || !s.running || s.ended {
		return
	}
	said := out.Turn(s.id)
	said.Bytes += int64(len(whole))
	b := said.Batch
	s.tell(b)
	var u update
	if jsonl.Null(m.Update) || !jsonl.Decode(m.Update, &u) {
		s.unknown(whole, b)
		return
	}
	switch kind := string(u.Kind); kind {
	case "agent_message_chunk":
		s.piece(speech.Text, &u, whole, b)
		if p.agent.Usage == ByRequest {
			s.count(&u.Meta, b)
		}
	case "agent_thought_chunk":
		s.piece(speech.Thinking, &u, whole, b)
	case "tool_call", "tool_call_update":
		s.tool(p.agent, &u, b)
		s.mark(p.agent, out)
	case "plan":
		s.speech.Close(b)
		steps := make([]plan.Step, len(u.Entries))
		for i, e := range u.Entries {
			steps[i] = plan.Step{Text: string(e.Content), Done: e.Status == "completed"}
		}
		s.plan.Update(steps, b)
	case "current_mode_update":
		p.strayed(s, string(u.Mode), out)
	default:
		if !silent[kind] {
			s.unknown(whole, b)
		}
	}
}

// mark tells what the turn's tools can be found by.
func (s *served) mark(a *Agent, out *agent.Talk) {
	if !s.leaves {
		return
	}
	said := out.Turn(s.id)
	said.Tools = true
	if a.Mark != "" {
		said.Mark = a.Mark + "=" + s.session
	}
}

// piece takes a piece of a message or of a thought. Messages have ids with some CLIs
// only; with the others a new one begins behind each tool.
func (s *served) piece(k speech.Kind, u *update, whole []byte, b *agent.Batch) {
	var c struct {
		Type jsonl.Str `json:"type"`
		Text jsonl.Str `json:"text"`
	}
	if jsonl.Null(u.Content) || !jsonl.Decode(u.Content, &c) {
		s.unknown(whole, b)
		return
	}
	s.says(k, c.Type == "text", string(c.Text), whole, b)
}

// says tells the text of a piece. One that is of another type and has none is unknown.
func (s *served) says(k speech.Kind, typed bool, text string, whole []byte, b *agent.Batch) {
	switch {
	case text != "":
		s.speech.Piece(k, text, b)
	case !typed:
		s.unknown(whole, b)
	}
}

func (s *served) unknown(whole []byte, b *agent.Batch) {
	if s.said++; s.said <= maxUnknown {
		jsonl.Unknown(whole, b)
	}
}

// count adds what one request used.
func (s *served) count(m *meta, b *agent.Batch) {
	u := m.Usage
	if u == nil {
		return
	}
	if s.used == nil {
		s.used = &event.Usage{}
	}
	now := *s.used // what was told stays as it is
	now.Input += int64(u.Input)
	now.Output += int64(u.Output)
	now.Reasoning += int64(u.Thought)
	now.Cached += int64(u.Cached)
	now.CacheWrite += int64(u.Written)
	s.used = &now
	b.Add(agent.Fact{Kind: agent.FactUsage, Usage: s.used})
}

// maxRestored is how often a CLI may leave the mode of its permissions by itself.
const maxRestored = 8

// strayed sets the mode again that the CLI has left: another might do more than the
// turn may.
func (p *protocol) strayed(s *served, now string, out *agent.Talk) {
	if s.mode.ID == "" || now == s.mode.ID {
		return
	}
	if s.restored++; s.restored > maxRestored {
		p.fail(s, event.Fail(event.CLICrashed, p.agent.Name+" leaves the mode of its permissions again and again"), out)
		p.notify("session/cancel", map[string]any{"sessionId": s.session}, out)
		p.withdraw(s, out)
		return
	}
	p.request(call{what: mode, turn: s}, "session/set_mode", map[string]any{"sessionId": s.session, "modeId": s.mode.ID}, out)
}
