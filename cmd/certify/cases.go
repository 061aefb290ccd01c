package certify

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// step is one case of the conversation; needs tells what the CLI must claim for it.
type step struct {
	name  string
	needs func(*agent.Capabilities) bool
	play  func(context.Context, *Examiner) error
}

var cases = []step{
	{"text", nil, text},
	{"a further turn remembers", func(c *agent.Capabilities) bool { return c.Resume }, remembers},
	{"command", nil, command},
	{"file change", nil, fileChange},
	{"tool of an MCP server", func(c *agent.Capabilities) bool { return c.MCP }, tool},
	{"function of the caller", func(c *agent.Capabilities) bool { return c.Functions }, function},
	{"cancel in the middle of a command", nil, cancelled},
	{"permission given", asks, func(ctx context.Context, x *Examiner) error { return permission(ctx, x, true) }},
	{"permission denied", asks, func(ctx context.Context, x *Examiner) error { return permission(ctx, x, false) }},
	{"message to a running turn", func(c *agent.Capabilities) bool { return c.Steer }, steered},
	{"provider refuses the key", nil, func(ctx context.Context, x *Examiner) error { return fails(ctx, x, "401", event.AuthenticationError) }},
	{"provider is overloaded", nil, func(ctx context.Context, x *Examiner) error { return fails(ctx, x, "500", event.ProviderOverloaded) }},
	{"conversation too long", nil, func(ctx context.Context, x *Examiner) error { return fails(ctx, x, "context", event.ContextTooLong) }},
}

func asks(c *agent.Capabilities) bool { return slices.Contains(c.Permissions, spec.Ask) }

func text(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, nil)
	if err != nil {
		return err
	}
	t, err := c.ask(ctx, "[[say: certified words]]")
	if err != nil {
		return err
	}
	return answers(t, "certified words")
}

func remembers(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := c.ask(ctx, "Please remember the word heron."); err != nil {
		return err
	}
	t, err := c.ask(ctx, "What did I ask you to remember?")
	if err != nil {
		return err
	}
	return answers(t, "heron")
}

func command(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, nil)
	if err != nil {
		return err
	}
	t, err := c.ask(ctx, "[[say: I run it.]] [[shell: echo from a real shell]]")
	if err != nil {
		return err
	}
	return item(t, "command with its output", func(it *event.Item) bool {
		return it.Type == event.Command && it.Status == event.Done && strings.Contains(it.Command, "echo from a real shell") && strings.Contains(it.Output, "from a real shell")
	})
}

func fileChange(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, nil)
	if err != nil {
		return err
	}
	name := c.session.Hex() + ".txt"
	if _, err := c.ask(ctx, "[[write: "+name+" some text]]"); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(x.Workspace, name))
	if err != nil || strings.TrimSpace(string(text)) != "some text" {
		return fmt.Errorf("the file has %q, %w", text, err)
	}
	return nil
}

func tool(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, func(a *spec.Agent) { a.MCP = map[string]spec.MCPServer{"docs": {URL: x.MCP}} })
	if err != nil {
		return err
	}
	t, err := c.ask(ctx, `[[mcp: docs echo {"text":"from the tool"}]]`)
	if err != nil {
		return err
	}
	return item(t, "call of the tool with its result", func(it *event.Item) bool {
		return it.Type == event.ToolCall && it.Status == event.Done && it.Server == "docs" && it.Tool == "echo" && strings.Contains(it.Output, "from the tool")
	})
}

