package codex

import (
	"encoding/json"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// notice is what notifications about a thread carry.
type notice struct {
	Thread jsonl.Word      `json:"threadId"`
	Turn   json.RawMessage `json:"turn"`
	TurnID jsonl.Word      `json:"turnId"`
	ItemID jsonl.Str       `json:"itemId"`
	Delta  jsonl.Chunk     `json:"delta"`
	Part   jsonl.Num       `json:"summaryIndex"`
	Item   json.RawMessage `json:"item"`
	Error  json.RawMessage `json:"error"`
	Usage  struct {
		Total total `json:"total"`
	} `json:"tokenUsage"`
	Plan []struct {
		Step   jsonl.Str `json:"step"`
		Status jsonl.Str `json:"status"`
	} `json:"plan"`
}

// total is a thread's usage so far.
type total struct {
	Input      *jsonl.Num `json:"inputTokens"`
	Cached     jsonl.Num  `json:"cachedInputTokens"`
	CacheWrite jsonl.Num  `json:"cacheWriteInputTokens"`
	Output     jsonl.Num  `json:"outputTokens"`
	Reasoning  jsonl.Num  `json:"reasoningOutputTokens"`
}

// Notifications of pieces: most lines are one.
const (
	messageDelta = "item/agentMessage/delta"
	summaryDelta = "item/reasoning/summaryTextDelta"
	outputDelta  = "item/commandExecution/outputDelta"
)

// What quick has seen of a line.
const (
	seenMethod = 1 << iota
	seenParams
	seenThread
	seenTurn
	seenNoteItem
	seenDelta
	seenPart
)

// quick reads a line if it is a notification of a piece in its usual shape; the method
// is "" otherwise, and jsonl.Object and Decode, which would read the same, are to be
// asked. item is the id of the notification before, so that one is made once an item.
func (n *notice) quick(raw []byte, s *jsonl.Scanner, item jsonl.Str) (method string) {
	*n = notice{}
	s.Begin(raw)
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "method":
			s.Once(seenMethod)
			switch string(s.WordOrSkip()) {
			case messageDelta:
				method = messageDelta
			case summaryDelta:
				method = summaryDelta
			case outputDelta:
				method = outputDelta
			default:
				return ""
			}
		case "params":
			s.Once(seenParams)
			s.Enter()
			if !n.quickParams(s, item) {
				return ""
			}
		case "id", "result", "error":
			return ""
		default:
			s.Skip()
		}
	}
	if !s.Ended() || !s.Saw(seenMethod|seenParams) {
		return ""
	}
	return method
}

func (n *notice) quickParams(s *jsonl.Scanner, item jsonl.Str) bool {
	for key, ok := s.Key(true); ok; key, ok = s.Key(false) {
		switch string(key) {
		case "threadId":
			s.Once(seenThread)
			n.Thread = s.WordOrSkip()
		case "turnId":
			s.Once(seenTurn)
			n.TurnID = s.WordOrSkip()
		case "itemId":
			s.Once(seenNoteItem)
			if id := s.WordOrSkip(); string(id) == string(item) {
				n.ItemID = item
			} else {
				n.ItemID = jsonl.Str(id)
			}
		case "delta":
			s.Once(seenDelta)
			n.Delta = s.Chunk()
		case "summaryIndex":
			s.Once(seenPart)
			n.Part = jsonl.Num(s.Integer())
		case "turn", "item", "error", "tokenUsage", "plan":
			return false
		default:
			s.Skip()
		}
	}
	return true
}

// notified takes a notification.
func (p *protocol) notified(m *envelope, raw []byte, out *agent.Talk) {
	var n notice
	if jsonl.Null(m.Params) || !jsonl.Decode(m.Params, &n) {
		return
	}
	p.note(string(m.Method), &n, raw, out)
}

// note takes what a notification carries. Those about threads that are not ours, such
// as subagents', and about earlier turns of ours are told elsewhere or not at all.
func (p *protocol) note(method string, n *notice, raw []byte, out *agent.Talk) {
	s := p.threads[string(n.Thread)]
	if s == nil {
		return
	}
	said := out.Turn(s.id)
	said.Bytes += int64(len(raw))
	if method == "turn/started" || method == "turn/completed" {
		p.turned(s, method == "turn/completed", n.Turn, out)
		return
	}
	if s.turn == "" || string(n.TurnID) != s.turn || s.ended {
		return
	}
	b := said.Batch
	switch method {
	case messageDelta:
		b.Add(agent.Fact{Kind: agent.FactText, Key: string(n.ItemID), Text: n.Delta.Text(b)})
	case summaryDelta:
		s.reasoning(n, b)
	case outputDelta:
		b.Add(agent.Fact{Kind: agent.FactOutput, Key: string(n.ItemID), Text: n.Delta.Text(b)})
	case "item/started", "item/completed":
		s.item(n.Item, method == "item/completed", raw, said)
	case "thread/tokenUsage/updated":
		s.usage(&n.Usage.Total, b)
	case "turn/plan/updated":
		steps := make([]plan.Step, len(n.Plan))
		for i, one := range n.Plan {
			steps[i] = plan.Step{Text: string(one.Step), Done: one.Status == "completed"}
		}
		s.parser.plan.Update(steps, b)
	case "error":
		s.parser.notice(message(n.Error), raw, b)
	}
	said.Tools, said.Mark = s.tools, s.mark()
}

