package agents

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// story writes a session's events as the engine would: it numbers them, folds
// them and keeps the batch.
type story struct {
	t testing.TB

	mu     sync.Mutex // guards what a reader sees: state, events, views, wake
	wake   chan struct{}
	state  *fold.State
	now    int64
	events []event.Event
	views  []*fold.View

	id     event.ID
	turn   event.ID
	counts map[event.ID]uint32 // items of a turn so far
}

const storyStart = 1_796_000_000_000

func fixedID(tag byte, n byte) event.ID {
	id := event.ID{0: tag, 11: n}
	return id
}

func newStory(t testing.TB) *story {
	return newStoryOf(t, &spec.Session{
		ID: fixedID(0x5e, 1), Owner: "alice", Created: storyStart,
		Agent:       spec.Agent{ID: fixedID(0xa9, 1), Adapter: "codex", Model: "codex", Name: "coder", Saved: true},
		Environment: spec.Environment{Type: spec.EnvSelfHosted, ID: fixedID(0xe5, 1), Workspace: "/srv/code"},
		Metadata:    map[string]string{"team": "a b"},
	})
}

func newStoryOf(t testing.TB, set *spec.Session) *story {
	s := &story{t: t, state: fold.New(), now: set.Created, id: set.ID, counts: map[event.ID]uint32{}, wake: make(chan struct{})}
	b, err := stdjson.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	s.add(event.Event{Kind: event.SessionCreated, Body: &event.Settings{JSON: b}})
	return s
}

func (s *story) add(ev event.Event) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += 250
	ev.At = s.now
	s.state.Stamp(&ev)
	b, err := fold.NewBatch(s.state, []event.Event{ev})
	if err != nil {
		s.t.Fatal(err)
	}
	s.events = append(s.events, ev)
	s.views = append(s.views, b.View(0))
	close(s.wake)
	s.wake = make(chan struct{})
}

// batch is all events as one.
func (s *story) batch() *fold.Batch { return s.cut(0, len(s.events)) }

func (s *story) cut(from, to int) *fold.Batch {
	return &fold.Batch{Session: s.id, Events: s.events[from:to], Views: s.views[from:to]}
}

func (s *story) accept(n byte, texts ...string) event.ID {
	in := &spec.NewInput{}
	for _, text := range texts {
		in.Items = append(in.Items, &event.Item{Type: event.Message, Status: event.Done, User: true, Text: text})
	}
	return s.acceptInput(n, in)
}

func (s *story) acceptInput(n byte, input *spec.NewInput) event.ID {
	turn := fixedID(0x70, n)
	if n > 8 {
		turn = event.TurnOf(turn) // whose items lead back to it
	}
	s.mu.Lock()
	rest := s.state.AtRest()
	s.mu.Unlock()
	in := &event.Input{Number: int64(n), WasIdle: rest, Waiting: !rest, Wire: "agents", Prompt: input.Prompt()}
	for i, it := range input.Items {
		it := *it
		it.ID = event.ItemID(turn, uint32(i))
		in.Items = append(in.Items, &it)
	}
	s.counts[turn] = uint32(len(in.Items))
	s.add(event.Event{Kind: event.InputAccepted, Turn: turn, Body: in})
	return turn
}

func (s *story) start(turn event.ID) {
	s.turn = turn
	s.add(event.Event{Kind: event.TurnStarted, Turn: turn})
	s.add(event.Event{Kind: event.NativeSession, Turn: turn, Text: "native-1"})
}

func (s *story) open(it event.Item) event.ID {
	it.ID, it.Status = event.ItemID(s.turn, s.counts[s.turn]), event.InProgress
	s.counts[s.turn]++
	s.add(event.Event{Kind: event.ItemStarted, Turn: s.turn, Item: it.ID, Body: &it})
	return it.ID
}

func (s *story) delta(kind event.Kind, item event.ID, text string) {
	s.add(event.Event{Kind: kind, Turn: s.turn, Item: item, Text: text})
}

