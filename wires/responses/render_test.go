package responses_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/fold/foldtest"
	"github.com/agenthost/agenthost/wires/responses"
	"github.com/agenthost/agenthost/wires/responses/responsestest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	turnOne = event.ID{0x10, 15: 0}
	turnTwo = event.ID{0x20, 15: 0}
)

const echoOfMany = `{"model":"my-agent","instructions":"be brief","metadata":{"ticket":"7"},"previous_response_id":"resp_1",` +
	`"temperature":0.2,"top_p":1,"top_logprobs":3,"max_output_tokens":100,"max_tool_calls":4,"parallel_tool_calls":false,` +
	`"tool_choice":"none","format":{"type":"json_schema","name":"n","schema":{}},"verbosity":"low","effort":"high","summary":"auto",` +
	`"service_tier":"auto","truncation":"auto","safety_identifier":"s","prompt_cache_key":"k","prompt_cache_retention":"24h","user":"u"}`

// stories are turns whose frames a person has read: testdata/<name>.golden.
var stories = []struct {
	name string
	tell func(h *history)
}{
	{"plain_turn", func(h *history) {
		h.input(turnOne, event.Input{}).start().message(event.FinalAnswer, "Hel", "lo.").completed()
	}},
	{"waiting_turn", func(h *history) {
		h.input(turnOne, event.Input{Waiting: true}).start().message(event.FinalAnswer, "ok").completed()
	}},
	{"all_items", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		h.on(turnOne, event.NativeSession)
		h.reasoning("Let me ", "look.")
		h.message(event.Commentary, "I will run ls.")
		h.tool(event.Item{Type: event.Command, Command: "ls && pwd", Cwd: "/w", Server: "codex"}, func(it *event.Item) {
			it.Output, it.ExitCode, it.Millis = "a\nb\n", ptr(0), 12
		})
		h.tool(event.Item{Type: event.ToolCall, Server: "docs", Tool: "find", Arguments: `{"q":9007199254740993}`}, func(it *event.Item) {
			it.Output = "found <it>"
		})
		h.tool(event.Item{Type: event.FileChange, Server: "codex", Changes: []event.Change{{Path: "a.go", Kind: "add"}, {Path: "b \"x\".go", Kind: "delete"}}}, func(*event.Item) {})
		h.tool(event.Item{Type: event.WebSearch, Query: "weather"}, func(*event.Item) {})
		h.tool(event.Item{Type: event.WebSearch, URL: "https://example.org/"}, func(*event.Item) {})
		h.tool(event.Item{Type: event.Subagent, Server: "codex", Arguments: `{"task":"t"}`}, func(it *event.Item) { it.Output = "done" })
		h.add(event.Event{Kind: event.Notice, Turn: turnOne, Text: "a retry"})
		h.add(event.Event{Kind: event.Unknown, Turn: turnOne, Text: "{}"})
		h.message(event.FinalAnswer, "Two files.").completed()
	}},
	{"failed_tools", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		h.tool(event.Item{Type: event.Command, Command: "false", Server: "codex"}, func(it *event.Item) { it.Output, it.ExitCode = "no such file", ptr(2) })
		h.tool(event.Item{Type: event.Command, Command: "true", Server: "codex"}, func(it *event.Item) { it.Status, it.ExitCode = event.ItemFailed, ptr(1) })
		h.tool(event.Item{Type: event.ToolCall, Tool: "t", Server: "docs"}, func(it *event.Item) { it.Status, it.Error = event.ItemFailed, "no access" })
		h.tool(event.Item{Type: event.ToolCall}, func(it *event.Item) { it.Status = event.ItemFailed })
		h.tool(event.Item{Type: event.Command, Command: "sleep 9", Server: "codex"}, func(it *event.Item) { it.Status, it.Output = event.Incomplete, "half" })
		h.message(event.FinalAnswer, "It failed.").completed()
	}},
	{"failed_turn", func(h *history) {
		h.input(turnOne, event.Input{}).start().message(event.Commentary, "I try.")
		h.end(event.End{
			Outcome: event.Failed, FirstByte: 1_700_000_000_900, Exit: "exit code 3",
			Failure: event.FailParam(event.CLICrashed, "model", "codex ended with exit code 3: boom"),
		})
	}},
	{"failed_before_start", func(h *history) {
		h.input(turnOne, event.Input{})
		h.end(event.End{Outcome: event.Failed})
	}},
	{"rate_limited", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		h.end(event.End{Outcome: event.Failed, Failure: event.Fail(event.RateLimited, "slow down")})
	}},
	{"incomplete_by_tokens", func(h *history) {
		h.input(turnOne, event.Input{}).start().message(event.Commentary, "half an ans")
		h.end(event.End{Outcome: event.Failed, Failure: event.Fail(event.MaxOutputTokens, "limit")})
	}},
	{"incomplete_by_turns", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		h.end(event.End{Outcome: event.Failed, Failure: event.Fail(event.TurnLimit, "limit")})
	}},
	{"cancelled_queued", func(h *history) {
		h.input(turnOne, event.Input{Waiting: true}).end(event.End{Outcome: event.Cancelled})
	}},
	{"cancelled_running", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		think := h.open(event.Item{Type: event.Reasoning})
		h.delta(event.ReasoningDelta, think, "hm")
		h.close(think, event.Item{Type: event.Reasoning, Text: "hm", Status: event.Incomplete})
		msg := h.open(event.Item{Type: event.Message})
		h.delta(event.TextDelta, msg, "I was ")
		h.close(msg, event.Item{Type: event.Message, Text: "I was ", Status: event.Incomplete, Phase: event.Commentary})
		h.end(event.End{Outcome: event.Cancelled, Usage: &event.Usage{Input: 5}})
	}},
	{"empty_answer", func(h *history) {
		h.input(turnOne, event.Input{}).start().message(event.FinalAnswer).end(event.End{Outcome: event.Completed})
	}},
	{"odd_characters", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		h.message(event.FinalAnswer, "äö €", "\u2028\u2029 \x00\x1b[31m\t\r\n", "<b>&\"\\\x7f 🙂", "\uFFFD").completed()
	}},
	{"not_stored", func(h *history) {
		h.input(turnOne, event.Input{Forget: true}).start().message(event.FinalAnswer, "secret").completed().on(turnOne, event.TurnForgotten)
	}},
	{"echo", func(h *history) {
		h.input(turnOne, event.Input{Background: true, Echo: []byte(echoOfMany)}).start().message(event.FinalAnswer, "ok").completed()
	}},
	{"function_calls", func(h *history) {
		h.input(turnOne, event.Input{}).start().message(event.Commentary, "I need two facts.")
		h.tool(event.Item{Type: event.Command, Command: "ls", Server: "codex"}, func(it *event.Item) { it.ExitCode = ptr(0) })
		a := h.ask(event.Item{Type: event.FunctionCall, Tool: "weather", Arguments: `{"city":"Oslo"}`})
		b := h.ask(event.Item{Type: event.FunctionCall, Tool: "time"})
		h.add(event.Event{Kind: event.TurnWaiting, Turn: turnOne, Body: &event.Pause{Usage: &event.Usage{Input: 900, Cached: 400, Output: 60, Reasoning: 20}}})
		answers := []event.ID{
			h.answer(a, event.Item{Type: event.FunctionOutput, Output: "rain <3"}),
			h.answer(b, event.Item{Type: event.FunctionOutput, Parts: []event.Part{{Text: "noon"}, {ImageURL: "data:image/png;base64,AA=="}}}),
		}
		h.goOn(event.Leg{Number: 1, Wire: "responses", Echo: []byte(`{"model":"codex","previous_response_id":"resp_1"}`), Answers: answers})
		h.message(event.FinalAnswer, "Rain at noon.").end(event.End{
			Outcome: event.Completed, Usage: &event.Usage{Input: 2000, Cached: 1300, Output: 75, Reasoning: 20},
		})
	}},
	{"approval", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		q := h.ask(event.Item{Type: event.Approval, Server: "claude-code", Tool: "Bash", Arguments: `{"command":"ls"}`, Text: "May I?"})
		h.on(turnOne, event.TurnWaiting)
		h.goOn(event.Leg{Number: 1, Wire: "responses", Echo: []byte(`{"model":"codex"}`), Answers: []event.ID{
			h.answer(q, event.Item{Type: event.ApprovalAnswer, Text: "not today"}),
		}})
		h.message(event.FinalAnswer, "I may not.").completed()
	}},
	{"ended_while_waiting", func(h *history) {
		h.input(turnOne, event.Input{}).start()
		a := h.ask(event.Item{Type: event.FunctionCall, Tool: "weather"})
		h.on(turnOne, event.TurnWaiting)
		h.close(a.ID, event.Item{Type: event.FunctionCall, Tool: "weather", Status: event.Incomplete})
		h.end(event.End{Outcome: event.Failed, Failure: event.Fail(event.ServerRestarted, "restarted")})
	}},
	{"silent_events", func(h *history) {
		settings := h.events[0].Body
		h.input(turnOne, event.Input{}).start()
		h.add(event.Event{Kind: event.SessionUpdated, Body: settings})
		h.on(turnOne, event.NativeSession)
		h.message(event.FinalAnswer, "ok").completed()
		h.add(event.Event{Kind: event.SessionDeleted})
	}},
	{"asked_on_the_other_wire", func(h *history) {
		h.input(turnOne, event.Input{Wire: "agents", Overrides: []byte(`{"model":"other"}`)}).start().message(event.FinalAnswer, "ok").completed()
	}},
}

