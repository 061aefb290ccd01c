package acp_test

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
	"github.com/agenthost/agenthost/adapters/acp"
	"github.com/agenthost/agenthost/adapters/adaptertest"
)

// cli answers what it is asked at once, and notes it.
type cli struct {
	t     *testing.T
	a     *acp.Adapter
	p     agent.Protocol
	asked []string
	end   string // of its prompts
	opens int
	over  bool
}

func newCLI(t *testing.T, capabilities string) *cli {
	a := declared(t, func(c *acp.Config) { c.Modes = nil })
	c := &cli{t: t, a: a, p: a.NewProtocol(), end: `"result":{"stopReason":"end_turn"}`}
	c.do(func(talk *agent.Talk) { c.p.Hello(talk) }, capabilities)
	return c
}

// turn serves a turn of a session behind another, and returns what was asked for it.
func (c *cli) turn(id, previous byte, session string, change func(*agent.Request)) string {
	c.t.Helper()
	r := adaptertest.Request(c.a)
	r.Permissions, r.Turn, r.Native = spec.FullAccess, event.ID{id}, session
	if previous != 0 {
		r.Previous = event.ID{previous}
	}
	if change != nil {
		change(r)
	}
	c.asked, c.over = nil, false
	c.do(func(talk *agent.Talk) { c.p.Ask(r.Turn, r, talk) }, "")
	if !c.over {
		c.t.Errorf("turn %d is not over: %v", id, c.asked)
	}
	return strings.Join(c.asked, " ")
}

func (c *cli) do(say func(*agent.Talk), capabilities string) {
	var talk agent.Talk
	say(&talk)
	for _, said := range talk.Said {
		c.over = c.over || said.Over
	}
	for line := range bytes.Lines(talk.Write) {
		var m struct {
			ID     int64
			Method string
		}
		if err := json.Unmarshal(line, &m); err != nil {
			c.t.Error(err)
		}
		answer := `"result":{}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":1,"agentCapabilities":` + capabilities + `}`
		case "session/new":
			c.opens++
			answer = fmt.Sprintf(`"result":{"sessionId":"new%d","configOptions":[{"id":"m","category":"model","currentValue":"a","options":[{"value":"a"},{"value":"b"}]}]}`, c.opens)
		case "session/resume":
			answer = `"result":{"configOptions":[{"id":"m","category":"model","currentValue":"a","options":[{"value":"a"},{"value":"b"}]}]}`
		case "session/prompt":
			answer = c.end
		}
		c.asked = append(c.asked, strings.TrimPrefix(m.Method, "session/"))
		c.do(func(talk *agent.Talk) { c.p.Feed(fmt.Appendf(nil, `{"id":%d,%s}`, m.ID, answer), talk) }, "")
	}
}

const whole = `{"loadSession":true,"sessionCapabilities":{"resume":{},"close":{}}}`

func TestSessionStaysOpenForATurnLikeTheLast(t *testing.T) {
	t.Parallel()
	model := func(r *agent.Request) { r.Model = "b" }
	servers := func(r *agent.Request) { r.MCP = map[string]spec.MCPServer{"a": {Command: "a"}} }
	for name, c := range map[string]struct {
		first, second func(*agent.Request)
		previous      byte
		end           string
		want          string
	}{
		"the same":                    {nil, nil, 1, "", "prompt"},
		"the same model":              {model, model, 1, "", "prompt"},
		"the same tool servers":       {servers, servers, 1, "", "prompt"},
		"other instructions":          {nil, func(r *agent.Request) { r.Instructions = "Be brief." }, 1, "", "prompt"},
		"a turn elsewhere in between": {nil, nil, 9, "", "close resume prompt"},
		"another model":               {nil, model, 1, "", "close resume set_config_option prompt"},
		"the model is left out":       {model, nil, 1, "", "close resume prompt"},
		"an effort that stays behind": {func(r *agent.Request) { r.Reasoning.Effort = "high" }, nil, 1, "", "close resume prompt"},
		"another directory":           {nil, func(r *agent.Request) { r.Workspace = "/elsewhere" }, 1, "", "close resume prompt"},
		"another tool server":         {nil, servers, 1, "", "close resume prompt"},
		"a turn that failed":          {nil, nil, 1, `"error":{"code":429,"message":"slow down"}`, "resume prompt close"},
	} {
		s := newCLI(t, whole)
		if c.end != "" {
			s.end = c.end
		}
		s.turn(1, 0, "", c.first)
		if got := s.turn(2, c.previous, "new1", c.second); got != c.want {
			t.Errorf("%s: asked %q, want %q", name, got, c.want)
		}
	}
}

// A CLI that cannot close a session has it opened over what it has of it.
func TestSessionThatCannotBeClosed(t *testing.T) {
	t.Parallel()
	s := newCLI(t, `{"loadSession":true,"sessionCapabilities":{"resume":{}}}`)
	s.turn(1, 0, "", nil)
	if got := s.turn(2, 1, "new1", nil); got != "prompt" {
		t.Errorf("the same: %s", got)
	}
	if got := s.turn(4, 3, "new1", nil); got != "resume prompt" {
		t.Errorf("a turn elsewhere in between: %s", got)
	}
}

func TestOpenSessionsAreBounded(t *testing.T) {
	t.Parallel()
	s := newCLI(t, whole)
	for i := byte(1); i <= 40; i++ {
		got := s.turn(i, 0, fmt.Sprintf("s%d", i), nil)
		if closed := strings.HasSuffix(got, "close"); closed != (i > 16) {
			t.Errorf("session %d: %s", i, got)
		}
	}
	if got := s.turn(100, 40, "s40", nil); got != "prompt" {
		t.Errorf("the newest: %s", got)
	}
	if got := s.turn(101, 2, "s2", nil); !slices.Contains(strings.Fields(got), "resume") {
		t.Errorf("the oldest: %s", got)
	}
}