func (s *story) done(id event.ID, it event.Item) {
	it.ID = id
	if it.Status == 0 {
		it.Status = event.Done
	}
	s.add(event.Event{Kind: event.ItemDone, Turn: s.turn, Item: id, Body: &it})
}

func (s *story) ask(it event.Item) event.Item {
	it.ID = s.open(it)
	return it
}

func (s *story) answer(asked, a event.Item) {
	asked.Status = a.Status
	s.done(asked.ID, asked)
	a.ID, a.Call = event.AnswerID(s.turn, asked.ID), asked.ID
	s.add(event.Event{Kind: event.CallAnswered, Turn: s.turn, Item: a.ID, Body: &a})
}

func (s *story) goOn(leg int32) {
	s.add(event.Event{Kind: event.LegStarted, Turn: s.turn, Body: &event.Leg{Number: leg}})
	s.add(event.Event{Kind: event.TurnResumed, Turn: s.turn})
}

// theirs is a finished item of the subagent of a call.
func (s *story) theirs(call event.ID, it event.Item) {
	it.ID, it.Parent = event.ItemID(s.turn, s.counts[s.turn]), call
	s.counts[s.turn]++
	if it.Status == 0 {
		it.Status = event.Done
	}
	s.add(event.Event{Kind: event.SubagentItem, Turn: s.turn, Item: it.ID, Body: &it})
}

// call is a subagent's own call of a further one.
func (s *story) call(it event.Item) event.ID {
	it.ID, it.Status = event.ItemID(s.turn, s.counts[s.turn]), event.InProgress
	s.counts[s.turn]++
	s.add(event.Event{Kind: event.SubagentStarted, Turn: s.turn, Item: it.ID, Body: &it})
	return it.ID
}

func (s *story) say(phase event.Phase, pieces ...string) {
	id := s.open(event.Item{Type: event.Message})
	for _, p := range pieces {
		s.delta(event.TextDelta, id, p)
	}
	s.done(id, event.Item{Type: event.Message, Phase: phase, Text: strings.Join(pieces, "")})
}

func (s *story) end(turn event.ID, end event.End) {
	end.Idle = s.state.Session().Open == 1
	s.add(event.Event{Kind: event.TurnEnded, Turn: turn, Body: &end})
}

// steer accepts a message for the running turn, steered has the agent take it.
func (s *story) steer(n byte, text string) *event.Input {
	id := event.TurnOf(fixedID(0x70, n))
	in := &event.Input{ID: id, Number: int64(n), Wire: "agents", Prompt: text, Items: []*event.Item{
		{ID: event.ItemID(id, 0), Type: event.Message, Status: event.Done, User: true, Text: text},
	}}
	s.add(event.Event{Kind: event.InputSteered, Turn: s.turn, Body: in})
	return in
}

func (s *story) steered(in *event.Input) {
	it := *in.Items[0]
	it.ID = event.ItemID(s.turn, s.counts[s.turn])
	s.counts[s.turn]++
	s.add(event.Event{Kind: event.InputSteered, Turn: s.turn, Body: &event.Input{ID: in.ID, Taken: true, Items: []*event.Item{&it}}})
}

// control updates the session to a budget of the caller in cents.
func (s *story) control(cents int64) {
	set := *s.state.Settings()
	set.SpendControl = spec.SpendControl{Asked: true, Limit: cents}
	b, err := stdjson.Marshal(&set)
	if err != nil {
		s.t.Fatal(err)
	}
	s.add(event.Event{Kind: event.SessionUpdated, Body: &event.Settings{JSON: b}})
}

// stopped ends a turn at a budget that then holds the session.
func (s *story) stopped(turn event.ID, b *event.Budget) {
	usage := tokens()
	usage.MicroUSD = 12_345
	s.add(event.Event{Kind: event.TurnEnded, Turn: turn, Body: &event.End{
		Outcome: event.Failed, Failure: event.Fail(event.BudgetReached, "the budget is used up"), Usage: usage,
	}})
	s.add(event.Event{Kind: event.BudgetHit, Body: b})
}

func (s *story) lifted() {
	b := *s.state.Session().Held
	b.Lifted = true
	s.add(event.Event{Kind: event.BudgetHit, Body: &b})
}

