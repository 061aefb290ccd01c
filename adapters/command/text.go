package command

import (
	"bytes"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// plain reads output that is the answer itself: one message, a piece a line. Blank
// lines before the first words give no fact.
type plain struct {
	cfg     *Config
	session string // to announce, "" when nothing is resumed
	said    []byte
	blank   int // line ends held back, so that the text does not end with some
}

const textKey = "text"

// Feed reads one line.
func (p *plain) Feed(line []byte, out *agent.Batch) {
	if p.session != "" {
		out.Add(agent.Fact{Kind: agent.FactSession, Text: p.session})
		p.session = ""
	}
	line = bytes.TrimPrefix(bytes.TrimRight(line, "\r"), []byte("\ufeff"))
	line = bytes.ToValidUTF8(jsonl.StripEscapes(line), []byte("\uFFFD"))
	if len(bytes.TrimSpace(line)) == 0 {
		p.blank++
		return
	}
	from := len(p.said)
	if from > 0 {
		p.said = append(p.said, strings.Repeat("\n", p.blank+1)...)
	}
	p.blank = 0
	p.said = append(p.said, line...)
	out.Add(agent.Fact{Kind: agent.FactText, Key: textKey, Text: out.Text(p.said[from:])})
}

// Close ends the message. The exit is the verdict.
func (p *plain) Close(exit agent.Exit, out *agent.Batch) {
	if len(p.said) > 0 {
		out.Add(agent.Fact{Kind: agent.FactDone, Key: textKey, Item: &event.Item{Type: event.Message, Text: string(p.said)}})
	}
	if exit.Signal == "" && exit.Code != 0 && p.cfg.success(exit.Code) {
		out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Completed}})
	}
}
