package cursor

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// Parser reads one run. Lines that say nothing of their own and give no fact: blank
// ones, the echoed prompt, a passage that only repeats its pieces, and a list of to-dos
// that has not changed.
type Parser struct {
	name   string // of the adapter, as the server of its own tools
	cwd    string
	native string // the chat that was asked for, "" for a new one
	carry  []byte // for the next turn
	bare   string // the last line that was no JSON

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
	plan     plan.Plan
}

var _ agent.Parser = (*Parser)(nil)

// NewParser reads the dialect for an adapter of the given name.
func NewParser(r *agent.Request, name string) *Parser {
	return &Parser{name: name, cwd: r.Workspace, native: r.Native}
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
	Usage     json.RawMessage            `json:"usage"`
}

// Feed reads one line.
func (p *Parser) Feed(raw []byte, out *agent.Batch) {
	obj, ok := jsonl.Object(raw)
	p.line = line{}
	if !ok || p.ended || !jsonl.Decode(obj, &p.line) {
		if !ok && !jsonl.Blank(raw) {
			p.bare = strings.TrimSpace(jsonl.Clip(jsonl.StripEscapes(raw), 1000))
		}
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
	p.plan.Close(out)
	v := &agent.Verdict{Final: true, Outcome: event.Completed, Text: string(p.line.Result), Usage: readUsage(p.line.Usage), Carry: p.carry}
	if p.line.IsError || string(p.line.Subtype) != "success" {
		v.Outcome, v.Text = event.Failed, ""
		v.Failure = reason.Failure(p.code(string(p.line.Result)), string(p.line.Result))
	}
	p.ended = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
}

// readUsage reads what newer versions tell.
func readUsage(raw json.RawMessage) *event.Usage {
	var u struct {
		Input      *jsonl.Num `json:"inputTokens"`
		Output     *jsonl.Num `json:"outputTokens"`
		Cached     jsonl.Num  `json:"cacheReadTokens"`
		CacheWrite jsonl.Num  `json:"cacheWriteTokens"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &u) || u.Input == nil || u.Output == nil {
		return nil
	}
	usage := &event.Usage{Cached: int64(u.Cached), CacheWrite: int64(u.CacheWrite), Output: int64(*u.Output)}
	usage.Input = int64(*u.Input) + usage.Cached + usage.CacheWrite
	return usage
}

// guesses are words of the vendor's that no recorded run has shown; they are looked
// for when nothing better is known.
var guesses = []struct {
	word string
	code event.Code
}{
	{"api key", event.AuthenticationError}, {"login", event.AuthenticationError}, {"logged in", event.AuthenticationError},
	{"authenticat", event.AuthenticationError}, {"limit", event.RateLimited}, {"model", event.InvalidRequest},
}

// code finds the code for what the CLI said about its failure.
func (p *Parser) code(said string) event.Code {
	code, low := reason.Code(said, ""), strings.ToLower(said)
	if code == "" && p.native != "" && strings.Contains(low, "chat") && strings.Contains(low, "not found") {
		return event.ResumeLost
	}
	for _, g := range guesses {
		if code == "" && strings.Contains(low, g.word) {
			code = g.code
		}
	}
	if code == "" {
		return event.CLICrashed
	}
	return code
}

// Close gives the verdict of a run that failed without a result line and told why in
// words that are known, on stderr or, bare, among its lines.
func (p *Parser) Close(exit agent.Exit, out *agent.Batch) {
	if p.ended {
		return
	}
	p.close(out)
	p.think(out)
	p.plan.Close(out)
	if exit.Signal != "" || exit.Code == 0 {
		return
	}
	text := words(exit.Stderr)
	if text == "" {
		text = p.bare
	}
	code := p.code(text)
	if code == event.CLICrashed {
		return // the turn tells exit status and stderr as they are
	}
	p.ended = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{
		Final: true, Outcome: event.Failed, Failure: reason.Failure(code, fmt.Sprintf("%s (exit status %d)", text, exit.Code)),
	}})
}

// words is standard error without the events that some versions repeat there.
func words(stderr string) string {
	var lines []string
	for l := range strings.Lines(stderr) {
		l = strings.TrimSpace(string(jsonl.StripEscapes([]byte(l))))
		if l != "" && !strings.HasPrefix(l, "{") {
			lines = append(lines, l)
		}
	}
	return strings.ToValidUTF8(strings.Join(lines, "\n"), "\uFFFD")
}
