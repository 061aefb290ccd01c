package acp

import (
	"encoding/json"
	"fmt"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

// asked is what a request of ours was about.
type asked uint8

const (
	hello asked = iota + 1
	signIn
	ping
	load
	setting
	prompting
	mode
	closing
)

// call is a request of ours that was not answered yet.
type call struct {
	what asked
	turn *served // nil for those about the process itself
	name string  // of a setting, for people; of the session that is given up
}

type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method jsonl.Str       `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

const version = "2.0"

func (p *protocol) write(v any, out *agent.Talk) {
	b, err := jsoniter.ConfigCompatibleWithStandardLibrary.Marshal(v)
	if err != nil { // only values of ours and JSON that was read come here
		out.Break("a message to " + p.agent.Name + " could not be written: " + err.Error())
		return
	}
	out.Line(b)
}

func (p *protocol) request(c call, method string, params any, out *agent.Talk) {
	p.last++
	p.pending[p.last] = c
	p.write(struct {
		Version string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{version, p.last, method, params}, out)
}

func (p *protocol) notify(method string, params any, out *agent.Talk) {
	p.write(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{version, method, params}, out)
}

func (p *protocol) reply(id json.RawMessage, result any, out *agent.Talk) {
	p.write(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{version, id, result}, out)
}

// maxNoise is how many lines in a row may be no message: something else than the
// protocol is spoken then.
const maxNoise = 100

// Feed reads one line.
func (p *protocol) Feed(raw []byte, out *agent.Talk) {
	if p.piece.quick(raw, &p.scan) {
		p.noise = 0
		p.heard(&p.piece, raw, out)
		return
	}
	obj, ok := jsonl.Object(raw)
	var m envelope
	if !ok || !jsonl.Decode(obj, &m) || m.Method == "" && jsonl.Null(m.ID) {
		if p.noise++; p.noise > maxNoise {
			out.Break(fmt.Sprintf("%s wrote %d lines in a row that are no messages", p.agent.Name, p.noise))
		}
		return
	}
	p.noise = 0
	switch {
	case m.Method == "":
		p.answered(&m, len(raw), out)
	case jsonl.Null(m.ID):
		if m.Method == "session/update" {
			p.updated(m.Params, raw, out)
		}
	case m.Method == "session/request_permission":
		p.asks(&m, len(raw), out)
	default:
		// Files and terminals are not offered; the rest is a vendor's own. The CLI
		// waits for each answer.
		p.write(map[string]any{"jsonrpc": version, "id": m.ID, "error": map[string]any{"code": -32601, "message": "Method not found"}}, out)
	}
}
