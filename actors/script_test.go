package actors_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
)

// script is an adapter whose CLI is the prompt itself, run by sh. What it prints
// is text, but for lines that begin with "#": "#final" and "#tentative" are
// terminal lines, "#session ID" names the native session, "#tool NAME" opens a
// command and "#tooldone NAME" closes it, "#wrote PATH" tells of a written file.
// "#sub NAME [OF]" sets a subagent to work, one of the subagent OF, "#of NAME TEXT"
// is said by it, and "#subdone NAME [OF]" ends it. "#use TOKENS MICROUSD" tells what
// was used so far, and "#cost TOKENS MICROUSD" is a terminal line that tells what the
// turn used. The fields change what a test is about.
type script struct {
	name       string // "script" when empty
	binary     string // "sh" when empty
	pictures   bool
	mcp        bool
	functions  bool
	validate   func(*agent.Request) error
	invocation func(*agent.Request, *agent.Invocation)
	parser     func(*agent.Request) agent.Parser
}

func (s script) Name() string {
	if s.name != "" {
		return s.name
	}
	return "script"
}

func (s script) Aliases() []string { return []string{"sh-" + s.Name()} }

func (s script) Binary() string {
	if s.binary != "" {
		return s.binary
	}
	return "sh"
}

func (s script) Validate(r *agent.Request) error {
	if s.validate != nil {
		return s.validate(r)
	}
	return nil
}

func (s script) NewParser(r *agent.Request) agent.Parser {
	if s.parser != nil {
		return s.parser(r)
	}
	return &scriptParser{}
}

func (s script) Capabilities() agent.Capabilities {
	caps := agent.Capabilities{
		Resume: true, TextDeltas: true, Images: s.pictures, Functions: s.functions, Budget: true, Usage: true, MCP: s.mcp,
		Permissions: []spec.Permissions{spec.ReadOnly, spec.WorkspaceWrite, spec.FullAccess},
	}
	if s.functions {
		caps.Permissions = append(caps.Permissions, spec.Ask)
	}
	return caps
}

func (s script) Invocation(r *agent.Request) (*agent.Invocation, error) {
	inv := &agent.Invocation{Args: []string{"-c", r.Prompt}, Env: []string{"NATIVE=" + r.Native, "MODEL=" + r.Model, "DIR=" + r.Dir, fmt.Sprint("MAX_USD=", r.Limits.MaxUSD)}}
	if s.invocation != nil {
		s.invocation(r, inv)
	}
	return inv, nil
}

type scriptParser struct {
	verdict bool
	said    int
}

func (p *scriptParser) Feed(line []byte, out *agent.Batch) {
	word, rest, _ := bytes.Cut(line, []byte(" "))
	switch string(word) {
	case "#final", "#tentative":
		p.verdict = true
		out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{
			Final: string(word) == "#final", Outcome: event.Completed, Usage: &event.Usage{Input: 3, Output: 5},
		}})
	case "#session":
		out.Add(agent.Fact{Kind: agent.FactSession, Text: string(rest)})
	case "#wrote":
		out.Add(agent.Fact{Kind: agent.FactDone, Key: string(rest), Item: &event.Item{
			Type: event.FileChange, Status: event.Done, Changes: []event.Change{{Path: string(rest), Kind: "update"}},
		}})
	case "#tool":
		out.Add(agent.Fact{Kind: agent.FactStart, Key: string(rest), Item: &event.Item{Type: event.Command, Command: string(rest)}})
	case "#tooldone":
		zero := 0
		out.Add(agent.Fact{Kind: agent.FactDone, Key: string(rest), Item: &event.Item{Type: event.Command, Command: string(rest), ExitCode: &zero}})
	case "#sub", "#subdone":
		name, of, _ := strings.Cut(string(rest), " ")
		kind := agent.FactStart
		if string(word) == "#subdone" {
			kind = agent.FactDone
		}
		out.Add(agent.Fact{Kind: kind, Key: name, Parent: of, Item: &event.Item{Type: event.Subagent, Tool: name, Prompt: "do " + name}})
	case "#of":
		name, text, _ := strings.Cut(string(rest), " ")
		p.said++
		out.Add(agent.Fact{Kind: agent.FactDone, Key: fmt.Sprint("said", p.said), Parent: name, Item: &event.Item{Type: event.Message, Text: text}})
	case "#use", "#cost": // so much was used so far, and it is over with so much
		u := &event.Usage{}
		_, _ = fmt.Sscan(string(rest), &u.Input, &u.MicroUSD)
		if string(word) == "#use" {
			out.Add(agent.Fact{Kind: agent.FactUsage, Usage: u})
			return
		}
		p.verdict = true
		out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Completed, Usage: u}})
	default:
		out.Add(agent.Fact{Kind: agent.FactText, Key: "m", Text: string(line) + "\n"})
	}
}

func (p *scriptParser) Close(exit agent.Exit, out *agent.Batch) {
	if !p.verdict && exit.Code == 0 && exit.Signal == "" {
		out.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Completed}})
	}
}

// started is a Host with the script adapter, stopped at the test's end.
func started(t *testing.T, l actors.Limits, st store.Store, more ...actors.Option) *actors.Host {
	t.Helper()
	return startedIn(t, t.TempDir(), l, st, more...)
}