func tokens() *event.Usage { return &event.Usage{Input: 120, Cached: 100, Output: 30, Reasoning: 10} }

// stories are the turns that the wire has to tell.
var stories = map[string]func(*story){
	"plain_turn": func(s *story) {
		s.start(s.accept(1, "Say hello."))
		s.say(event.FinalAnswer, "Hel", "lo \"<world>\"\n", "bell \a, line \u2028, broken \xff.")
		s.end(s.turn, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"no_deltas": func(s *story) {
		s.start(s.accept(1, "Say nothing."))
		s.say(event.FinalAnswer)
		s.end(s.turn, event.End{Outcome: event.Completed})
	},
	"reasoning": func(s *story) {
		s.start(s.accept(1, "Think."))
		id := s.open(event.Item{Type: event.Reasoning})
		s.delta(event.ReasoningDelta, id, "First ")
		s.delta(event.ReasoningDelta, id, "this.")
		s.done(id, event.Item{Type: event.Reasoning, Text: "First this."})
		s.say(event.FinalAnswer, "Done.")
		s.end(s.turn, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"command": func(s *story) {
		zero, two := 0, 2
		s.start(s.accept(1, "List the files."))
		s.say(event.Commentary, "Looking.")
		id := s.open(event.Item{Type: event.Command, Command: "ls", Cwd: "/srv/code"})
		s.delta(event.OutputDelta, id, "a.go\n")
		s.delta(event.OutputDelta, id, "b.go\n")
		s.done(id, event.Item{Type: event.Command, Command: "ls", Cwd: "/srv/code", Output: "a.go\nb.go\n", ExitCode: &zero, Millis: 41})
		id = s.open(event.Item{Type: event.Command, Command: "false"})
		s.done(id, event.Item{Type: event.Command, Command: "false", ExitCode: &two})
		s.say(event.FinalAnswer, "Two files.")
		s.end(s.turn, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"file_change": func(s *story) {
		s.start(s.accept(1, "Write it."))
		it := event.Item{Type: event.FileChange, Server: "codex", Changes: []event.Change{{Path: "a.go", Kind: "add"}, {Path: "b.go", Kind: "update"}}}
		s.done(s.open(it), it)
		s.say(event.FinalAnswer, "Written.")
		s.end(s.turn, event.End{Outcome: event.Completed})
	},
	"mcp": func(s *story) {
		s.start(s.accept(1, "Look it up."))
		it := event.Item{Type: event.ToolCall, Server: "docs", Tool: "search", Arguments: "{\n \"id\": 9007199254740993}"}
		id := s.open(it)
		it.Output = "found"
		s.done(id, it)
		it = event.Item{Type: event.ToolCall, Server: "docs", Tool: "fetch", Arguments: "{}"}
		id = s.open(it)
		it.Status, it.Error = event.ItemFailed, "no such page"
		s.done(id, it)
		it = event.Item{Type: event.WebSearch, Query: "go sse"}
		id = s.open(event.Item{Type: event.WebSearch})
		s.done(id, it)
		it = event.Item{Type: event.WebSearch, URL: "https://go.dev"}
		s.done(s.open(it), it)
		it = event.Item{Type: event.Subagent, Server: "claude-code", Arguments: `{"task":"x"}`, Output: "y"}
		s.done(s.open(it), it)
		s.say(event.FinalAnswer, "It says so.")
		s.end(s.turn, event.End{Outcome: event.Completed})
	},
	"subagents": func(s *story) {
		s.start(s.accept(1, "Delegate."))
		s.say(event.Commentary, "I delegate.")
		one := event.Item{Type: event.Subagent, Server: "claude-code", Tool: "explorer", Arguments: `{"prompt":"Look."}`, Prompt: "Look."}
		id := s.open(one)
		s.theirs(id, event.Item{Type: event.Message, User: true, Text: "Look."})
		s.theirs(id, event.Item{Type: event.Reasoning, Text: "hm"})
		two := event.Item{Type: event.Subagent, Server: "claude-code", Prompt: "Deeper.", Parent: id}
		inner := s.call(two)
		s.theirs(inner, event.Item{Type: event.Message, User: true, Text: "Deeper."})
		s.theirs(inner, event.Item{Type: event.Command, Command: "ls", Output: "a", Status: event.ItemFailed})
		two.ID, two.Status, two.Error = inner, event.ItemFailed, "out of room"
		s.add(event.Event{Kind: event.SubagentItem, Turn: s.turn, Item: inner, Body: &two})
		s.theirs(id, event.Item{Type: event.Message, Phase: event.FinalAnswer, Text: "All there."})
		one.Output = "All there."
		s.done(id, one)
		id = s.open(event.Item{Type: event.Subagent, Server: "claude-code"})
		s.done(id, event.Item{Type: event.Subagent, Server: "claude-code", Status: event.Incomplete})
		s.say(event.FinalAnswer, "It is all there.")
		s.end(s.turn, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"failed": func(s *story) {
		s.start(s.accept(1, "Try."))
		id := s.open(event.Item{Type: event.Message})
		s.delta(event.TextDelta, id, "I was about")
		s.done(id, event.Item{Type: event.Message, Phase: event.Commentary, Text: "I was about", Status: event.Incomplete})
		id = s.open(event.Item{Type: event.Reasoning})
		s.delta(event.ReasoningDelta, id, "hm")
		s.done(id, event.Item{Type: event.Reasoning, Text: "hm", Status: event.Incomplete})
		s.end(s.turn, event.End{Outcome: event.Failed, Failure: event.Fail(event.AuthenticationError, "codex exited with status 1: not signed in")})
	},
	"cancelled": func(s *story) {
		s.start(s.accept(1, "Wait."))
		id := s.open(event.Item{Type: event.Command, Command: "sleep 99"})
		s.done(id, event.Item{Type: event.Command, Command: "sleep 99", Status: event.Incomplete})
		s.add(event.Event{Kind: event.Notice, Text: "stopped by signal"})
		s.end(s.turn, event.End{Outcome: event.Cancelled})
	},
	"environment": func(s *story) {
		of := func(status event.EnvironmentStatus, f *event.Failure) {
			s.add(event.Event{Kind: event.EnvironmentChanged, Turn: s.turn, Body: &event.Environment{
				ID: event.ID{0xe5, 15: 1}, Type: "self_hosted", Status: status, Failure: f,
			}})
		}
		s.start(s.accept(1, "One."))
		of(event.EnvironmentPending, nil)
		f := event.Fail(event.RuntimeNotInstalled, "the CLI of codex could not be installed: no npm")
		of(event.EnvironmentFailed, f)
		s.end(s.turn, event.End{Outcome: event.Failed, Failure: f})
		s.start(s.accept(2, "Two."))
		of(event.EnvironmentPending, nil)
		of(event.EnvironmentReady, nil)
		s.say(event.FinalAnswer, "2")
		s.end(s.turn, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"two_queued_inputs": func(s *story) {
		first := s.accept(1, "One.")
		s.start(first)
		second, third := s.accept(2, "Two."), s.accept(3, "Three.")
		s.say(event.FinalAnswer, "1")
		s.end(first, event.End{Outcome: event.Completed, Usage: tokens()})
		s.end(third, event.End{Outcome: event.Cancelled})
		s.start(second)
		s.say(event.FinalAnswer, "2")
		s.end(second, event.End{Outcome: event.Completed, Usage: tokens()})
		s.add(event.Event{Kind: event.TurnForgotten, Turn: second})
	},
	"steered": func(s *story) {
		first := s.accept(10, "Write it.")
		s.start(first)
		s.say(event.Commentary, "I write.")
		quick, late := s.steer(11, "And quickly."), s.steer(12, "And well.")
		s.steered(quick)
		s.say(event.FinalAnswer, "Written.")
		s.end(first, event.End{Outcome: event.Completed, Usage: tokens()})
		own := *late
		own.Waiting = true
		s.counts[own.ID] = 1
		s.add(event.Event{Kind: event.InputAccepted, Turn: own.ID, Body: &own})
		s.start(own.ID)
		s.say(event.FinalAnswer, "Better.")
		s.end(own.ID, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"function_calls": func(s *story) {
		s.start(s.accept(9, "What is it like?"))
		s.say(event.Commentary, "I ask.")
		a := s.ask(event.Item{Type: event.FunctionCall, Tool: "weather", Arguments: `{"city":"Oslo"}`})
		b := s.ask(event.Item{Type: event.FunctionCall, Tool: "time"})
		s.add(event.Event{Kind: event.TurnWaiting, Turn: s.turn})
		s.answer(a, event.Item{Type: event.FunctionOutput, Status: event.Done, Output: "rain"})
		s.answer(b, event.Item{Type: event.FunctionOutput, Status: event.ItemFailed, Error: "no clock"})
		s.goOn(1)
		s.say(event.FinalAnswer, "Rain.")
		s.end(s.turn, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"posted_items": func(s *story) { // nothing of it is in the stream
		note := event.TurnOf(fixedID(0x71, 1))
		s.add(event.Event{Kind: event.ItemsPosted, Turn: note, Body: &event.Input{Items: []*event.Item{{
			ID: event.ItemID(note, 0), Type: event.Foreign, Status: event.Done, Text: "user: earlier", Raw: stdjson.RawMessage(`{"type":"message"}`),
		}}}})
		s.start(s.accept(1, "Go on."))
		s.say(event.FinalAnswer, "On.")
		s.end(s.turn, event.End{Outcome: event.Completed})
		s.add(event.Event{Kind: event.ItemRemoved, Turn: note, Item: event.ItemID(note, 0)})
	},
	"cancelled_while_waiting": func(s *story) {
		s.start(s.accept(9, "What is it like?"))
		second := s.accept(2, "And then?")
		a := s.ask(event.Item{Type: event.FunctionCall, Tool: "weather", Arguments: `{"city":"Oslo"}`})
		s.add(event.Event{Kind: event.TurnWaiting, Turn: s.turn})
		a.Status = event.Incomplete
		s.done(a.ID, a)
		s.end(s.turn, event.End{Outcome: event.Cancelled})
		s.start(second)
		s.say(event.FinalAnswer, "Then.")
		s.end(second, event.End{Outcome: event.Completed})
	},
	"approval": func(s *story) {
		s.start(s.accept(9, "List the files."))
		q := s.ask(event.Item{Type: event.Approval, Server: "claude-code", Tool: "Bash", Arguments: `{"command":"ls"}`, Text: "May I?"})
		s.add(event.Event{Kind: event.TurnWaiting, Turn: s.turn})
		s.answer(q, event.Item{Type: event.ApprovalAnswer, Status: event.Done, Text: "not today"})
		s.goOn(1)
		s.say(event.FinalAnswer, "I may not.")
		s.end(s.turn, event.End{Outcome: event.Completed})
	},
	"resumed_after_a_crash": func(s *story) {
		s.start(s.accept(1, "Count."))
		id := s.open(event.Item{Type: event.Message})
		s.delta(event.TextDelta, id, "One, ")
		s.add(event.Event{Kind: event.Skipped, Seq: s.state.Session().Head + 12})
		s.done(id, event.Item{Type: event.Message, Phase: event.Commentary, Text: "One, ", Status: event.Incomplete})
		s.end(s.turn, event.End{Outcome: event.Failed, Failure: event.Fail(event.ServerRestarted, "the server was started anew while the turn ran; say it again")})
	},
	"incomplete": func(s *story) {
		s.start(s.accept(1, "Write a book."))
		s.say(event.Commentary, "Chapter one")
		s.end(s.turn, event.End{Outcome: event.Failed, Usage: tokens(), Failure: event.Fail(event.MaxOutputTokens, "the model stopped at its output limit")})
	},
	"forgotten": func(s *story) {
		turn := s.accept(1, "Keep nothing.")
		s.start(turn)
		s.say(event.FinalAnswer, "secret")
		s.end(turn, event.End{Outcome: event.Completed})
		s.add(event.Event{Kind: event.TurnForgotten, Turn: turn})
	},
	"silent_events": func(s *story) {
		turn := s.accept(1, "Go.")
		s.start(turn)
		s.add(event.Event{Kind: event.SessionUpdated, Body: s.events[0].Body})
		s.add(event.Event{Kind: event.Notice, Turn: turn, Text: "a retry"})
		s.add(event.Event{Kind: event.Unknown, Turn: turn, Text: "{}"})
		s.say(event.FinalAnswer, "Done.")
		s.end(turn, event.End{Outcome: event.Completed})
		s.add(event.Event{Kind: event.SessionDeleted})
	},
	"budget_of_the_caller": func(s *story) {
		s.control(1)
		first := s.accept(1, "One.")
		s.start(first)
		second := s.accept(2, "Two.")
		s.say(event.Commentary, "I was ab")
		s.stopped(first, &event.Budget{Name: "spend_control.limit", Scope: event.SessionScope, Money: true, Limit: 10_000, Used: 12_345})
		s.control(3)
		s.lifted()
		s.start(second)
		s.say(event.FinalAnswer, "2")
		s.end(second, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"budget_of_the_host": func(s *story) {
		first := s.accept(1, "One.")
		s.start(first)
		second := s.accept(2, "Two.")
		s.stopped(first, &event.Budget{Name: "limits.max_day_tokens", Scope: event.DayScope, Limit: 100, Used: 150})
		s.lifted()
		s.start(second)
		s.say(event.FinalAnswer, "2")
		s.end(second, event.End{Outcome: event.Completed, Usage: tokens()})
	},
	"several_messages": func(s *story) {
		s.start(s.accept(1, "First.", "Second.", "Third."))
		s.say(event.FinalAnswer, "All three.")
		s.end(s.turn, event.End{Outcome: event.Completed})
	},
}

func tell(t testing.TB, name string) *story {
	s := newStory(t)
	stories[name](s)
	return s
}

// frame is one parsed event of a stream.
type frame struct {
	Kind string
	Data map[string]any
	Raw  string
}

// parseStream reads a stream as the strictest SDK does, and fails the test on
// anything that breaks one of them.
func parseStream(t testing.TB, b []byte) []frame {
	t.Helper()
	var out []frame
	if len(b) > 0 && !bytes.HasSuffix(b, []byte("\n\n")) {
		t.Fatalf("the stream's last block is not closed: %q", b[max(0, len(b)-80):])
	}
	for _, block := range strings.Split(strings.TrimSuffix(string(b), "\n\n"), "\n\n") {
		if block == "" {
			continue
		}
		lines := strings.Split(block, "\n")
		kind, okKind := "", false
		if len(lines) == 2 {
			kind, okKind = strings.CutPrefix(lines[0], "event: ")
		}
		if !okKind || !strings.HasPrefix(lines[1], "data: ") || strings.ContainsRune(block, '\r') {
			t.Fatalf("a frame is one event line and one data line, got %q", block)
		}
		f := frame{Kind: kind, Raw: block + "\n\n"}
		if err := stdjson.Unmarshal([]byte(lines[1][len("data: "):]), &f.Data); err != nil {
			t.Fatalf("%v in %q", err, block)
		}
		if f.Data["type"] != kind {
			t.Fatalf("event line %q, type %q", kind, f.Data["type"])
		}
		out = append(out, f)
	}
	return out
}

func (f frame) str(name string) string { s, _ := f.Data[name].(string); return s }

func (f frame) object(name string) map[string]any { m, _ := f.Data[name].(map[string]any); return m }

// checkOrder holds a stream that starts at its session's beginning against the
// wire's rules of order and identity.
func checkOrder(t testing.TB, frames []frame) {
	t.Helper()
	type item struct {
		texts string
		done  bool
	}
	seen := map[string]bool{}
	turns := map[string]string{} // id -> status
	items := map[string]*item{}
	subagents := map[string]string{} // id -> the last word about it
	status := "idle"
	budget := false // the newest turn ended at one
	fail := func(f frame, format string, a ...any) {
		t.Errorf("%s: %s\n  %s", f.str("event_id"), fmt.Sprintf(format, a...), f.Raw)
	}
	for _, f := range frames {
		if id := f.str("event_id"); id == "" || seen[id] {
			fail(f, "event_id empty or repeated")
		}
		seen[f.str("event_id")] = true
		short := strings.TrimPrefix(f.Kind, "agent.session.")
		if s := f.object("session"); s != nil {
			status, _ = s["status"].(string)
			if want := map[string]string{"created": "idle", "in_progress": "in_progress", "idle": "idle", "requires_action": "requires_action", "budget_reached": "budget_reached"}[short]; status != want {
				fail(f, "session status %q, want %q", status, want)
			}
			if short == "idle" || short == "budget_reached" { // held turns stay queued
				for id, st := range turns {
					if st == "queued" && !budget || st == "in_progress" {
						fail(f, "idle while %s is %s", id, st)
					}
				}
			}
			continue
		}
		if sub := f.object("subagent"); sub != nil {
			id, _ := sub["id"].(string)
			if was, is := subagents[id], strings.TrimPrefix(short, "subagent."); was != map[string]string{"created": "", "closed": "created"}[is] {
				fail(f, "subagent %s goes from %q to %q", id, was, is)
			} else {
				subagents[id] = is
			}
			if want := map[string]string{"created": "active", "closed": "closed"}[subagents[id]]; sub["status"] != want {
				fail(f, "subagent status %v, want %s", sub["status"], want)
			}
			continue
		}
		turn := f.str("turn_id")
		if tu := f.object("turn"); tu != nil {
			if tu["id"] != turn {
				fail(f, "turn_id %q, turn.id %q", turn, tu["id"])
			}
			if _, ok := tu["subagent_id"]; !ok || tu["subagent_id"] != nil {
				fail(f, "subagent_id must be there and null")
			}
			was, is := turns[turn], strings.TrimPrefix(short, "turn.")
			if is == "created" {
				is = "queued"
			}
			if tu["status"] != is {
				fail(f, "turn status %q", tu["status"])
			}
			if (is == "queued") != (was == "") || was == "completed" || was == "failed" || was == "cancelled" {
				fail(f, "turn goes from %q to %q", was, is)
			}
			if is == "queued" && status != "in_progress" && status != "requires_action" {
				fail(f, "turn created while the session is %s", status)
			}
			turns[turn] = is
			if e, _ := tu["error"].(map[string]any); is != "queued" {
				budget = e["code"] == "session_budget_exceeded"
			}
			continue
		}
		if turns[turn] == "" {
			fail(f, "no turn.created before")
		}
		if e := f.object("environment"); e != nil {
			if e["status"] != strings.TrimPrefix(short, "environment.") || (e["error"] != nil) != (e["status"] == "failed") {
				fail(f, "environment status %v, error %v", e["status"], e["error"])
			}
			if turns[turn] != "in_progress" {
				fail(f, "environment of a turn that is %s", turns[turn])
			}
			continue
		}
		id := f.str("item_id")
		if it := f.object("item"); it != nil {
			id, _ = it["id"].(string)
			if it["turn_id"] != turn {
				fail(f, "item.turn_id differs")
			}
		}
		switch {
		case strings.HasSuffix(f.Kind, "item.added"):
			if items[id] != nil {
				fail(f, "item added twice")
			}
			items[id] = &item{done: f.Data["output_index"] == nil}
		case items[id] == nil || items[id].done:
			fail(f, "item is not open")
		case strings.HasSuffix(f.Kind, ".delta"):
			items[id].texts += f.str("delta")
		case strings.HasSuffix(f.Kind, "text.done"):
			if f.str("text") != items[id].texts {
				fail(f, "text %q, deltas %q", f.str("text"), items[id].texts)
			}
		case strings.HasSuffix(f.Kind, "item.done"):
			items[id].done = true
		}
	}
	for id, was := range subagents {
		if was != "closed" {
			t.Errorf("subagent %s was never closed", id)
		}
	}
	for id, it := range items {
		if !it.done {
			t.Errorf("item %s was never done", id)
		}
	}
}
