package codex_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/adapters/adaptertest"
	"github.com/agenthost/agenthost/adapters/codex"
)

// server answers what an app-server is asked, and notes it.
type server struct {
	t     *testing.T
	p     agent.Protocol
	asked []string
	ends  string // status of the turns
	turns int
	over  bool
}

func newServer(t *testing.T) *server {
	s := &server{t: t, p: (&codex.Adapter{}).NewProtocol(), ends: "completed"}
	var talk agent.Talk
	s.p.Hello(&talk)
	s.answer(&talk)
	s.asked = nil
	return s
}

// turn serves a turn of a session, and returns what was asked for it.
func (s *server) turn(id, previous byte, thread string, change func(*agent.Request)) string {
	s.t.Helper()
	a := &codex.Adapter{}
	r := adaptertest.Request(a)
	r.Permissions, r.Turn, r.Native = spec.WorkspaceWrite, event.ID{id}, thread
	if previous != 0 {
		r.Previous = event.ID{previous}
	}
	if change != nil {
		change(r)
	}
	s.asked, s.over = nil, false
	var talk agent.Talk
	s.p.Ask(r.Turn, r, &talk)
	s.answer(&talk)
	if !s.over {
		s.t.Errorf("turn %d is not over: %v", id, s.asked)
	}
	return strings.Join(s.asked, " ")
}

func (s *server) answer(talk *agent.Talk) {
	for _, said := range talk.Said {
		s.over = s.over || said.Over
	}
	for line := range bytes.Lines(talk.Write) {
		var m struct {
			ID     int64
			Method string
			Params struct{ ThreadID string }
		}
		if err := json.Unmarshal(line, &m); err != nil || m.ID == 0 {
			continue
		}
		s.asked = append(s.asked, strings.TrimPrefix(m.Method, "thread/"))
		switch m.Method {
		case "thread/start":
			s.turns++
			s.feed(`{"id":%d,"result":{"thread":{"id":"new%d"}}}`, m.ID, s.turns)
		case "thread/resume":
			s.feed(`{"id":%d,"result":{"thread":{"id":%q}}}`, m.ID, m.Params.ThreadID)
		case "turn/start":
			s.turns++
			s.feed(`{"id":%d,"result":{"turn":{"id":"u%d"}}}`, m.ID, s.turns)
			s.feed(`{"method":"turn/completed","params":{"threadId":%q,"turn":{"id":"u%d","status":%q}}}`, m.Params.ThreadID, s.turns, s.ends)
		default:
			s.feed(`{"id":%d,"result":{}}`, m.ID)
		}
	}
}

func (s *server) feed(format string, args ...any) {
	var talk agent.Talk
	s.p.Feed(fmt.Appendf(nil, format, args...), &talk)
	s.answer(&talk)
}

func TestThreadStaysLoadedForATurnLikeTheLast(t *testing.T) {
	t.Parallel()
	model := func(r *agent.Request) { r.Model = "gpt-5.5" }
	effort := func(r *agent.Request) { r.Reasoning.Effort = "high" }
	tools := func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"a": {URL: "http://127.0.0.1:1/"}} }
	for name, c := range map[string]struct {
		first, second func(*agent.Request)
		previous      byte
		ends          string
		want          string
	}{
		"the same":                    {nil, nil, 1, "completed", "turn/start"},
		"a turn elsewhere in between": {nil, nil, 9, "completed", "unsubscribe resume turn/start"},
		"another model":               {nil, model, 1, "completed", "unsubscribe resume turn/start"},
		"the model is left out":       {model, nil, 1, "completed", "unsubscribe resume turn/start"},
		"an effort that stays behind": {effort, nil, 1, "completed", "unsubscribe resume turn/start"},
		"other instructions":          {nil, func(r *agent.Request) { r.Instructions = "Be brief." }, 1, "completed", "unsubscribe resume turn/start"},
		"other permissions":           {nil, func(r *agent.Request) { r.Permissions = spec.ReadOnly }, 1, "completed", "unsubscribe resume turn/start"},
		"another directory":           {nil, func(r *agent.Request) { r.Workspace = "/elsewhere" }, 1, "completed", "unsubscribe resume turn/start"},
		"a turn that failed":          {nil, nil, 1, "failed", "resume turn/start unsubscribe"},
		"tool servers of the turn":    {tools, tools, 1, "completed", "resume turn/start unsubscribe"},
		"a tool server after none":    {nil, tools, 1, "completed", "unsubscribe resume turn/start unsubscribe"},
	} {
		s := newServer(t)
		s.ends = c.ends
		s.turn(1, 0, "", c.first)
		if got := s.turn(2, c.previous, "new1", c.second); got != c.want {
			t.Errorf("%s: asked %q, want %q", name, got, c.want)
		}
	}
}

func TestKeptThreadsAreBounded(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for i := byte(1); i <= 40; i++ {
		got := s.turn(i, 0, fmt.Sprintf("t%d", i), nil)
		if dropped := strings.HasSuffix(got, "unsubscribe"); dropped != (i > 16) {
			t.Errorf("thread %d: %s", i, got)
		}
	}
	if got := s.turn(100, 40, "t40", nil); got != "turn/start" {
		t.Errorf("the newest: %s", got)
	}
	if got := s.turn(101, 2, "t2", nil); !slices.Contains(strings.Fields(got), "resume") {
		t.Errorf("the oldest: %s", got)
	}
}
