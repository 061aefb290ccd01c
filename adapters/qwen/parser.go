package qwen

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/speech"
	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

// parser reads the lines of `qwen --output-format stream-json`, which look like
// Claude Code's. Lines that say nothing of their own and give no fact: blank ones, a
// repeated system/init, the frames of the stream other than text and thinking, a
// subagent's lines, and blocks that repeat what was streamed, called or answered
// before.
type parser struct {
	cwd     string
	mcp     []string // configured MCP servers
	session string

	hot     streamjson.Frame
	speech  speech.Speech
	message int    // messages begun
	live    bool   // between message_start and message_stop
	held    string // a piece that may be an API error's text, see apiError
	tools   map[string]*tool
	order   []*tool // in the order of their calls
	verdict bool
}

var _ agent.Parser = (*parser)(nil)

func newParser(r *agent.Request) *parser {
	p := &parser{cwd: r.Workspace, tools: map[string]*tool{}}
	for server := range r.MCP {
		p.mcp = append(p.mcp, server)
	}
	if r.Host != nil {
		p.mcp = append(p.mcp, r.Host.Name)
	}
	return p
}

// Feed reads one line.
func (p *parser) Feed(raw []byte, out *agent.Batch) {
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
		Parent  jsonl.Word `json:"parent_tool_use_id"`
	}
	if !jsonl.Decode(obj, &head) {
		jsonl.Unknown(raw, out)
		return
	}
	known := false
	switch typ := string(head.Type); {
	case typ == "system":
		known = p.system(string(head.Subtype), obj, out)
	case typ == "result":
		known = p.result(obj, out)
	case len(head.Parent) > 0 && (typ == "assistant" || typ == "user"):
		known = true // a subagent's; its call has what came of it
	case typ == "assistant":
		known = p.assistant(obj, out)
	case typ == "user":
		known = p.user(obj, out)
	}
	if !known {
		jsonl.Unknown(raw, out)
	}
}

// stream takes a frame of the model's stream.
func (p *parser) stream(raw []byte, out *agent.Batch) {
	if len(p.hot.Parent) > 0 {
		return
	}
	switch p.hot.Kind() {
	case "message_start":
		p.begin(out)
		p.live = true
	case "message_stop":
		p.speech.Close(out)
		p.live = false
	case "message_delta", "ping", "goal_state":
	default:
		if !p.hot.Speak(&p.speech, p.say, out) {
			jsonl.Unknown(raw, out)
		}
	}
}

// begin turns to another message. The CLI gives each block of one message an id of
// its own, so what belongs together is told by the frames around it.
func (p *parser) begin(out *agent.Batch) {
	p.release(out)
	p.message++
	p.speech.Begin(p.current(), out)
}

func (p *parser) current() string { return fmt.Sprintf("m%d", p.message) }

// apiError begins the text that the CLI says in the model's place when the provider
// has refused.
const apiError = "[API Error: "

// say is a piece of text. One that looks like an API error waits until the result
// says whether it is one.
func (p *parser) say(piece string, out *agent.Batch) {
	p.release(out)
	if strings.HasPrefix(piece, apiError) {
		p.held = piece
		return
	}
	p.speech.Piece(speech.Text, piece, out)
}

// release says a held piece after all: the model went on.
func (p *parser) release(out *agent.Batch) {
	if p.held == "" {
		return
	}
	piece := p.held
	p.held = ""
	p.speech.Piece(speech.Text, piece, out)
}

// system takes a line about the run itself.
func (p *parser) system(subtype string, obj []byte, out *agent.Batch) bool {
	var l struct {
		SessionID jsonl.Str       `json:"session_id"`
		Content   jsonl.Str       `json:"content"`
		Servers   json.RawMessage `json:"mcp_servers"`
		Data      struct {
			Attempt jsonl.Num `json:"attempt"`
			Max     jsonl.Num `json:"maxRetries"`
			DelayMS jsonl.Num `json:"delayMs"`
		} `json:"data"`
	}
	if !jsonl.Decode(obj, &l) {
		return false
	}
	switch {
	case subtype == "init" && l.SessionID != "":
		p.init(string(l.SessionID), l.Servers, out)
	case subtype == "retry":
		text := "provider retry"
		if l.Data.Max > 0 {
			text += fmt.Sprintf(" %d of %d in %d ms", l.Data.Attempt, l.Data.Max, l.Data.DelayMS)
		}
		notice(out, text)
	case l.Content != "":
		notice(out, subtype+": "+string(l.Content))
	default:
		return false
	}
	return true
}

func (p *parser) init(id string, servers json.RawMessage, out *agent.Batch) {
	if id == p.session {
		return
	}
	p.session = id
	out.Add(agent.Fact{Kind: agent.FactSession, Text: id})
	for _, s := range streamjson.Servers(servers) {
		if s.Status != "connected" && s.Status != "connecting" {
			notice(out, fmt.Sprintf("MCP server %s: %s", s.Name, s.Status))
		}
	}
}

func notice(out *agent.Batch, text string) {
	out.Add(agent.Fact{Kind: agent.FactNotice, Text: text})
}

// flush closes what only the end of the turn, or of the output, closes.
func (p *parser) flush(out *agent.Batch) {
	p.speech.Close(out)
	for _, t := range p.order {
		if t.held && !t.done {
			t.done = true
			item := t.item
			item.Status = event.Incomplete
			out.Add(agent.Fact{Kind: agent.FactDone, Key: t.id, Item: &item})
		}
	}
}