// golden is the events, each followed by its frames.
func golden(h *history) []byte {
	var b bytes.Buffer
	for _, batch := range h.batches() {
		f := batch.Rendered(fold.ResponsesWire, responses.Render)
		for i := range batch.Events {
			line, err := json.Marshal(&batch.Events[i])
			if err != nil {
				h.t.Fatal(err)
			}
			fmt.Fprintf(&b, "> %s\n\n%s", line, f.Of(i))
		}
	}
	return b.Bytes()
}

func TestFramesOfStories(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			s.tell(h)
			compareGolden(t, s.name, golden(h))
		})
	}
}

// judge checks a whole stream and that it ends with what a retrieve shows.
func judge(t testing.TB, stream []byte, turn *fold.Turn) []responsestest.Frame {
	t.Helper()
	frames, err := responsestest.Parse(stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := responsestest.Check(frames); err != nil {
		t.Fatal(err)
	}
	last := frames[len(frames)-1]
	object := responses.Encode(responses.Of(turn))
	if !bytes.Contains(last.Raw, append([]byte(`"response":`), object...)) {
		t.Fatalf("the stream ends with\n%s\na retrieve shows\n%s", last.Raw, object)
	}
	return frames
}

//cases:62
func TestStreamsKeepTheOrderThatClientsNeed(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			s.tell(h)
			for leg := range h.legs(turnOne) {
				part, ok := h.view(turnOne).Part(leg)
				if !ok {
					t.Fatalf("no leg %d", leg)
				}
				judge(t, h.streamLeg(turnOne, leg), part)
			}
		})
	}
}

