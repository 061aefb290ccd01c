package turn

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// run is a running turn.
func run(c Config) *Turn {
	t := New(c)
	for _, in := range []Input{Start{}, Prepared{}, Spawned{Pid: 1}} {
		t.Step(in, 0)
	}
	return t
}

// ended is the End among a Step's effects.
func ended(t *testing.T, effects []Effect) *event.End {
	t.Helper()
	for _, e := range effects {
		if e, ok := e.(Emit); ok {
			for _, ev := range e.Events {
				if end, ok := ev.Body.(*event.End); ok {
					return end
				}
			}
		}
	}
	t.Fatal("the turn did not end")
	return nil
}

func TestCrashShowsTheEndOfStderrInWholeCharacters(t *testing.T) {
	t.Parallel()
	turn := run(Config{Adapter: "codex"})
	stderr := strings.Repeat("日", 3000) + "panic: out of cheese"
	end := ended(t, turn.Step(Exited{Exit: agent.Exit{Code: 134, Stderr: stderr}}, 5))
	head, tail, ok := strings.Cut(end.Failure.Message, "\n")
	if !ok || !strings.Contains(head, "exit status 134") || !strings.Contains(head, "codex") {
		t.Errorf("message starts %q", head)
	}
	if n := utf8.RuneCountInString(tail); n != stderrTail || !strings.HasSuffix(tail, "out of cheese") || !utf8.ValidString(tail) {
		t.Errorf("tail has %d characters: %.20q", n, tail)
	}
}

func TestFailureOfTheHostIsNotChanged(t *testing.T) {
	t.Parallel()
	f := event.Fail(event.ServerStopped, "drained")
	turn := run(Config{})
	turn.Step(Stop{Failure: f}, 1)
	end := ended(t, turn.Step(Exited{Exit: agent.Exit{Code: 1, Stderr: "noise"}}, 2))
	if end.Failure != f || f.Message != "drained" {
		t.Errorf("failure is %v", end.Failure)
	}
}

func TestDescribedToolIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for _, typ := range []event.ItemType{event.Command, event.ToolCall, event.WebSearch, event.FileChange, event.Subagent} {
		it := &item{body: event.Item{Type: typ, Command: strings.Repeat("日", 300)}}
		if s := it.describe(); s == "" || !utf8.ValidString(s) || len(s) > 250 {
			t.Errorf("type %d: %q", typ, s)
		}
	}
}

func TestTimersHaveNames(t *testing.T) {
	t.Parallel()
	for timer := range timers {
		if timer.String() == "unknown" {
			t.Errorf("timer %d has no name", timer)
		}
	}
	if timers.String() != "unknown" {
		t.Error("a timer that is none has a name")
	}
}

// deltas is one read's facts, all pieces of one open message.
func deltas() Output {
	facts := make([]agent.Fact, 64)
	for i := range facts {
		facts[i] = agent.Fact{Kind: agent.FactText, Key: "m", Text: "some words "}
	}
	return Output{Facts: facts}
}

func TestPieceOfAnOpenItemHardlyAllocates(t *testing.T) {
	turn := run(Config{MaxItemBytes: 2 << 20})
	in := deltas()
	turn.Step(in, 1)
	perStep := testing.AllocsPerRun(500, func() { turn.Step(in, 2) })
	if perFact := perStep / float64(len(in.Facts)); perFact >= 0.1 {
		t.Errorf("%.3f allocations a fact", perFact)
	}
}

func BenchmarkTextDelta(b *testing.B) {
	turn := run(Config{MaxItemBytes: 2 << 20})
	in := deltas()
	b.ReportAllocs()
	for b.Loop() {
		turn.Step(in, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(in.Facts)), "ns/fact")
}

// The ids of legs are few; a CLI that calls without end is ended before they run out.
func TestLegsAreBounded(t *testing.T) {
	t.Parallel()
	id := event.ID{1}
	turn, j := New(Config{Turn: id}), newJudge(id)
	turn.legs, j.wait.legs = event.MaxLegs, event.MaxLegs
	var last []Effect
	for _, in := range []Input{
		Start{}, Prepared{}, Spawned{}, Called{Call: 1, Item: &event.Item{Type: event.FunctionCall, Tool: "a"}}, Elapsed{CallTimer},
		Exited{}, Gone{},
	} {
		j.input(in)
		last = turn.Step(in, 0)
		if err := j.effects(last); err != nil {
			t.Fatalf("%#v: %v", in, err)
		}
	}
	if j.ended == nil || j.ended.Failure == nil || j.ended.Failure.Code != event.TurnLimit {
		t.Errorf("ended as %+v, last %v", j.ended, last)
	}
}
