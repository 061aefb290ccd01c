package claudecode

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/streamjson"
)

// protocol speaks with one `claude -p --input-format stream-json`: the lines that
// Parser reads, user messages to it, and control requests with their responses both
// ways.
type protocol struct {
	last    int64
	pending map[string]call
	turn    *served        // nil between turns
	ready   bool           // it has answered
	lost    *event.Failure // why it ended before it was ready
	running bool           // by its own account, or because it was just given a message
	hosted  bool           // it has the host's server
	tasks   []string       // what it runs in the background
	noise   int            // lines in a row that are no message
	hot     streamjson.Frame
}

// call is a request of ours that was not answered yet.
type call struct {
	what asked
	turn *served // nil for those about the process itself
	task string
}

type asked uint8

const (
	hello asked = iota + 1
	ping
	equip
	interrupt
	stopTask
)

// maxNoise is how many lines in a row may be no message: something else than the
// protocol is spoken then.
const maxNoise = 100

// line is what the protocol itself reads of a line.
type line struct {
	Type      jsonl.Word      `json:"type"`
	Subtype   jsonl.Word      `json:"subtype"`
	State     jsonl.Word      `json:"state"`
	Command   jsonl.Word      `json:"command_uuid"`
	RequestID jsonl.Str       `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Response  json.RawMessage `json:"response"`
	Tasks     json.RawMessage `json:"tasks"`
}

func write(v any, out *agent.Talk) {
	b, err := jsoniter.ConfigCompatibleWithStandardLibrary.Marshal(v)
	if err != nil { // a tool's input that is no JSON, taken back
		out.Break("a message to claude could not be written: " + err.Error())
		return
	}
	out.Line(b)
}

// request asks the CLI for something. Fields are those of the request.
func (p *protocol) request(c call, subtype string, fields map[string]any, out *agent.Talk) {
	p.last++
	id := "host-" + strconv.FormatInt(p.last, 10)
	p.pending[id] = c
	body := map[string]any{"subtype": subtype}
	for k, v := range fields {
		body[k] = v
	}
	write(map[string]any{"type": "control_request", "request_id": id, "request": body}, out)
}

// owes reports whether an answer to one of these is still to come.
func (p *protocol) owes(what ...asked) bool {
	for _, c := range p.pending {
		if slices.Contains(what, c.what) {
			return true
		}
	}
	return false
}

// uuid names a message. The CLI tells by it what became of the message.
func uuid(id event.ID) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Hello introduces the host.
func (p *protocol) Hello(out *agent.Talk) { p.request(call{what: hello}, "initialize", nil, out) }

// Ping asks for something cheap: no provider is asked for it.
func (p *protocol) Ping(out *agent.Talk) { p.request(call{what: ping}, "mcp_status", nil, out) }

// Feed reads one line.
func (p *protocol) Feed(raw []byte, out *agent.Talk) {
	if p.hot.Quick(raw) { // nothing of the protocol's own
		p.noise = 0
		p.hears(raw, out)
		p.settle(out)
		return
	}
	obj, ok := jsonl.Object(raw)
	var l line
	if !ok || !jsonl.Decode(obj, &l) || len(l.Type) == 0 {
		if p.noise++; p.noise > maxNoise {
			out.Break(fmt.Sprintf("claude wrote %d lines in a row that are no messages", p.noise))
		}
		p.hears(raw, out)
		return
	}
	p.noise = 0
	switch string(l.Type) {
	case "control_response":
		p.answered(l.Response, len(raw), out)
	case "control_request":
		p.asks(&l, len(raw), out)
	case "control_cancel_request":
		if p.turn != nil {
			delete(p.turn.questions, string(l.RequestID))
		}
	case "command_lifecycle":
		p.became(string(l.Command), string(l.State), out)
	case "keep_alive":
	case "system":
		p.system(&l, raw, out)
	case "result":
		if p.turn == nil && !p.ready {
			p.fails(raw, out)
			return
		}
		p.hears(raw, out)
	default:
		p.hears(raw, out)
	}
	p.settle(out)
}

// system takes what the CLI says about itself.
func (p *protocol) system(l *line, raw []byte, out *agent.Talk) {
	switch string(l.Subtype) {
	case "session_state_changed":
		p.running = string(l.State) != "idle"
		if p.running && p.turn == nil {
			out.Break("claude began to work by itself")
		}
		return
	case "background_tasks_changed":
		p.tasks = tasks(l.Tasks)
	}
	p.hears(raw, out)
}

// tasks are the ids of a list of background tasks.
func tasks(raw json.RawMessage) (ids []string) {
	var l struct {
		Tasks []struct {
			ID jsonl.Str `json:"task_id"`
		} `json:"l"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(slices.Concat([]byte(`{"l":`), raw, []byte("}")), &l) {
		return nil
	}
	for _, t := range l.Tasks {
		ids = append(ids, string(t.ID))
	}
	return ids
}

// answered takes the response to a request of ours. One to a request that was not
// made is nothing to us.
func (p *protocol) answered(raw json.RawMessage, size int, out *agent.Talk) {
	var r struct {
		Subtype jsonl.Word `json:"subtype"`
		ID      jsonl.Str  `json:"request_id"`
		Error   jsonl.Str  `json:"error"`
	}
	if jsonl.Null(raw) || !jsonl.Decode(raw, &r) {
		return
	}
	c, ok := p.pending[string(r.ID)]
	if !ok {
		return
	}
	delete(p.pending, string(r.ID))
	failed := string(r.Subtype) != "success"
	if c.turn != nil && c.turn == p.turn {
		out.Turn(c.turn.id).Bytes += int64(size)
	}
	switch c.what {
	case hello:
		if failed {
			out.Break("claude refused the host: " + string(r.Error))
			return
		}
		p.ready, out.Ready = true, true
	case ping:
		out.Pong = true
	case equip:
		p.equipped(c.turn, failed, string(r.Error), out)
	case stopTask:
		p.tasks = slices.DeleteFunc(p.tasks, func(id string) bool { return id == c.task })
		if failed { // it may have ended just now; what is left of it is ended with the turn's tools
			notice(out.Turn(c.turn.id).Batch, "a background task was not stopped: "+string(r.Error))
		}
	case interrupt: // the result and the state tell what came of it
	}
}

// fails takes the result of a CLI that could not begin: the conversation is not
// known, for one. The turn that waits is told when it asks.
func (p *protocol) fails(raw []byte, out *agent.Talk) {
	var b agent.Batch
	NewParser(&agent.Request{}, Name).Feed(raw, &b)
	for _, f := range b.Facts {
		if f.Kind == agent.FactVerdict && f.Verdict.Failure != nil {
			p.lost, p.ready, out.Ready = f.Verdict.Failure, true, true
		}
	}
}