func TestEveryEventHasAsManyFramesAsSteps(t *testing.T) {
	t.Parallel()
	seen := map[event.Kind]bool{}
	items := map[event.ItemType]bool{}
	check := func(h *history) {
		for _, b := range h.batches() {
			f := b.Rendered(fold.ResponsesWire, responses.Render)
			for i := range b.Events {
				ev := &b.Events[i]
				seen[ev.Kind] = true
				if it, ok := ev.Body.(*event.Item); ok {
					items[it.Type] = true
				}
				frames, err := responsestest.Parse(f.Of(i))
				if err != nil {
					t.Fatal(err)
				}
				want := int(fold.Steps(ev))
				if v := b.View(i); v != nil && v.Turn != nil {
					if _, asked := v.Turn.Part(ev.Leg); !asked {
						want = 0 // nobody asked for what comes after the last leg
					}
				}
				if len(frames) != want {
					t.Errorf("%s has %d frames, %d steps", ev.Kind, len(frames), want)
				}
				for k, fr := range frames {
					if fr.Seq != int64(ev.Step)+int64(k) {
						t.Errorf("frame %d of event %d at step %d has number %d", k, ev.Seq, ev.Step, fr.Seq)
					}
				}
			}
		}
	}
	for _, s := range stories {
		h := newHistory(t)
		s.tell(h)
		check(h)
	}
	h := newHistory(t)
	settings := h.events[0].Body
	h.add(event.Event{Kind: event.SessionUpdated, Body: settings})
	h.input(turnOne, event.Input{}).start()
	h.tool(event.Item{Type: 99, Tool: "of a newer writer"}, func(*event.Item) {})
	call := h.open(event.Item{Type: event.Subagent, Prompt: "dig"})
	for _, kind := range []event.Kind{event.SubagentStarted, event.SubagentItem} {
		id := event.ItemID(turnOne, 1000)
		h.add(event.Event{Kind: kind, Turn: turnOne, Item: id, Body: &event.Item{ID: id, Type: event.Subagent, Parent: call, Prompt: "dig deeper", Output: "a secret"}})
	}
	h.close(call, event.Item{Type: event.Subagent, Prompt: "dig"})
	h.add(event.Event{Kind: event.EnvironmentChanged, Turn: turnOne, Body: &event.Environment{Status: event.EnvironmentReady}})
	h.message(event.FinalAnswer, "x").completed()
	h.add(event.Event{Kind: event.Skipped, Seq: 1000})
	h.add(event.Event{Kind: event.ItemsPosted, Turn: event.ID{7}, Body: &event.Input{Items: []*event.Item{{ID: event.ItemID(event.ID{7}, 0), Type: event.Foreign}}}})
	h.add(event.Event{Kind: event.ItemRemoved, Turn: event.ID{7}, Item: event.ItemID(event.ID{7}, 0)})
	h.add(event.Event{Kind: event.BudgetHit, Body: &event.Budget{Name: "limits.max_day_usd", Scope: event.DayScope, Money: true, Limit: 1, Used: 1}})
	h.input(turnTwo, event.Input{}).start()
	for _, in := range []event.Input{{ID: event.ID{9}}, {ID: event.ID{9}, Taken: true, Items: []*event.Item{{ID: event.ItemID(turnTwo, 5), Type: event.Message, User: true, Text: "and quickly"}}}} {
		h.add(event.Event{Kind: event.InputSteered, Turn: turnTwo, Body: &in})
	}
	h.message(event.FinalAnswer, "x").completed()
	h.add(event.Event{Kind: event.SessionDeleted})
	check(h)
	for _, k := range event.Kinds() {
		if !seen[k] {
			t.Errorf("no sample of %s", k)
		}
	}
	for it := event.Message; it <= event.ApprovalAnswer; it++ {
		if !items[it] {
			t.Errorf("no sample of item type %d", it)
		}
	}
}

