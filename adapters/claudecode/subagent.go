package claudecode

import (
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/speech"
)

// theirs takes a line of a subagent, its messages and its tools' results. A line of
// a call that was never told is not known.
func (p *Parser) theirs(l *messageLine, out *agent.Batch) (known bool) {
	call := p.tools[string(l.Parent)]
	if call == nil || call.item.Type != event.Subagent {
		return false
	}
	s := p.speechOf(call)
	defer s.Close(out) // nothing is streamed: a text is whole
	id, said := string(l.Message.ID), l.Error != "" || bool(l.APIError) || string(l.Message.Model) == "<synthetic>"
	for i := range l.Message.Content {
		b := &l.Message.Content[i]
		switch kind := string(b.Type); {
		case b.ToolUseID != "":
			known = p.returned(b, l.Result, out) || known
			continue
		case kind == "text" && id != "" && !said:
			s.Whole(id, speech.Text, string(b.Text), out)
		case kind == "text" && string(b.Text) != "" && string(b.Text) != call.item.Prompt:
			notice(out, string(b.Text)) // the CLI's own words, or the provider's refusal
		case kind == "thinking":
			s.Whole(id, speech.Thinking, string(b.Thinking), out)
		case kind == "tool_use", kind == "server_tool_use", kind == "mcp_tool_use":
			s.Close(out)
			p.call(b, call.id, out)
		case kind == "text", kind == "redacted_thinking":
		default:
			continue
		}
		known = true
	}
	return known
}

func (p *Parser) speechOf(call *tool) *speech.Speech {
	if p.theirSay == nil {
		p.theirSay = map[string]*speech.Speech{}
	}
	s := p.theirSay[call.id]
	if s == nil {
		s = &speech.Speech{Parent: call.id}
		p.theirSay[call.id] = s
	}
	return s
}

// report is what a subagent reported, out of the frame that the CLI puts round it
// for the model. It indents the report's lines, and follows it with lines of its own.
func report(said string) string {
	_, framed, ok := strings.Cut(said, "The report follows:\n")
	if !ok {
		return said
	}
	var b strings.Builder
	for line := range strings.Lines(framed) {
		own, ok := strings.CutPrefix(line, "  ")
		if !ok {
			break
		}
		b.WriteString(own)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
