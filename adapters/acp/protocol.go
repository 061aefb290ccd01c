package acp

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
	"github.com/agenthost/agenthost/adapters/internal/plan"
	"github.com/agenthost/agenthost/adapters/internal/speech"
)

// protocolVersion is the only one that is spoken.
const protocolVersion = 1

// protocol speaks with one process.
type protocol struct {
	agent    *Agent
	last     int64
	pending  map[int64]call
	turns    map[event.ID]*served
	sessions map[string]*served // by the CLI's session
	// begun are the sessions that are open in the process: those of a CLI that cannot
	// give one up.
	begun map[string]bool
	// leaving are the sessions that are being given up, with the turn that waits until
	// they are, nil for none.
	leaving map[string]*served
	kept    map[string]*kept // sessions that are open and idle
	age     int64            // of the newest of them
	noise   int              // lines in a row that are no message
	scan    jsonl.Scanner
	piece   chunk // of a line that was read quickly

	// What the CLI says it can.
	loads, resumes, closes, remote bool
}

func newProtocol(a *Agent) *protocol {
	return &protocol{agent: a, pending: map[int64]call{}, turns: map[event.ID]*served{}, sessions: map[string]*served{}, begun: map[string]bool{}, leaving: map[string]*served{}, kept: map[string]*kept{}}
}

// served is a turn in a session.
type served struct {
	id   event.ID
	r    *agent.Request
	mode Mode

	session   string // the CLI's id, "" until it is told
	servers   []any
	print     print
	steps     []step // before the prompt
	running   bool   // the prompt is with the CLI
	told      bool   // the session's id is told
	cancelled bool   // its end was asked for
	denied    bool   // a question of its got a no
	ended     bool   // it has a verdict
	stays     bool   // its session is as the next turn wants it
	restored  int    // how often the mode was set again

	speech    speech.Speech
	plan      plan.Plan
	tools     map[string]*tool
	leaves    bool // it runs tools that may leave processes
	questions map[string]question
	used      *event.Usage
	said      int // unknown lines kept
}

// step is a request that prepares a session.
type step struct {
	name, method string
	params       map[string]any
}

// Hello introduces the host. It offers no files and no terminals: the CLI uses its own.
func (p *protocol) Hello(out *agent.Talk) {
	p.request(call{what: hello}, "initialize", map[string]any{
		"protocolVersion":    protocolVersion,
		"clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         map[string]any{"name": "agenthost", "title": "agenthost", "version": "1"},
	}, out)
}

// Ping asks for a method that there is not: the protocol has none to ask for a sign of
// life, and each request has to be answered.
func (p *protocol) Ping(out *agent.Talk) {
	p.request(call{what: ping}, "_agenthost/ping", struct{}{}, out)
}