// mark is in the environment of every tool of the thread.
func (s *served) mark() string {
	if s.thread == "" {
		return ""
	}
	if s.marked == "" {
		s.marked = "CODEX_THREAD_ID=" + s.thread
	}
	return s.marked
}

// reasoning takes a piece of a summary; its parts are paragraphs.
func (s *served) reasoning(n *notice, b *agent.Batch) {
	key := string(n.ItemID)
	if at, begun := s.part[key]; begun && int64(n.Part) > at {
		b.Add(agent.Fact{Kind: agent.FactReasoning, Key: key, Text: "\n\n"})
	}
	s.part[key] = int64(n.Part)
	b.Add(agent.Fact{Kind: agent.FactReasoning, Key: key, Text: n.Delta.Text(b)})
}

func (s *served) usage(t *total, b *agent.Batch) {
	if t.Input == nil {
		return
	}
	now := event.Usage{Input: int64(*t.Input), Cached: int64(t.Cached), CacheWrite: int64(t.CacheWrite), Output: int64(t.Output), Reasoning: int64(t.Reasoning)}
	s.used = since(s.before(), now)
	s.parser.memory.Usage = now
	b.Add(agent.Fact{Kind: agent.FactUsage, Usage: s.used})
}

// before is the thread's usage before this turn.
func (s *served) before() event.Usage {
	m, _ := remember(s.r)
	return m.Usage
}

// turned takes the beginning or the end of a turn.
func (p *protocol) turned(s *served, ends bool, raw json.RawMessage, out *agent.Talk) {
	var t struct {
		ID     jsonl.Str       `json:"id"`
		Status jsonl.Str       `json:"status"`
		Error  json.RawMessage `json:"error"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &t) || t.ID == "" {
		return
	}
	if s.turn == "" {
		s.turn = string(t.ID) // before the response to turn/start
	}
	if string(t.ID) != s.turn || s.ended {
		return
	}
	if !ends {
		p.interrupt(s, out)
		p.steer(s, out)
		return
	}
	said := out.Turn(s.id)
	v := &agent.Verdict{Final: true, Outcome: event.Completed, Usage: s.used, Carry: s.parser.memory.encode()}
	switch t.Status {
	case "completed":
		s.well = true
		s.finished(said)
	case "interrupted":
		v.Outcome = event.Cancelled
		if !s.cancelled {
			v.Outcome, v.Failure = event.Failed, event.Fail(event.CLICrashed, "codex interrupted the turn by itself")
		}
	default:
		text := message(t.Error)
		if text == "" {
			text = s.parser.errText
		}
		v.Outcome, v.Failure = event.Failed, reason.Failure(codeOf(text, t.Error), text)
	}
	s.verdict(v, said.Batch)
	said.Tools, said.Mark = s.tools, s.mark()
	p.settle(s, out)
}

// codeOf finds the code of a failed turn: by its text, as exec's, else by the class
// that the app-server gives it.
func codeOf(text string, raw json.RawMessage) event.Code {
	if code := reason.Code(text, ""); code != "" {
		return code
	}
	var e struct {
		Info json.RawMessage `json:"codexErrorInfo"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &e) {
		return event.CLICrashed
	}
	var class string
	if json.Unmarshal(e.Info, &class) == nil {
		if code, ok := classes[class]; ok {
			return code
		}
		return event.CLICrashed
	}
	var http map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	if json.Unmarshal(e.Info, &http) != nil {
		return event.CLICrashed
	}
	for _, one := range http {
		switch s := one.Status; {
		case s == 401 || s == 403:
			return event.AuthenticationError
		case s == 429:
			return event.RateLimited
		case s >= 500:
			return event.ProviderOverloaded
		case s >= 400:
			return event.InvalidRequest
		}
		return event.ProviderUnreachable
	}
	return event.CLICrashed
}

var classes = map[string]event.Code{
	"contextWindowExceeded": event.ContextTooLong,
	"usageLimitExceeded":    event.UsageLimited,
	"rateLimitExceeded":     event.RateLimited,
	"serverOverloaded":      event.ProviderOverloaded,
	"internalServerError":   event.ProviderOverloaded,
	"modelNotFound":         event.ModelNotFound,
	"unauthorized":          event.AuthenticationError,
	"badRequest":            event.InvalidRequest,
}
