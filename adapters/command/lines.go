package command

import (
	"fmt"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// lines reads JSON lines by paths. Blank lines, and a message that only repeats the
// pieces before it, give no fact of their own.
type lines struct {
	text, message, errs, session, usage, done path
	cfg                                       *Config
	implied                                   string

	scan     jsonl.Scanner
	quick    quick
	id       string
	said     []byte // of the open message
	key      string // of it
	messages int
	open     bool
	used     *event.Usage
	errText  string // of the newest error that no answer followed
	verdict  bool
}

func newLines(c *Config, implied string) *lines {
	at := func(s string) path {
		p, err := parsePath(s) // checked by New
		if err != nil {
			return nil
		}
		return p
	}
	l := &lines{
		text: at(c.JSONL.Text), message: at(c.JSONL.Message), errs: at(c.JSONL.Error),
		session: at(c.sessionPath()), usage: at(c.JSONL.Usage), done: at(c.JSONL.Done),
		cfg: c, implied: implied,
	}
	l.quick = l.quickly()
	return l
}

// Feed reads one line.
func (l *lines) Feed(raw []byte, out *agent.Batch) {
	if l.implied != "" {
		out.Add(agent.Fact{Kind: agent.FactSession, Text: l.implied})
		l.implied = ""
	}
	if c, ok := l.quick.read(raw, &l.scan, l.id); ok {
		l.piece(c.Text(out), out)
		return
	}
	obj, ok := jsonl.Object(raw)
	if !ok || !jsoniter.Valid(obj) {
		jsonl.Unknown(raw, out)
		return
	}
	known := false
	if v := l.session.in(obj); v != nil && v.ToString() != "" {
		known = true
		if id := v.ToString(); id != l.id {
			l.id = id
			out.Add(agent.Fact{Kind: agent.FactSession, Text: id})
		}
	}
	if v := l.usage.in(obj); v != nil {
		known = true
		l.used = readUsage(v)
	}
	if v := l.text.in(obj); v != nil && v.ValueType() == jsoniter.StringValue {
		known = true
		l.piece(v.ToString(), out)
	}
	if v := l.message.in(obj); v != nil && v.ValueType() == jsoniter.StringValue {
		known = true
		l.whole(v.ToString(), out)
	}
	if v := l.errs.in(obj); v != nil && truthy(v) {
		known = true
		l.errText = errorText(v)
		out.Add(agent.Fact{Kind: agent.FactNotice, Text: l.errText})
	}
	if v := l.done.in(obj); v != nil && truthy(v) {
		known = true
		l.settle(out)
	}
	if !known {
		jsonl.Unknown(raw, out)
	}
}

func (l *lines) piece(p string, out *agent.Batch) {
	if p == "" {
		return
	}
	if !l.open {
		l.open = true
		l.messages++
		l.key = fmt.Sprintf("message/%d", l.messages)
	}
	l.errText = ""
	l.said = append(l.said, p...)
	out.Add(agent.Fact{Kind: agent.FactText, Key: l.key, Text: p})
}

// whole takes a complete message: what its pieces have told is not told again.
func (l *lines) whole(text string, out *agent.Batch) {
	rest, repeats := strings.CutPrefix(text, string(l.said))
	if l.open && !repeats {
		l.close(out)
		rest = text
	}
	l.piece(rest, out)
	l.close(out)
}

func (l *lines) close(out *agent.Batch) {
	if !l.open {
		return
	}
	out.Add(agent.Fact{Kind: agent.FactDone, Key: l.key, Item: &event.Item{Type: event.Message, Text: string(l.said)}})
	l.open, l.said = false, nil
}

// settle gives a tentative verdict: who declares a format may not know what comes
// after its last line.
func (l *lines) settle(out *agent.Batch) {
	l.close(out)
	l.verdict = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: l.outcome()})
}

func (l *lines) outcome() *agent.Verdict {
	v := &agent.Verdict{Outcome: event.Completed, Usage: l.used}
	if l.errText != "" {
		v.Outcome = event.Failed
		v.Failure = reason.Failure(reason.Code(l.errText, event.CLICrashed), l.errText)
	}
	return v
}

// Close ends the message. Without a done path a good exit is the verdict, unless an
// error was the last that was said; an error explains a bad one that no rule names.
func (l *lines) Close(exit agent.Exit, out *agent.Batch) {
	l.close(out)
	if l.verdict || exit.Signal != "" {
		return
	}
	if _, named := l.cfg.failure(exit.Code); named {
		return
	}
	if l.errText != "" || l.cfg.exitDecides() && l.cfg.success(exit.Code) {
		v := l.outcome()
		v.Final = true
		out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
	}
}

func errorText(v jsoniter.Any) string {
	if v.ValueType() == jsoniter.ObjectValue {
		if m := v.Get("message"); m.ValueType() == jsoniter.StringValue && m.ToString() != "" {
			return m.ToString()
		}
	}
	return v.ToString()
}

// readUsage reads the names that providers use, nil when it finds none of them.
func readUsage(v jsoniter.Any) *event.Usage {
	count := func(names ...string) (int64, bool) {
		for _, n := range names {
			at, err := parsePath("." + n)
			if err != nil {
				continue
			}
			if c := v.Get(at...); c.ValueType() == jsoniter.NumberValue {
				return c.ToInt64(), true
			}
		}
		return 0, false
	}
	var u event.Usage
	var in, out bool
	u.Input, in = count("input_tokens", "prompt_tokens", "inputTokens")
	u.Output, out = count("output_tokens", "completion_tokens", "outputTokens")
	if !in && !out {
		return nil
	}
	u.Cached, _ = count("cached_input_tokens", "input_tokens_details.cached_tokens", "prompt_tokens_details.cached_tokens")
	u.Reasoning, _ = count("reasoning_output_tokens", "output_tokens_details.reasoning_tokens", "completion_tokens_details.reasoning_tokens")
	return &u
}