// greeted: the CLI has introduced itself.
func (p *protocol) greeted(m *envelope, failed bool, out *agent.Talk) {
	var r struct {
		Version      jsonl.Num `json:"protocolVersion"`
		Capabilities struct {
			Load jsonl.Flag `json:"loadSession"`
			MCP  struct {
				HTTP jsonl.Flag `json:"http"`
			} `json:"mcpCapabilities"`
			Session struct {
				Resume json.RawMessage `json:"resume"`
				Close  json.RawMessage `json:"close"`
			} `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
	}
	switch {
	case failed:
		out.Break(p.agent.Name + " refused the host: " + complaint(m.Error).text)
		return
	case !jsonl.Decode(m.Result, &r) || r.Version != protocolVersion:
		out.Break(fmt.Sprintf("%s speaks version %d of the protocol, the host version %d", p.agent.Name, r.Version, protocolVersion))
		return
	}
	c := &r.Capabilities
	p.loads, p.remote = bool(c.Load), bool(c.MCP.HTTP)
	p.resumes, p.closes = !jsonl.Null(c.Session.Resume), !jsonl.Null(c.Session.Close) || p.agent.Close != ""
	if p.agent.Auth != "" {
		p.request(call{what: signIn}, "authenticate", map[string]any{"methodId": p.agent.Auth}, out)
		return
	}
	out.Ready = true
}

// Ask opens the turn's session, behind what the turn before left of it. It is prompted
// when all is set in it.
func (p *protocol) Ask(id event.ID, r *agent.Request, out *agent.Talk) {
	s := &served{id: id, r: r, mode: p.agent.Modes[r.Permissions], tools: map[string]*tool{}, questions: map[string]question{}}
	p.turns[id] = s
	if _, leaves := p.leaving[r.Native]; leaves {
		p.leaving[r.Native] = s
		return
	}
	p.open(s, out)
}

// open opens the turn's session, which may be open from the turn before.
func (p *protocol) open(s *served, out *agent.Talk) {
	servers, err := p.servers(s.r)
	if err != nil {
		p.fail(s, err, out)
		p.over(s, out)
		return
	}
	s.servers, s.print = servers, fingerprint(s.r, s.mode, servers)
	switch k := p.take(s.r.Native); {
	case k == nil:
		p.load(s, out)
	case k.last == s.r.Previous && k.print == s.print:
		s.session = s.r.Native
		p.sessions[s.session] = s
		p.next(s, out)
	default: // it was opened otherwise, or does not know what was said elsewhere
		p.giveUp(s.r.Native, s, out)
	}
}

// load has the CLI open the turn's session.
func (p *protocol) load(s *served, out *agent.Talk) {
	r := s.r
	params := map[string]any{"cwd": r.Workspace, "mcpServers": s.servers}
	method := "session/new"
	if r.Native != "" {
		params["sessionId"] = r.Native
		switch {
		case p.sessions[r.Native] != nil:
			p.fail(s, event.Fail(event.CLICrashed, "another turn of this session is still open in "+p.agent.Name), out)
			p.over(s, out)
			return
		case p.agent.Bound && p.begun[r.Native]:
			p.opened(s, r.Native, nil, out)
			return
		case p.resumes:
			method = "session/resume"
		case p.loads:
			method = "session/load"
		case p.begun[r.Native]:
			p.opened(s, r.Native, nil, out)
			return
		default:
			p.fail(s, event.Fail(event.ResumeLost, p.agent.Name+" cannot go on with a conversation of a process that has ended; start a new session"), out)
			p.over(s, out)
			return
		}
		s.session = r.Native
		p.sessions[s.session] = s
	}
	p.request(call{what: load, turn: s}, method, params, out)
}

// servers are the MCP servers of a session. Secrets may be in them; they travel by
// standard input.
func (p *protocol) servers(r *agent.Request) ([]any, *event.Failure) {
	list := []any{}
	if p.agent.OwnServers {
		return list, nil
	}
	add := func(name string, s *spec.MCPServer) *event.Failure {
		if s.URL != "" {
			if !p.remote {
				return event.FailParam(event.InvalidRequest, "mcp_servers."+name, p.agent.Name+" takes no MCP servers by HTTP")
			}
			list = append(list, map[string]any{"type": "http", "name": name, "url": s.URL, "headers": pairs(s.Headers)})
			return nil
		}
		env := maps.Clone(p.agent.ServerEnv)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, s.Env)
		list = append(list, map[string]any{"name": name, "command": s.Command, "args": append([]string{}, s.Args...), "env": pairs(env)})
		return nil
	}
	for _, name := range sorted(r.MCP) {
		s := r.MCP[name]
		if f := add(name, &s); f != nil {
			return nil, f
		}
	}
	if h := r.Host; h != nil {
		if f := add(h.Name, &spec.MCPServer{URL: h.URL, Headers: map[string]string{"Authorization": spec.Bearer(h.Token)}}); f != nil {
			return nil, f
		}
	}
	return list, nil
}

// Interrupt ends a turn.
func (p *protocol) Interrupt(id event.ID, out *agent.Talk) {
	s := p.turns[id]
	if s == nil || s.ended {
		return
	}
	s.cancelled = true
	if p.leaving[s.r.Native] == s && s.r.Native != "" {
		p.leaving[s.r.Native] = nil
		s.verdict(&agent.Verdict{Final: true, Outcome: event.Cancelled}, out)
		p.over(s, out)
		return
	}
	if !s.running {
		return // it will not be prompted
	}
	p.notify("session/cancel", map[string]any{"sessionId": s.session}, out)
	p.withdraw(s, out)
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
		p.greeted(m, failed, out)
	case signIn:
		out.Ready = true // one that failed is told by the first session
	case ping:
		out.Pong = true
	case load:
		p.loaded(c.turn, m, failed, out)
	case setting:
		p.set(c, m, failed, out)
	case prompting:
		p.finished(c.turn, m, failed, out)
	case mode:
		if failed && !c.turn.ended { // it might do more than it may
			p.fail(c.turn, event.Fail(event.CLICrashed, p.agent.Name+" left the mode of its permissions: "+complaint(m.Error).text), out)
			p.notify("session/cancel", map[string]any{"sessionId": c.turn.session}, out)
		}
	case closing:
		next := p.leaving[c.name]
		delete(p.leaving, c.name)
		if next != nil {
			p.open(next, out)
		}
	}
}

// fail gives a turn its verdict.
func (p *protocol) fail(s *served, f *event.Failure, out *agent.Talk) {
	s.verdict(&agent.Verdict{Final: true, Outcome: event.Failed, Failure: f}, out)
}

func (s *served) verdict(v *agent.Verdict, out *agent.Talk) {
	if s.ended {
		return
	}
	s.ended = true
	b := out.Turn(s.id).Batch
	s.tell(b)
	s.speech.Close(b)
	s.plan.Close(b)
	v.Usage, v.Carry = s.used, s.carry()
	b.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: v})
}

// leave keeps the session of a turn that went well for the next one like it, and gives
// up another, so that the next turn opens it with settings of its own and all that was
// said, here or in another process. The turn does not wait for that: some take long.
func (p *protocol) leave(s *served, out *agent.Talk) {
	p.withdraw(s, out)
	p.over(s, out)
	switch {
	case s.session == "":
	case s.stays:
		p.keep(s, out)
	default:
		p.giveUp(s.session, nil, out)
	}
}

func (p *protocol) over(s *served, out *agent.Talk) {
	delete(p.turns, s.id)
	if s.session != "" && p.sessions[s.session] == s {
		delete(p.sessions, s.session)
	}
	out.Turn(s.id).Over = true
}