func function(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, func(a *spec.Agent) {
		a.Functions = []spec.Function{{
			Name: "get_weather", Description: "The weather of a city.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		}}
	})
	if err != nil {
		return err
	}
	turn, err := c.say(ctx, `[[mcp: agenthost get_weather {"city":"Oslo"}]]`)
	if err != nil {
		return err
	}
	asked, err := c.asked(ctx, event.FunctionCall)
	if err != nil {
		return err
	}
	if _, err := c.post(ctx, spec.Action{Answer: &spec.Answer{Item: asked, Output: "rain in Oslo"}}); err != nil {
		return err
	}
	t, err := c.end(ctx, turn)
	if err != nil {
		return err
	}
	if err := completed(t); err != nil {
		return err
	}
	return answers(t, "rain in Oslo")
}

// asked waits until the turn asks something of its caller.
func (c *chat) asked(ctx context.Context, typ event.ItemType) (asked event.ID, err error) {
	over := false
	err = c.until(ctx, "the question", func(ev *event.Event) bool {
		if it, ok := ev.Body.(*event.Item); ok && ev.Kind == event.ItemStarted && it.Type == typ {
			asked = it.ID
		}
		over = ev.Kind == event.TurnEnded
		return ev.Kind == event.TurnWaiting || over
	})
	if err == nil && (over || asked.IsZero()) {
		err = fmt.Errorf("the turn did not ask: it has no open %s", typ)
	}
	return asked, err
}

func cancelled(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, nil)
	if err != nil {
		return err
	}
	started := c.session.Hex() + ".started"
	turn, err := c.say(ctx, "[[shell: touch "+started+"; sleep 3000]]")
	if err != nil {
		return err
	}
	err = c.until(ctx, "the command", func(ev *event.Event) bool {
		it, ok := ev.Body.(*event.Item)
		return ok && ev.Kind == event.ItemStarted && it.Type == event.Command
	})
	if err != nil {
		return err
	}
	if _, err := c.post(ctx, spec.Action{Cancel: true}); err != nil {
		return err
	}
	t, err := c.end(ctx, turn)
	if err != nil {
		return err
	}
	if t.Status != fold.Cancelled {
		return fmt.Errorf("the turn is %s: %w", t.Status, reason(t))
	}
	t, err = c.ask(ctx, "[[say: all well]]")
	if err != nil {
		return fmt.Errorf("the turn after it: %w", err)
	}
	return answers(t, "all well")
}

func permission(ctx context.Context, x *Examiner, given bool) error {
	c, err := x.begin(ctx, func(a *spec.Agent) { a.Permissions = spec.Ask })
	if err != nil {
		return err
	}
	name := c.session.Hex() + ".asked"
	turn, err := c.say(ctx, "[[shell: echo ran >"+name+"]]")
	if err != nil {
		return err
	}
	asked, err := c.asked(ctx, event.Approval)
	if err != nil {
		return err
	}
	if _, err := c.post(ctx, spec.Action{Answer: &spec.Answer{Item: asked, Permission: true, Approve: given}}); err != nil {
		return err
	}
	t, err := c.end(ctx, turn)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(x.Workspace, name)); (err == nil) != given {
		return fmt.Errorf("permission %v; the command ran: %v", given, err == nil)
	}
	return completed(t)
}

func steered(ctx context.Context, x *Examiner) error {
	c, err := x.begin(ctx, nil)
	if err != nil {
		return err
	}
	turn, err := c.say(ctx, "[[slow: 100]] [[count: 300]]")
	if err != nil {
		return err
	}
	if err := c.until(ctx, "the answer's beginning", func(ev *event.Event) bool { return ev.Kind == event.TextDelta }); err != nil {
		return err
	}
	in := message("[[say: the steered answer]]")
	in.OnBusy = spec.Steer
	if _, err := c.post(ctx, spec.Action{Input: in}); err != nil {
		return err
	}
	t, err := c.end(ctx, turn)
	if err != nil {
		return err
	}
	if err := completed(t); err != nil {
		return err
	}
	if len(t.Answers) != 1 {
		return fmt.Errorf("%d messages became part of the turn", len(t.Answers))
	}
	return answers(t, "the steered answer")
}

func fails(ctx context.Context, x *Examiner, how string, code event.Code) error {
	c, err := x.begin(ctx, nil)
	if err != nil {
		return err
	}
	turn, err := c.say(ctx, "[[error: "+how+"]]")
	if err != nil {
		return err
	}
	t, err := c.end(ctx, turn)
	if err != nil {
		return err
	}
	if t.Status != fold.Failed || event.CodeOf(reason(t)) != code {
		return fmt.Errorf("the turn is %s with %w, not %s", t.Status, reason(t), code)
	}
	return nil
}