// A crash of the machine took events that readers may have seen: the numbers they
// could have had are passed over.
func TestGoldenOfACrash(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start()
	msg := h.open(event.Item{Type: event.Message})
	h.delta(event.TextDelta, msg, "One, ")
	h.add(event.Event{Kind: event.Skipped, Seq: h.state.Session().Head + 3})
	h.close(msg, event.Item{Type: event.Message, Text: "One, ", Phase: event.Commentary, Status: event.Incomplete})
	h.end(event.End{Outcome: event.Failed, Failure: event.Fail(event.ServerRestarted, "the server was started anew while the turn ran; say it again")})
	compareGolden(t, "resumed_after_a_crash", golden(h))
}

// A stream that goes on behind a number.
func TestGoldenOfAResumedStream(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start().message(event.FinalAnswer, "Hel", "lo.").completed()
	next := responses.Reading(foldtest.Read(h.batches(2, 3)), turnOne, 0, h.view(turnOne).First-1, 2)
	got := []byte("starting_after=2\n\n")
	for {
		frames, wake, done, err := next()
		if err != nil || wake != nil {
			t.Fatalf("no end: %v", err)
		}
		if got = append(got, frames...); done {
			break
		}
	}
	compareGolden(t, "resumed_stream", got)
}

// compareGolden holds frames against testdata/NAME.golden.
func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("frames differ from %s (run with -update and read the change):\n%s", path, got)
	}
}

func TestTwoTurnsOfASessionAreNumberedApart(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start()
	msg := h.open(event.Item{Type: event.Message})
	h.delta(event.TextDelta, msg, "one")
	h.add(event.Event{Kind: event.InputAccepted, Turn: turnTwo, Body: &event.Input{
		Waiting: true, Echo: []byte(`{}`), Items: []*event.Item{{ID: event.ItemID(turnTwo, 0), Type: event.Message, User: true, Text: "b"}},
	}})
	h.close(msg, event.Item{Type: event.Message, Text: "one", Phase: event.FinalAnswer})
	h.completed()
	h.turn, h.items = turnTwo, 1
	h.start().message(event.FinalAnswer, "two").completed()
	for turn, want := range map[event.ID]string{turnOne: "one", turnTwo: "two"} {
		frames := judge(t, h.stream(turn), h.view(turn))
		if last := string(frames[len(frames)-1].Raw); !strings.Contains(last, `"text":"`+want+`"`) {
			t.Errorf("turn %s ends with %s", turn, last)
		}
	}
}

