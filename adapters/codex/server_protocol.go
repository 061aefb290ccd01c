package codex

import (
	"encoding/json"
	"fmt"
	"strings"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/reason"
)

// protocol speaks with one `codex app-server`: JSON-RPC 2.0 without its version
// field, an object a line, both ways.
type protocol struct {
	last    int64
	pending map[int64]call
	turns   map[event.ID]*served
	threads map[string]*served // by Codex's thread
	kept    map[string]*kept   // threads that are loaded and idle
	noise   int                // lines in a row that are no message
	scan    jsonl.Scanner
	piece   notice // of lines that were read quickly
}

// call is a request of ours that was not answered yet.
type call struct {
	what  asked
	turn  *served // nil for those about the runner itself
	added *added  // that is steered with
}

type asked uint8

const (
	hello asked = iota + 1
	ping
	load
	start
	interrupt
	steer
	clean
	unload
	reload // unload what is loaded otherwise, then load
	drop   // unload what was kept; no turn waits for it
)

// served is a turn in a thread.
type served struct {
	id     event.ID
	r      *agent.Request
	parser *Parser

	thread, turn string // Codex's ids, "" until they are told
	marked       string // see mark
	cancelled    bool   // an interrupt is wanted
	told         bool   // and was sent
	ended        bool   // the verdict is out
	well         bool   // and is completed
	print        print
	params       map[string]any // to load with, while what is loaded is unloaded
	tools        bool
	running      map[string]bool     // commands without an end
	changes      map[string][]string // paths of file changes, for questions about them
	questions    map[string]question
	used         *event.Usage
	part         map[string]int64 // the newest part of a reasoning by its item
	added        []*added         // to the running turn, of which nothing is known yet
}

// maxNoise is how many lines in a row may be no message: something else than the
// protocol is spoken then.
const maxNoise = 100

type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method jsonl.Str       `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func write(v any, out *agent.Talk) {
	b, err := jsoniter.ConfigCompatibleWithStandardLibrary.Marshal(v)
	if err != nil { // a schema of the caller's that is no JSON
		out.Break("a message to codex could not be written: " + err.Error())
		return
	}
	out.Line(b)
}

func (p *protocol) request(c call, method string, params any, out *agent.Talk) {
	p.last++
	p.pending[p.last] = c
	write(struct {
		ID     int64  `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params,omitempty"`
	}{p.last, method, params}, out)
}

// Hello introduces the host.
func (p *protocol) Hello(out *agent.Talk) {
	p.request(call{what: hello}, "initialize", map[string]any{
		"clientInfo":   map[string]any{"name": "agenthost", "title": "agenthost", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true}, // backgroundTerminals
	}, out)
}

// Ping asks for something cheap.
func (p *protocol) Ping(out *agent.Talk) {
	p.request(call{what: ping}, "thread/loaded/list", struct{}{}, out)
}

// Ask loads the turn's thread; the turn is started when it is there.
func (p *protocol) Ask(id event.ID, r *agent.Request, out *agent.Talk) {
	s := &served{
		id: id, r: r, parser: NewParser(r, Name), running: map[string]bool{}, changes: map[string][]string{},
		questions: map[string]question{}, part: map[string]int64{},
	}
	p.turns[id] = s
	params, err := settings(r)
	if err != nil {
		f, ok := event.AsFailure(err)
		if !ok {
			f = event.Fail(event.InvalidRequest, err.Error())
		}
		p.fail(s, f, out)
		p.over(s, out)
		return
	}
	s.print = fingerprint(params, r)
	switch k := p.take(r.Native); {
	case k == nil:
		p.load(s, params, out)
	case k.last == r.Previous && k.print == s.print:
		p.ready(s, r.Native, out)
	default: // it was loaded otherwise, or does not know what was said elsewhere
		s.params = params
		p.request(call{what: reload, turn: s}, "thread/unsubscribe", map[string]any{"threadId": r.Native}, out)
	}
}

func (p *protocol) load(s *served, params map[string]any, out *agent.Talk) {
	method := "thread/start"
	if s.r.Native != "" {
		method = "thread/resume"
	}
	p.request(call{what: load, turn: s}, method, params, out)
}

// Interrupt ends a turn as soon as Codex has told its id.
func (p *protocol) Interrupt(id event.ID, out *agent.Talk) {
	s := p.turns[id]
	if s == nil {
		return
	}
	s.cancelled = true
	p.interrupt(s, out)
}

func (p *protocol) interrupt(s *served, out *agent.Talk) {
	if !s.cancelled || s.told || s.ended || s.turn == "" {
		return
	}
	s.told = true
	p.request(call{what: interrupt, turn: s}, "turn/interrupt", map[string]any{"threadId": s.thread, "turnId": s.turn}, out)
}

// Feed reads one line.
func (p *protocol) Feed(raw []byte, out *agent.Talk) {
	if method := p.piece.quick(raw, &p.scan, p.piece.ItemID); method != "" {
		p.noise = 0
		p.note(method, &p.piece, raw, out)
		return
	}
	obj, ok := jsonl.Object(raw)
	var m envelope
	if !ok || !jsonl.Decode(obj, &m) || m.Method == "" && jsonl.Null(m.ID) {
		if p.noise++; p.noise > maxNoise {
			out.Break(fmt.Sprintf("codex app-server wrote %d lines in a row that are no messages", p.noise))
		}
		return
	}
	p.noise = 0
	switch {
	case m.Method == "":
		p.answered(&m, len(raw), out)
	case jsonl.Null(m.ID):
		p.notified(&m, raw, out)
	default:
		p.asks(&m, len(raw), out)
	}
}

