package cursor

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// Parser reads one run. Lines that say nothing of their own and give no fact: blank
// ones, the echoed prompt, and a passage that only repeats its pieces.
type Parser struct {
	name string // of the adapter, as the server of its own tools
	cwd  string

	line     line
	ended    bool
	messages int
	said     string // of the open message, then of the one before
	open     bool
	thoughts int
	thinking bool
	mused    string // of the open reasoning
	calls    int
	lastCall string // of a call without an id
}

var _ agent.Parser = (*Parser)(nil)

// NewParser reads the dialect for an adapter of the given name.
func NewParser(r *agent.Request, name string) *Parser {
	return &Parser{name: name, cwd: r.Workspace}
}

type line struct {
	Type      jsonl.Word                 `json:"type"`
	Subtype   jsonl.Word                 `json:"subtype"`
	SessionID jsonl.Str                  `json:"session_id"`
	Text      jsonl.Str                  `json:"text"`
	Message   json.RawMessage            `json:"message"`
	Timestamp json.RawMessage            `json:"timestamp_ms"`
	ModelCall jsonl.Str                  `json:"model_call_id"`
	CallID    jsonl.Str                  `json:"call_id"`
	Tool      map[string]json.RawMessage `json:"tool_call"`
	IsError   jsonl.Flag                 `json:"is_error"`
	Result    jsonl.Str                  `json:"result"`
}

// Feed reads one line.
func (p *Parser) Feed(raw []byte, out *agent.Batch) {
	obj, ok := jsonl.Object(raw)
	p.line = line{}
	if !ok || p.ended || !jsonl.Decode(obj, &p.line) {
		jsonl.Unknown(raw, out)
		return
	}
	l := &p.line
	switch kind := string(l.Type); {
	case kind == "system" && string(l.Subtype) == "init" && l.SessionID != "":
		out.Add(agent.Fact{Kind: agent.FactSession, Text: string(l.SessionID)})
	case kind == "user":
	case kind == "assistant":
		p.assistant(raw, out)
	case kind == "thinking":
		p.thought(out)
	case kind == "tool_call":
		p.tool(raw, out)
	case kind == "result":
		p.result(out)
	default:
		jsonl.Unknown(raw, out)
	}
}

// assistant takes a piece of a passage, or a whole one.
func (p *Parser) assistant(raw []byte, out *agent.Batch) {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	if !jsonl.Decode(p.line.Message, &m) {
		jsonl.Unknown(raw, out)
		return
	}
	text := jsonl.Texts(m.Content)
	if text == "" {
		jsonl.Unknown(raw, out)
		return
	}
	p.think(out)
	if !jsonl.Null(p.line.Timestamp) && p.line.ModelCall == "" {
		p.piece(text, out)
		return
	}
	if !p.open {
		if text == p.said { // told and closed already
			return
		}
		p.piece(text, out)
	} else if rest, ok := strings.CutPrefix(text, p.said); ok && rest != "" {
		p.piece(rest, out)
	}
	p.close(out)
}

func (p *Parser) key() string { return fmt.Sprintf("message/%d", p.messages) }

func (p *Parser) piece(text string, out *agent.Batch) {
	if !p.open {
		p.open, p.said = true, ""
		p.messages++
	}
	p.said += text
	out.Add(agent.Fact{Kind: agent.FactText, Key: p.key(), Text: text})
}

func (p *Parser) close(out *agent.Batch) {
	if p.open {
		p.open = false
		out.Add(agent.Fact{Kind: agent.FactDone, Key: p.key(), Item: &event.Item{Type: event.Message, Text: p.said}})
	}
}

// thought takes a piece of reasoning, or its end.
func (p *Parser) thought(out *agent.Batch) {
	if p.line.Text == "" {
		p.think(out)
		return
	}
	if !p.thinking {
		p.thinking, p.mused = true, ""
		p.thoughts++
	}
	p.mused += string(p.line.Text)
	out.Add(agent.Fact{Kind: agent.FactReasoning, Key: fmt.Sprintf("thinking/%d", p.thoughts), Text: string(p.line.Text)})
}

// think closes the open reasoning.
func (p *Parser) think(out *agent.Batch) {
	if p.thinking {
		p.thinking = false
		out.Add(agent.Fact{Kind: agent.FactDone, Key: fmt.Sprintf("thinking/%d", p.thoughts), Item: &event.Item{Type: event.Reasoning, Text: p.mused}})
	}
}

func (p *Parser) result(out *agent.Batch) {
	p.close(out)
	p.think(out)
	v := &agent.Verdict{Final: true, Outcome: event.Completed, Text: string(p.line.Result)}
	if p.line.IsError || string(p.line.Subtype) != "success" {
		v.Outcome, v.Text = event.Failed, ""
		v.Failure = reason.Failure(reason.Code(string(p.line.Result), event.CLICrashed), string(p.line.Result))
	}
	p.ended = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
}

// Close gives the verdict of a run that failed without a result line and told why on
// stderr in words that are known.
func (p *Parser) Close(exit agent.Exit, out *agent.Batch) {
	if p.ended {
		return
	}
	p.close(out)
	p.think(out)
	if exit.Signal != "" || exit.Code == 0 {
		return
	}
	text := strings.TrimSpace(exit.Stderr)
	code := reason.Code(text, "")
	if code == "" {
		return // the turn tells exit status and stderr as they are
	}
	p.ended = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{
		Final: true, Outcome: event.Failed, Failure: reason.Failure(code, fmt.Sprintf("%s (exit status %d)", text, exit.Code)),
	}})
}
