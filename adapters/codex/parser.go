package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/briefing"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// Parser reads the lines of `codex exec --json`. Lines that say nothing of their
// own and give no fact: blank ones and turn.started.
type Parser struct {
	name   string // of the adapter, as the server of its own tools
	cwd    string
	native string // the thread that was asked for, "" for a new one
	strict bool   // another thread than the one asked for is a failure
	memory memory // of the turns before

	line    line
	scan    jsonl.Scanner
	said    item // of lines that were read quickly
	count   int
	ended   bool
	errText string
	open    map[string]*progress
	plan    plan.Plan
	spawned map[string]*spawn // subagents at work by their threads
}

// progress is how much of an open item was told.
type progress struct{ told string }

var _ agent.Parser = (*Parser)(nil)

// NewParser reads the dialect for an adapter of the given name. A thread with
// another id than the one asked for is taken as it comes.
func NewParser(r *agent.Request, name string) *Parser {
	p := &Parser{name: name, cwd: r.Workspace, native: r.Native, open: map[string]*progress{}}
	p.memory, _ = remember(r)
	p.memory.Instructions = briefing.Identify(r.Instructions)
	return p
}

type line struct {
	Type     jsonl.Word      `json:"type"`
	ThreadID jsonl.Str       `json:"thread_id"`
	Item     *item           `json:"item"`
	Message  jsonl.Str       `json:"message"`
	Error    json.RawMessage `json:"error"`
	Usage    json.RawMessage `json:"usage"`
}

// What quick has seen of a line.
const (
	seenType = 1 << iota
	seenItem
	seenID
	seenItemType
	seenText
)

// quick reads a line if it is a message or a thought in its usual shape, into it, and
// reports whether it is. It reads what jsonl.Object and Decode would; after false they
// are to be asked.
func (l *line) quick(raw []byte, s *jsonl.Scanner, it *item) bool {
	*l, *it = line{Item: it}, item{}
	s.Begin(raw)
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "type":
			s.Once(seenType)
			l.Type = s.WordOrSkip()
		case "item":
			s.Once(seenItem)
			s.Enter()
			if !it.quick(s) {
				return false
			}
		case "thread_id", "message", "error", "usage":
			return false
		default:
			s.Skip()
		}
	}
	return s.Ended() && s.Saw(seenType|seenItem|seenItemType)
}

func (it *item) quick(s *jsonl.Scanner) bool {
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "id":
			s.Once(seenID)
			it.ID = jsonl.Str(s.Text())
		case "type":
			s.Once(seenItemType)
			it.Type = s.WordOrSkip()
			if t := string(it.Type); t != "agent_message" && t != "reasoning" {
				return false
			}
		case "text":
			s.Once(seenText)
			it.Text = jsonl.Str(s.Text())
		default:
			return false
		}
	}
	return true
}

// Feed reads one line.
func (p *Parser) Feed(raw []byte, out *agent.Batch) {
	p.count++
	if !p.line.quick(raw, &p.scan, &p.said) {
		obj, ok := jsonl.Object(raw)
		p.line = line{}
		if !ok || !jsonl.Decode(obj, &p.line) {
			jsonl.Unknown(raw, out)
			return
		}
	}
	if p.ended {
		jsonl.Unknown(raw, out)
		return
	}
	switch string(p.line.Type) {
	case "thread.started":
		p.started(string(p.line.ThreadID), raw, out)
	case "turn.started":
	case "item.started", "item.updated":
		p.item(p.line.Item, false, raw, out)
	case "item.completed":
		p.item(p.line.Item, true, raw, out)
	case "error":
		p.notice(string(p.line.Message), raw, out)
	case "turn.completed":
		p.completed(out)
	case "turn.failed":
		p.failed(out)
	default:
		jsonl.Unknown(raw, out)
	}
}

func (p *Parser) started(id string, raw []byte, out *agent.Batch) {
	if id == "" {
		jsonl.Unknown(raw, out)
		return
	}
	out.Add(agent.Fact{Kind: agent.FactSession, Text: id})
	if p.strict && p.native != "" && !strings.EqualFold(id, p.native) {
		p.verdict(&agent.Verdict{Final: true, Outcome: event.Failed, Failure: event.Fail(event.ResumeLost, fmt.Sprintf(
			"codex no longer knows thread %s and started thread %s without its history; the next input goes on there", p.native, id)),
			Carry: memory{Instructions: p.memory.Instructions}.encode()}, out)
	}
}

// notice keeps an error line, which alone ends nothing: retries announce themselves
// like that.
func (p *Parser) notice(text string, raw []byte, out *agent.Batch) {
	if text == "" {
		jsonl.Unknown(raw, out)
		return
	}
	p.errText = text
	out.Add(agent.Fact{Kind: agent.FactNotice, Text: text})
}

func (p *Parser) completed(out *agent.Batch) {
	v := &agent.Verdict{Final: true, Outcome: event.Completed}
	if total, ok := readUsage(p.line.Usage); ok {
		v.Usage, p.memory.Usage = since(p.memory.Usage, total), total
	}
	v.Carry = p.memory.encode()
	p.verdict(v, out)
}

func (p *Parser) failed(out *agent.Batch) {
	var body struct {
		Message jsonl.Str `json:"message"`
	}
	text := p.errText
	if jsonl.Decode(p.line.Error, &body) && body.Message != "" {
		text = string(body.Message)
	}
	p.verdict(&agent.Verdict{Final: true, Outcome: event.Failed, Failure: reason.Failure(reason.Code(text, event.CLICrashed), text), Carry: p.memory.encode()}, out)
}

func (p *Parser) verdict(v *agent.Verdict, out *agent.Batch) {
	p.plan.Close(out)
	p.ended = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
}

// Close gives the verdict that only the exit tells: Codex ended by itself, with an
// error line or with words on stderr, and without a terminal line.
func (p *Parser) Close(exit agent.Exit, out *agent.Batch) {
	if p.ended {
		return
	}
	p.plan.Close(out)
	if exit.Signal != "" {
		return
	}
	text, code := p.errText, event.CLICrashed
	if text != "" {
		code = reason.Code(text, code)
	} else if exit.Code != 0 {
		text = strings.TrimSpace(exit.Stderr)
		if code = reason.Code(text, ""); code == "" {
			return // the turn tells exit status and stderr as they are
		}
		text = fmt.Sprintf("%s (exit status %d)", text, exit.Code)
	}
	if text == "" {
		return
	}
	p.ended = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: reason.Failure(code, text)}})
}
