package claudecode

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
	"github.com/agenthost/agenthost/adapters/internal/reason"
	"github.com/agenthost/agenthost/adapters/internal/speech"
	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

// Parser reads the lines of `claude -p --output-format stream-json`. Lines that say
// nothing of their own and give no fact: blank ones, a repeated system/init,
// system/status, thinking_tokens, background_tasks_changed, task_progress,
// task_updated and the task_started of a known call, tool_progress, an allowed
// rate_limit_event, the frames of the provider's stream other than text and thinking,
// a subagent's frames, and what repeats what was streamed, called, asked or answered
// before.
type Parser struct {
	name    string // of the adapter, as the server of the CLI's own tools
	cwd     string
	mcp     []string // configured MCP servers
	spent   int64    // the session's cost before this turn
	session string

	hot      streamjson.Frame
	speech   speech.Speech
	tools    map[string]*tool
	order    []*tool                   // tools in the order of their calls
	theirSay map[string]*speech.Speech // subagents' by their calls
	usage    map[int64]*event.Usage    // of this run's results by their number
	plan     plan.Plan
	apiError *apiError
	resetsAt int64
	verdict  bool
	tally    tally
}

// apiError is what the CLI said about the provider's refusal.
type apiError struct {
	Class  string // assistant.error
	Text   string
	Status int64
	Type   string
}

var _ agent.Parser = (*Parser)(nil)

// NewParser reads the dialect for an adapter of the given name.
func NewParser(r *agent.Request, name string) *Parser {
	p := &Parser{name: name, cwd: r.Workspace, tools: map[string]*tool{}}
	for server := range r.MCP {
		p.mcp = append(p.mcp, server)
	}
	if r.Native != "" {
		p.spent = carried(r.Carry)
	}
	return p
}

// Feed reads one line.
func (p *Parser) Feed(raw []byte, out *agent.Batch) {
	if p.hot.Quick(raw) {
		p.stream(raw, out)
		return
	}
	obj, ok := jsonl.Object(raw)
	if !ok {
		jsonl.Unknown(raw, out)
		return
	}
	if p.hot.Read(obj) {
		p.stream(raw, out)
		return
	}
	var head struct {
		Type    jsonl.Word `json:"type"`
		Subtype jsonl.Word `json:"subtype"`
	}
	if !jsonl.Decode(obj, &head) {
		jsonl.Unknown(raw, out)
		return
	}
	known := false
	switch string(head.Type) {
	case "system":
		known = p.system(string(head.Subtype), obj, out)
	case "assistant":
		known = p.assistant(obj, out)
	case "user":
		known = p.user(obj, out)
	case "result":
		known = p.result(obj, out)
	case "rate_limit_event":
		known = p.rateLimit(obj, out)
	case "tool_progress":
		known = true
	}
	if !known {
		jsonl.Unknown(raw, out)
	}
}

// stream takes a frame of the provider's stream. A subagent's are not told, but
// what they use counts.
func (p *Parser) stream(raw []byte, out *agent.Batch) {
	switch e := &p.hot.Event; string(e.Type) {
	case "message_start":
		p.tally.begin(string(p.hot.Parent), string(e.Message.ID), readUsage(e.Message.Usage))
		p.tally.tell(out)
	case "message_delta":
		p.tally.more(string(p.hot.Parent), readUsage(e.Usage))
		p.tally.tell(out)
	}
	if len(p.hot.Parent) > 0 {
		return
	}
	switch e := &p.hot.Event; p.hot.Kind() {
	case "message_start":
		p.speech.Begin(string(e.Message.ID), out)
	case "message_stop":
		p.speech.Close(out)
	case "message_delta", "ping":
	default:
		if !p.hot.Speak(&p.speech, nil, out) {
			jsonl.Unknown(raw, out)
		}
	}
}