// answered takes the response to a request of ours. One to a request that was not
// made is nothing to us.
func (p *protocol) answered(m *envelope, size int, out *agent.Talk) {
	var id struct {
		ID jsonl.Num `json:"id"`
	}
	if !jsonl.Decode([]byte(`{"id":`+string(m.ID)+`}`), &id) {
		return
	}
	c, ok := p.pending[int64(id.ID)]
	if !ok {
		return
	}
	delete(p.pending, int64(id.ID))
	failed := !jsonl.Null(m.Error)
	if c.turn != nil {
		out.Turn(c.turn.id).Bytes += int64(size)
	}
	switch c.what {
	case hello:
		if failed {
			out.Break("codex app-server refused the host: " + errorText(m.Error))
			return
		}
		write(map[string]any{"method": "initialized"}, out)
		out.Ready = true
	case ping:
		out.Pong = true
	case load:
		p.loaded(c.turn, m, failed, out)
	case start:
		p.started(c.turn, m, failed, out)
	case interrupt:
		if failed {
			c.turn.told = false // the turn had not begun or has just ended; it may be asked again
		}
	case steer:
		p.steered(c, failed, errorText(m.Error), out)
	case clean:
		p.leave(c.turn, out)
	case unload:
		p.over(c.turn, out)
	case reload:
		p.load(c.turn, c.turn.params, out)
		c.turn.params = nil
	case drop: // it is gone either way
	}
}

// errorText is a JSON-RPC error's text.
func errorText(raw json.RawMessage) string {
	if text := message(raw); text != "" {
		return text
	}
	return "it gave no reason"
}

// loaded: the turn's thread is there, or cannot be had.
func (p *protocol) loaded(s *served, m *envelope, failed bool, out *agent.Talk) {
	if failed {
		p.fail(s, reason.Failure(reason.Code(errorText(m.Error), event.CLICrashed), errorText(m.Error)), out)
		p.over(s, out)
		return
	}
	var r struct {
		Thread struct {
			ID jsonl.Str `json:"id"`
		} `json:"thread"`
	}
	if !jsonl.Decode(m.Result, &r) || r.Thread.ID == "" {
		out.Break("codex app-server loaded a thread without an id")
		return
	}
	p.ready(s, string(r.Thread.ID), out)
}

// ready: the turn's thread is loaded.
func (p *protocol) ready(s *served, thread string, out *agent.Talk) {
	s.thread, s.marked = thread, ""
	p.threads[s.thread] = s
	said := out.Turn(s.id)
	said.Batch.Add(agent.Fact{Kind: agent.FactSession, Text: s.thread})
	if n := s.r.Native; n != "" && !strings.EqualFold(n, s.thread) {
		p.fail(s, event.Fail(event.ResumeLost, fmt.Sprintf("codex no longer knows thread %s and loaded thread %s", n, s.thread)), out)
	}
	if s.cancelled || s.ended {
		p.unload(s, out)
		return
	}
	params := input(s.r)
	params["threadId"] = s.thread
	p.request(call{what: start, turn: s}, "turn/start", params, out)
}

// started: Codex has taken the turn, or refused it.
func (p *protocol) started(s *served, m *envelope, failed bool, out *agent.Talk) {
	if failed {
		p.fail(s, reason.Failure(reason.Code(errorText(m.Error), event.CLICrashed), errorText(m.Error)), out)
		p.unload(s, out)
		return
	}
	var r struct {
		Turn struct {
			ID jsonl.Str `json:"id"`
		} `json:"turn"`
	}
	if !jsonl.Decode(m.Result, &r) || r.Turn.ID == "" {
		out.Break("codex app-server started a turn without an id")
		return
	}
	s.turn = string(r.Turn.ID)
	p.interrupt(s, out)
	p.steer(s, out)
}

// fail gives a turn its verdict.
func (p *protocol) fail(s *served, f *event.Failure, out *agent.Talk) {
	s.verdict(&agent.Verdict{Final: true, Outcome: event.Failed, Failure: f, Carry: s.parser.memory.encode(), Usage: s.used}, out.Turn(s.id).Batch)
}

func (s *served) verdict(v *agent.Verdict, b *agent.Batch) {
	if s.ended {
		return
	}
	s.ended = true
	s.parser.verdict(v, b)
}

// settle ends what a finished turn left in its thread. A command that still runs
// survives an interrupt, and would survive the turn.
func (p *protocol) settle(s *served, out *agent.Talk) {
	if s.tools {
		p.request(call{what: clean, turn: s}, "thread/backgroundTerminals/clean", map[string]any{"threadId": s.thread}, out)
		return
	}
	p.leave(s, out)
}

// leave keeps the thread of a turn that went well for the next one, and unloads
// another's, and one whose MCP servers would live on with it.
func (p *protocol) leave(s *served, out *agent.Talk) {
	if !s.well || s.cancelled || len(s.r.MCP) > 0 || s.r.Host != nil {
		p.unload(s, out)
		return
	}
	p.keep(s, out)
	p.over(s, out)
}

// unload gives the thread up, so that the next turn loads it anew, here or in another
// process.
func (p *protocol) unload(s *served, out *agent.Talk) {
	p.request(call{what: unload, turn: s}, "thread/unsubscribe", map[string]any{"threadId": s.thread}, out)
}

func (p *protocol) over(s *served, out *agent.Talk) {
	delete(p.turns, s.id)
	if p.threads[s.thread] == s {
		delete(p.threads, s.thread)
	}
	out.Turn(s.id).Over = true
}