// longestLine is that of the turn's stream.
func longestLine(stream []byte) int {
	longest := 0
	for line := range bytes.Lines(stream) {
		longest = max(longest, len(line))
	}
	return longest
}

func TestObjectBelowTheLineLimitKeepsTheNewestItems(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start()
	for range 6 {
		h.message(event.Commentary, strings.Repeat("x", 2<<20))
	}
	h.message(event.FinalAnswer, "the end").completed()
	r := responses.Of(h.view(turnOne))
	if len(r.Output) != 4 || r.Metadata["agenthost.output_trimmed"] != "3 of 7 items left out" || !strings.Contains(string(r.Output[3]), "the end") {
		t.Errorf("%d items kept, metadata %v", len(r.Output), r.Metadata)
	}
	if n := longestLine(h.stream(turnOne)); n > 8<<20 || n < 6<<20 {
		t.Errorf("a line of %d bytes", n)
	}
}

func TestAnswerThatIsAllEscapesIsCutRatherThanDropped(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start().message(event.FinalAnswer, strings.Repeat("\x01", 2<<20)).completed()
	r := responses.Of(h.view(turnOne))
	if n := len(responses.Encode(r)); n > 8<<20 || len(r.Output) != 1 || r.Metadata["agenthost.output_trimmed"] == "" {
		t.Errorf("%d bytes, %d items, %v", n, len(r.Output), r.Metadata)
	}
}

func TestBinaryToolOutputStaysBelowTheLineLimit(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start()
	h.tool(event.Item{Type: event.Command, Command: "cat zero", Server: "codex"}, func(it *event.Item) {
		it.Output, it.ExitCode = strings.Repeat("\x00", 2<<20), ptr(1)
	})
	h.message(event.FinalAnswer, "ok").completed()
	stream := h.stream(turnOne)
	if n := longestLine(stream); n > 8<<20 {
		t.Errorf("a line of %d bytes", n)
	}
	if !bytes.Contains(stream, []byte("bytes dropped]")) {
		t.Error("the cut is not named")
	}
}

func TestRunningTurnShowsWhatItHasSoFar(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.input(turnOne, event.Input{}).start()
	h.delta(event.TextDelta, h.open(event.Item{Type: event.Message}), "so far")
	h.open(event.Item{Type: event.Message})
	h.open(event.Item{Type: event.Reasoning})
	h.delta(event.OutputDelta, h.open(event.Item{Type: event.Command, Command: "ls", Server: "codex"}), "a")
	h.open(event.Item{Type: event.ToolCall, Server: "docs", Tool: "t"})
	turn, ok := h.state.Turn(turnOne)
	if !ok {
		t.Fatal("no turn")
	}
	r := responses.Of(turn)
	var got []string
	for _, o := range r.Output {
		got = append(got, string(o))
	}
	id := func(n uint32) string { return event.ItemID(turnOne, n).With(event.PrefixItem) }
	want := []string{
		`{"id":"` + id(1) + `","type":"message","status":"in_progress","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"so far"}]}`,
		`{"id":"` + id(2) + `","type":"message","status":"in_progress","role":"assistant","content":[]}`,
		`{"id":"` + id(3) + `","type":"reasoning","status":"in_progress","summary":[]}`,
		`{"id":"` + id(4) + `","type":"mcp_call","status":"in_progress","approval_request_id":null,"arguments":"{\"command\":\"ls\"}","error":null,"name":"command_execution","output":"a","server_label":"codex"}`,
		`{"id":"` + id(5) + `","type":"mcp_call","status":"in_progress","approval_request_id":null,"arguments":"{}","error":null,"name":"t","output":null,"server_label":"docs"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Status != "in_progress" || r.Usage != nil || r.CompletedAt != nil {
		t.Errorf("%+v", r)
	}
}