// system takes a line about the run itself.
func (p *Parser) system(subtype string, obj []byte, out *agent.Batch) bool {
	var l struct {
		SessionID jsonl.Str       `json:"session_id"`
		Content   jsonl.Str       `json:"content"`
		Message   jsonl.Str       `json:"message"`
		ToolUseID jsonl.Str       `json:"tool_use_id"`
		ToolName  jsonl.Str       `json:"tool_name"`
		Attempt   jsonl.Num       `json:"attempt"`
		Max       jsonl.Num       `json:"max_retries"`
		DelayMS   jsonl.Num       `json:"retry_delay_ms"`
		Status    jsonl.Num       `json:"error_status"`
		Error     jsonl.Str       `json:"error"`
		Servers   json.RawMessage `json:"mcp_servers"`
		TaskType  jsonl.Str       `json:"task_type"`
		TaskState jsonl.Str       `json:"status"`
		Summary   jsonl.Str       `json:"summary"`
	}
	switch subtype {
	case "status", "thinking_tokens", "background_tasks_changed", "task_progress", "task_updated":
		return true
	}
	if !jsonl.Decode(obj, &l) {
		return false
	}
	switch subtype {
	case "init":
		p.init(string(l.SessionID), l.Servers, out)
		return l.SessionID != ""
	case "api_retry":
		notice(out, fmt.Sprintf("provider retry %d of %d in %d ms: %s %d", l.Attempt, l.Max, l.DelayMS, l.Error, l.Status))
		return true
	case "task_started":
		return p.background(string(l.ToolUseID), string(l.TaskType))
	case "task_notification":
		return p.notified(string(l.ToolUseID), string(l.TaskState), string(l.Summary), out)
	case "permission_denied":
		if !p.denied(string(l.ToolUseID), string(l.Message), out) {
			notice(out, fmt.Sprintf("permission denied for %s: %s", l.ToolName, l.Message))
		}
		return true
	}
	if l.Content == "" {
		return false
	}
	notice(out, subtype+": "+string(l.Content))
	return true
}

func (p *Parser) init(id string, servers json.RawMessage, out *agent.Batch) {
	if id == "" {
		return
	}
	if id == p.session {
		return
	}
	p.session = id
	out.Add(agent.Fact{Kind: agent.FactSession, Text: id})
	for _, s := range streamjson.Servers(servers) {
		if s.Status == "failed" {
			notice(out, fmt.Sprintf("MCP server %s: %s", s.Name, s.Status))
		}
	}
}

// rateLimit remembers when a provider limit ends.
func (p *Parser) rateLimit(obj []byte, out *agent.Batch) bool {
	var l struct {
		Info struct {
			Status   jsonl.Str `json:"status"`
			ResetsAt jsonl.Num `json:"resetsAt"`
		} `json:"rate_limit_info"`
	}
	if !jsonl.Decode(obj, &l) || l.Info.Status == "" {
		return false
	}
	if l.Info.Status != "allowed" {
		p.resetsAt = int64(l.Info.ResetsAt)
		notice(out, fmt.Sprintf("provider rate limit: %s", l.Info.Status))
	}
	return true
}

func notice(out *agent.Batch, text string) {
	out.Add(agent.Fact{Kind: agent.FactNotice, Text: text})
}

// flush closes what only the end of the turn, or of the output, closes.
func (p *Parser) flush(out *agent.Batch) {
	p.speech.Close(out)
	p.plan.Close(out)
	p.drop("", out) // a subagent may go on
}

// drop closes the calls of an agent that have not been told.
func (p *Parser) drop(parent string, out *agent.Batch) {
	for _, t := range p.order {
		if t.held && !t.done && t.parent == parent {
			p.end(t, event.Incomplete, "", "", out)
		}
	}
}

// Close gives the verdict that only the exit tells: the CLI refused to start, or
// ended after an API error without a result.
func (p *Parser) Close(exit agent.Exit, out *agent.Batch) {
	p.flush(out)
	if p.verdict || exit.Signal != "" || exit.Code == 0 && p.apiError == nil {
		return
	}
	var f *event.Failure
	if p.apiError != nil {
		f = p.failure(&resultLine{})
	} else {
		text := strings.TrimSpace(exit.Stderr)
		code := reason.Code(text, "")
		if strings.Contains(text, "root/sudo privileges") {
			code = event.InvalidRequest
		}
		if code == "" {
			return // the turn tells exit status and stderr as they are
		}
		f = reason.Failure(code, fmt.Sprintf("%s (exit status %d)", text, exit.Code))
	}
	p.verdict = true
	out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: f}})
}
