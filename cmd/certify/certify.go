package certify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// Result is what came of one case.
type Result struct {
	Case string
	// Lacking says that the CLI does not claim to do this by this driver: the case was
	// not played.
	Lacking bool
	Err     error // nil: it passed
	Took    time.Duration
}

// owner is the principal of the conversation.
const owner = "certify"

// Examiner plays the conversation on a Host with one adapter, whose provider is the
// scripted one.
type Examiner struct {
	Host    *actors.Host
	Adapter string
	// Caps are what the CLI claims by the Host's driver.
	Caps agent.Capabilities
	// Workspace is where the Host's turns work; MCP is the URL of the stand-in MCP server.
	Workspace, MCP string
	// Limit bounds one case.
	Limit time.Duration
}

// Examine plays all cases and tells each. It reports whether all passed.
func (x *Examiner) Examine(ctx context.Context, told func(Result)) bool {
	all := true
	for _, c := range cases {
		r := Result{Case: c.name, Lacking: c.needs != nil && !c.needs(&x.Caps)}
		if !r.Lacking {
			began := time.Now()
			limited, cancel := context.WithTimeout(ctx, x.Limit)
			r.Err = c.play(limited, x)
			cancel()
			r.Took = time.Since(began)
			all = all && r.Err == nil
		}
		told(r)
		if ctx.Err() != nil {
			return false
		}
	}
	return all
}

// chat is a session with the agent.
type chat struct {
	x       *Examiner
	session event.ID
	seen    int64
}

// begin makes a session; change may say more of its agent.
func (x *Examiner) begin(ctx context.Context, change func(*spec.Agent)) (*chat, error) {
	a := spec.Agent{Adapter: x.Adapter, Model: x.Adapter, Locked: true}
	if change != nil {
		change(&a)
	}
	p, err := x.Host.CreateSession(ctx, owner, &spec.NewSession{Agent: a, Environment: spec.Environment{Type: spec.EnvSelfHosted}})
	if err != nil {
		return nil, err
	}
	return &chat{x: x, session: p.Session.ID}, nil
}

func (c *chat) post(ctx context.Context, a spec.Action) (*fold.Posted, error) {
	return c.x.Host.Post(ctx, owner, c.session, []spec.Action{a}, nil)
}

func message(text string) *spec.NewInput {
	return &spec.NewInput{Wire: "agents", Items: []*event.Item{{Type: event.Message, User: true, Text: text}}}
}

// say asks for a turn and returns its id.
func (c *chat) say(ctx context.Context, text string) (event.ID, error) {
	p, err := c.post(ctx, spec.Action{Input: message(text)})
	if err != nil {
		return event.ID{}, err
	}
	return p.Turns[0].ID, nil
}

// until reads on to the first event that ok takes.
func (c *chat) until(ctx context.Context, what string, ok func(*event.Event) bool) error {
	sub, err := c.x.Host.Subscribe(ctx, owner, c.session, c.seen)
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		b, wake, err := sub.Next()
		if err != nil {
			return err
		}
		if b == nil {
			select {
			case <-wake:
			case <-ctx.Done():
				return fmt.Errorf("%s did not come: %w", what, ctx.Err())
			}
			continue
		}
		for i := range b.Events {
			if ev := &b.Events[i]; ev.Seq > c.seen {
				if c.seen = ev.Seq; ok(ev) {
					return nil
				}
			}
		}
	}
}

// end waits for the turn's end and reads it.
func (c *chat) end(ctx context.Context, turn event.ID) (*fold.Turn, error) {
	err := c.until(ctx, "the turn's end", func(ev *event.Event) bool { return ev.Kind == event.TurnEnded && ev.Turn == turn })
	if err != nil {
		return nil, err
	}
	return c.x.Host.Turn(ctx, owner, turn)
}

// ask plays a whole turn that must be completed.
func (c *chat) ask(ctx context.Context, text string) (*fold.Turn, error) {
	turn, err := c.say(ctx, text)
	if err != nil {
		return nil, err
	}
	t, err := c.end(ctx, turn)
	if err != nil {
		return nil, err
	}
	return t, completed(t)
}

func completed(t *fold.Turn) error {
	if t.Status == fold.Completed {
		return nil
	}
	return fmt.Errorf("the turn is %s: %w", t.Status, reason(t))
}

func reason(t *fold.Turn) error {
	if t.End == nil || t.End.Failure == nil {
		return errors.New("without a reason")
	}
	return t.End.Failure
}

// answer is the text of the turn's last message.
func answer(t *fold.Turn) string {
	text := ""
	for _, it := range t.Items {
		if it.Type == event.Message {
			text = it.Text
		}
	}
	return text
}

func answers(t *fold.Turn, words string) error {
	if got := answer(t); !strings.Contains(got, words) {
		return fmt.Errorf("the answer is %q, without %q", got, words)
	}
	return nil
}

// item finds an item of the turn.
func item(t *fold.Turn, what string, ok func(*event.Item) bool) error {
	for _, it := range t.Items {
		if ok(it) {
			return nil
		}
	}
	return fmt.Errorf("the turn has no %s", what)
}
