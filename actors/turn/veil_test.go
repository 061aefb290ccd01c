package turn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"pgregory.net/rapid"
)

const hush = "SECRET"

// hushes is a veil over one word.
type hushes struct{}

func (hushes) String(s string) string  { return strings.ReplaceAll(s, hush, "***") }
func (v hushes) Known(s string) string { return v.String(s) }
func (hushes) Stream() Stream          { return new(hushing) }

type hushing struct{ held string }

func (h *hushing) Write(piece string) string {
	text := hushes{}.String(h.held + piece)
	for n := min(len(hush)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, hush[:n]) {
			h.held = text[len(text)-n:]
			return text[:len(text)-n]
		}
	}
	h.held = ""
	return text
}

func (h *hushing) Flush() string {
	held := h.held
	h.held = ""
	return held
}

// told collects what a turn says: of each item its deltas joined, and its end.
type told struct {
	deltas map[event.ID]string
	done   []*event.Item
	end    *event.End
	all    []event.Event
}

func (d *told) take(effects []Effect) {
	for _, e := range effects {
		e, ok := e.(Emit)
		if !ok {
			continue
		}
		for _, ev := range e.Events {
			d.all = append(d.all, ev)
			switch ev.Kind {
			case event.TextDelta, event.ReasoningDelta, event.OutputDelta:
				d.deltas[ev.Item] += ev.Text
			case event.ItemDone, event.SubagentItem:
				d.done = append(d.done, ev.Body.(*event.Item))
			case event.TurnEnded:
				d.end = ev.Body.(*event.End)
			}
		}
	}
}

func veiledRun(c Config) *Turn {
	t := New(c)
	for _, in := range []Input{Start{}, Prepared{Veil: hushes{}}, Spawned{Pid: 1}} {
		t.Step(in, 0)
	}
	return t
}

// In whatever pieces a secret comes, in what kind of item and however that ends: it
// is not told, all else is, and an item's deltas are its text.
func TestSecretInPiecesIsNotTold(t *testing.T) {
	t.Parallel()
	kinds := map[string]agent.FactKind{"text": agent.FactText, "reasoning": agent.FactReasoning, "output": agent.FactOutput}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{hush, "SEC", "RET", "S", "é", "words ", "\n"}), 1, 12).Draw(rt, "text"), "")
		kind := rapid.SampledFrom([]string{"text", "reasoning", "output"}).Draw(rt, "kind")
		ends := rapid.SampledFrom([]string{"done", "said", "exit", "cancel", "verdict", "next"}).Draw(rt, "ends")
		theirs := rapid.Bool().Draw(rt, "subagent")
		limit := rapid.SampledFrom([]int{0, 0, 8}).Draw(rt, "limit")
		turn, got := veiledRun(Config{MaxItemBytes: limit}), &told{deltas: map[event.ID]string{}}
		step := func(in Input) { got.take(turn.Step(in, 1)) }
		fact := func(f agent.Fact) {
			if f.Key == "k" && theirs {
				f.Parent = "sub"
			}
			step(Output{Facts: []agent.Fact{f}})
		}
		if theirs {
			fact(agent.Fact{Kind: agent.FactStart, Key: "sub", Item: &event.Item{Type: event.Subagent, Tool: "x"}})
		}
		of := event.Message
		switch kind {
		case "reasoning":
			of = event.Reasoning
		case "output":
			of = event.Command
			fact(agent.Fact{Kind: agent.FactStart, Key: "k", Item: &event.Item{Type: of, Command: "echo " + hush}})
		}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "piece")
			n = max(splitAt(rest, n), 1)
			for n < len(rest) && splitAt(rest, n) != n {
				n++
			}
			fact(agent.Fact{Kind: kinds[kind], Key: "k", Text: rest[:n]})
			rest = rest[n:]
		}
		switch ends {
		case "done":
			fact(agent.Fact{Kind: agent.FactDone, Key: "k", Item: &event.Item{Type: of}})
		case "said":
			it := &event.Item{Type: of, Text: text}
			if kind == "output" {
				it = &event.Item{Type: of, Error: hush}
			}
			fact(agent.Fact{Kind: agent.FactDone, Key: "k", Item: it})
		case "cancel":
			step(Cancel{})
		case "verdict":
			step(Output{Facts: []agent.Fact{{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: event.Fail(event.CLICrashed, hush)}}}})
		case "next":
			fact(agent.Fact{Kind: agent.FactText, Key: "other", Text: "next"})
		}
		step(Exited{Exit: agent.Exit{Code: 0}})
		var said strings.Builder
		for _, it := range got.done {
			if it.Type != of || it.Text == "next" {
				continue
			}
			body := it.Text + it.Output
			if d, streamed := got.deltas[it.ID]; streamed && d != body && (kind != "output" || limit == 0) {
				rt.Fatalf("the deltas are %q, the item %q", d, body)
			}
			said.WriteString(body)
		}
		want := hushes{}.String(text)
		if kind == "output" && limit > 0 {
			want = said.String() // it is cut, and says so
		}
		if said.String() != want {
			rt.Fatalf("%q was told as %q, want %q", text, said.String(), want)
		}
		if all := fmt.Sprintf("%+v", dumped(got.all)); strings.Contains(all, hush) {
			rt.Fatalf("%q is told: %s", text, all)
		}
	})
}

func dumped(events []event.Event) (out []string) {
	for _, e := range events {
		out = append(out, fmt.Sprintf("%v %s %+v", e.Kind, e.Text, e.Body))
		if end, ok := e.Body.(*event.End); ok && end.Failure != nil {
			out = append(out, end.Failure.Message)
		}
	}
	return out
}

func TestVerdictCallsAndNoticesAreVeiled(t *testing.T) {
	t.Parallel()
	turn, got := veiledRun(Config{}), &told{deltas: map[event.ID]string{}}
	got.take(turn.Step(Output{Facts: []agent.Fact{
		{Kind: agent.FactNotice, Text: "note " + hush}, {Kind: agent.FactUnknown, Text: "{" + hush},
		{Kind: agent.FactDone, Key: "f", Item: &event.Item{Type: event.FileChange, Changes: []event.Change{{Path: hush}}}},
		{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Completed, Text: "it is " + hush}},
	}}, 1))
	all := fmt.Sprint(dumped(got.all))
	if strings.Contains(all, hush) || strings.Count(all, "***") < 3 || len(got.done) != 2 || got.done[0].Changes[0].Path != "***" {
		t.Error(all)
	}
	turn = veiledRun(Config{Gather: 1})
	turn.Step(Called{Call: 1, Item: &event.Item{Type: event.FunctionCall, Tool: "f", Arguments: `{"a":"` + hush + `"}`}}, 1)
	got.all = nil
	got.take(turn.Step(Elapsed{Timer: CallTimer}, 5))
	if all := fmt.Sprint(dumped(got.all)); strings.Contains(all, hush) || !strings.Contains(all, "***") {
		t.Error(all)
	}
}