func startedIn(t *testing.T, dir string, l actors.Limits, st store.Store, more ...actors.Option) *actors.Host {
	t.Helper()
	h := dropped(t, dir, l, st, more...)
	t.Cleanup(func() { stop(t, h) })
	return h
}

// dropped is a started Host that nobody stops.
func dropped(t *testing.T, dir string, l actors.Limits, st store.Store, more ...actors.Option) *actors.Host {
	t.Helper()
	h := built(t, dir, l, st, more...)
	if err := h.Start(ctx(t)); err != nil {
		t.Fatal(err)
	}
	return h
}

// built is a Host before Start. Without a runtime among the options it has the
// plain script adapter.
func built(t *testing.T, dir string, l actors.Limits, st store.Store, more ...actors.Option) *actors.Host {
	t.Helper()
	opts := []actors.Option{actors.WithStateDir(dir), actors.WithLimits(l), actors.WithStore(st)}
	h, err := actors.New(append(opts, more...)...)
	if err == nil && len(h.Runtimes(ctx(t))) == 0 {
		h, err = actors.New(append(append(opts, with(script{})), more...)...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func with(a agent.Adapter) actors.Option {
	return actors.WithRuntime(actors.RuntimeConfig{Adapter: a})
}

// quick are limits for CLIs that do not behave.
func quick() actors.Limits {
	return actors.Limits{
		InterruptGrace: 40 * time.Millisecond, TerminateGrace: 40 * time.Millisecond,
		Linger: 150 * time.Millisecond, SettleQuiet: 50 * time.Millisecond, MinAvailableMemory: 1,
	}
}

func stop(t *testing.T, h *actors.Host) {
	t.Helper()
	c, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	noneStuck(t, h)
	end(t, c, h)
}

// noneStuck looks whether a session is in progress without a turn that lives: at the end
// of every test there may be none.
func noneStuck(t *testing.T, h *actors.Host) {
	t.Helper()
	if h.Draining() {
		return
	}
	for deadline := time.Now().Add(3 * time.Second); ; {
		c, cancel := context.WithTimeout(context.Background(), time.Second) // an actor that goes gives no answer
		n, err := actors.Inspect(c, h)
		cancel()
		if err == nil && n == 0 || time.Now().After(deadline) {
			if n > 0 {
				t.Errorf("%d sessions are stuck", n)
			}
			break
		}
	}
	if n := h.Stats().Stuck; n > 0 {
		t.Errorf("%d sessions were stuck", n)
	}
}

func end(t *testing.T, c context.Context, h *actors.Host) {
	t.Helper()
	if err := h.Stop(c); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

// ctx ends before the test binary's own patience does.
func ctx(t *testing.T) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	return c
}

func input(prompt string) *spec.NewInput {
	return &spec.NewInput{Items: []*event.Item{{Type: event.Message, User: true, Text: prompt}}}
}

// create makes a session whose first turn runs prompt ("" for none).
func create(t *testing.T, h *actors.Host, prompt string) *fold.Posted {
	t.Helper()
	n := &spec.NewSession{Agent: spec.Agent{Adapter: "script", Model: "script"}}
	if prompt != "" {
		n.Input = input(prompt)
	}
	p, err := h.CreateSession(ctx(t), "alice", n)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func send(t *testing.T, h *actors.Host, session event.ID, prompt string) *fold.Turn {
	t.Helper()
	p, err := h.Post(ctx(t), "alice", session, []spec.Action{{Input: input(prompt)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Turns[0]
}

func cancelSession(t *testing.T, h *actors.Host, session event.ID) {
	t.Helper()
	if _, err := h.Post(ctx(t), "alice", session, []spec.Action{{Cancel: true}}, nil); err != nil {
		t.Fatal(err)
	}
}

// follow reads events after seq until until says so; it returns all it read.
func follow(t *testing.T, h *actors.Host, session event.ID, after int64, until func(event.Event) bool) []event.Event {
	t.Helper()
	sub, err := h.Subscribe(ctx(t), "alice", session, after)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	return drain(t, sub, after, until)
}

func drain(t *testing.T, sub *actors.Subscription, after int64, until func(event.Event) bool) []event.Event {
	t.Helper()
	var got []event.Event
	c := ctx(t)
	for {
		b, wake, err := sub.Next()
		if err != nil {
			t.Fatalf("after %d events: %v", len(got), err)
		}
		if b == nil {
			select {
			case <-wake:
				continue
			case <-c.Done():
				t.Fatalf("no end after %d events: %s", len(got), kinds(got))
			}
		}
		for _, ev := range b.Events {
			if ev.Seq <= after {
				continue
			}
			if !store.Follows(&ev, after+1) {
				t.Fatalf("event %d after %d", ev.Seq, after)
			}
			after = ev.Seq
			got = append(got, ev)
			if until(ev) {
				return got
			}
		}
	}
}

func ended(turn event.ID) func(event.Event) bool {
	return func(ev event.Event) bool { return ev.Kind == event.TurnEnded && ev.Turn == turn }
}

func kinds(list []event.Event) string {
	var b strings.Builder
	for i, ev := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(ev.Kind.String())
	}
	return b.String()
}

func outcome(t *testing.T, list []event.Event) *event.End {
	t.Helper()
	end, ok := list[len(list)-1].Body.(*event.End)
	if !ok {
		t.Fatalf("the last event is no end: %s", kinds(list))
	}
	return end
}
