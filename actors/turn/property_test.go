package turn

import (
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"pgregory.net/rapid"
)

// TestAnyInputsKeepThePromises feeds inputs in any order, sensible or not, then
// the answers that an owner owes, and judges every effect.
func TestAnyInputsKeepThePromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := drawConfig(rt)
		turn, j, now := New(c), newJudge(c.Turn), int64(0)
		step := func(in Input) {
			now += int64(rapid.IntRange(-200, 2000).Draw(rt, "ms"))
			j.input(in)
			if err := j.effects(turn.Step(in, now)); err != nil {
				rt.Fatalf("%#v: %v", in, err)
			}
			if running := turn.state == running; running && len(turn.pending)+len(turn.items.deferred) > 0 && !j.armed[CallTimer] {
				rt.Fatalf("%#v: nothing ends the gathering", in)
			}
		}
		begin := []Input{Start{}, Prepared{}, Spawned{Pid: 3}, drawCall(rt, 1), drawCall(rt, 2), Elapsed{CallTimer}}
		for _, in := range begin[:rapid.IntRange(0, len(begin)).Draw(rt, "begun")] {
			step(in)
		}
		for range rapid.IntRange(0, 40).Draw(rt, "steps") {
			step(anyInput(rt))
		}
		for _, in := range []Input{Stop{}, Start{}, Stop{}, Prepared{}, Spawned{}, Exited{}, Gone{}} {
			step(in)
		}
		if j.ended == nil || !j.finished {
			rt.Fatalf("ended %v, finished %v", j.ended, j.finished)
		}
		for range 5 {
			step(anyInput(rt)) // nothing comes after Finished
		}
	})
}

// TestWellBehavedOwnerAlwaysFinishes plays an owner that answers what it is
// asked, with any CLI behind it.
func TestWellBehavedOwnerAlwaysFinishes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := drawConfig(rt)
		turn, j, now := New(c), newJudge(c.Turn), int64(1000)
		var todo []Input // what the owner and the process will say next
		armed := map[Timer]bool{}
		cancelled, concluded := false, false
		calls, steers := int64(0), byte(0)
		step := func(in Input) {
			j.input(in)
			effects := turn.Step(in, now)
			if err := j.effects(effects); err != nil {
				rt.Fatalf("%#v: %v", in, err)
			}
			if running := turn.state == running; running && len(turn.pending)+len(turn.items.deferred) > 0 && !j.armed[CallTimer] {
				rt.Fatalf("%#v: nothing ends the gathering", in)
			}
			for _, e := range effects {
				switch e := e.(type) {
				case Prepare:
					todo = append(todo, pick[Input](rt, Prepared{}, Prepared{}, PrepareFailed{}))
				case Spawn:
					todo = append(todo, pick[Input](rt, Spawned{1}, Spawned{1}, SpawnFailed{}))
				case Continue:
					todo = append(todo, Resumed{})
				case Hand:
					todo = append(todo, Steered{Input: e.Input, Taken: rapid.IntRange(0, 3).Draw(rt, "taken") > 0})
				case Terminate, Kill:
					todo = append(todo, Exited{Exit: agent.Exit{Code: -1, Signal: "killed"}}, Gone{})
				case Arm:
					armed[e.Timer] = true
				case Disarm:
					delete(armed, e.Timer)
				}
			}
		}
		step(Start{})
		for n := 0; !j.finished; n++ {
			now += int64(rapid.IntRange(0, 500).Draw(rt, "ms"))
			switch {
			case n > 60 && len(todo) == 0 && j.spawned:
				step(Exited{Facts: drawFacts(rt)})
				step(Gone{})
			case len(todo) > 0 && (n > 60 || rapid.Bool().Draw(rt, "answer")):
				in := todo[0]
				todo = todo[1:]
				step(in)
			case rapid.IntRange(0, 9).Draw(rt, "what") == 0:
				in := pick[Input](rt, Cancel{}, Stop{}, Hurry{}, OutputLimit{5}, Used{}, Used{Memory: 3}, Used{CPU: 3})
				_, is := in.(Cancel)
				cancelled = cancelled || is && j.ended == nil && turn.decided == nil
				step(in)
			case turn.state == waiting && rapid.IntRange(0, 2).Draw(rt, "answer") > 0:
				in := drawAnswers(rt, asked(turn))
				concluded = concluded || in.Cancel || in.Conclude
				step(in)
			case j.spawned && rapid.IntRange(0, 3).Draw(rt, "call") == 0:
				calls++
				step(drawCall(rt, calls))
			case rapid.IntRange(0, 9).Draw(rt, "steer") == 0:
				steers++
				step(Steer{Input: event.ID{0xcd, steers}, Items: []*event.Item{{Type: event.Message, User: true, Text: text(rt)}}})
			case calls > 0 && rapid.IntRange(0, 19).Draw(rt, "leave") == 0:
				step(CallLeft{Call: int64(rapid.IntRange(1, int(calls)).Draw(rt, "number"))})
			case len(armed) > 0 && rapid.Bool().Draw(rt, "timer"):
				for timer := range timers {
					if armed[timer] {
						delete(armed, timer)
						step(Elapsed{timer})
						break
					}
				}
			case j.spawned && !turn.Waiting():
				step(Output{Facts: drawFacts(rt)})
			}
		}
		if cancelled && !concluded && j.ended.Outcome != event.Cancelled {
			rt.Fatalf("a cancelled turn is %s", j.ended.Outcome)
		}
	})
}

// asked lists what the turn waits for.
func asked(t *Turn) []event.ID {
	out := make([]event.ID, len(t.calls))
	for i, c := range t.calls {
		out[i] = c.item.ID
	}
	return out
}

func drawConfig(rt *rapid.T) Config {
	limit := func(name string) time.Duration {
		return time.Duration(rapid.IntRange(0, 3).Draw(rt, name)) * 400 * time.Millisecond
	}
	var budgets budget.Bounds
	if rapid.Bool().Draw(rt, "budget") {
		budgets = budget.Bounds{{Name: "b", Scope: event.TurnScope, Limit: rapid.Int64Range(1, 5).Draw(rt, "tokens")}}
	}
	return Config{
		Budgets: budgets, Turn: event.ID{1, 2, 3}, FirstOutput: uint32(rapid.IntRange(0, 3).Draw(rt, "first")),
		ExitIsVerdict: rapid.Bool().Draw(rt, "exit_is_verdict"),
		TurnTimeout:   limit("turn"), IdleTimeout: limit("idle"), SettleQuiet: limit("quiet"), Linger: limit("linger"),
		MaxItemBytes: rapid.SampledFrom([]int{0, 1, 5, 12}).Draw(rt, "max"),
		Gather:       limit("gather"), ToolTimeout: limit("wait"), HostServer: "host", Asks: rapid.Bool().Draw(rt, "asks"),
		Limits: drawLimits(rt),
	}
}

func drawLimits(rt *rapid.T) (l Limits) {
	if rapid.Bool().Draw(rt, "limits") {
		l = Limits{CPU: 2, Memory: 2, Processes: 2, FileSize: 2, OpenFiles: 2}
	}
	return l
}

func drawUsed(rt *rapid.T) Used {
	small := rapid.Int64Range(0, 3)
	return Used{CPU: time.Duration(small.Draw(rt, "cpu")), Memory: small.Draw(rt, "memory"), Processes: int(small.Draw(rt, "processes"))}
}

func anyInput(rt *rapid.T) Input {
	switch rapid.IntRange(0, 29).Draw(rt, "input") {
	case 27:
		return drawSteer(rt)
	case 28, 29:
		return Steered{Input: pick(rt, steerNames...), Taken: rapid.Bool().Draw(rt, "taken")}
	case 25:
		return drawUsed(rt)
	case 26:
		return Exited{Exit: agent.Exit{Code: 152, Signal: pick(rt, "", "SIGKILL", "SIGXCPU")}, Hits: Hits{Memory: rapid.Bool().Draw(rt, "hit"), Processes: true, OpenFiles: true, CPU: 3}}
	case 0:
		return Prepared{}
	case 1:
		return PrepareFailed{}
	case 2:
		return Spawned{Pid: 3}
	case 3:
		return SpawnFailed{}
	case 4:
		return LineDropped{Bytes: 7}
	case 5:
		return OutputLimit{Limit: 9}
	case 6:
		return Exited{Exit: agent.Exit{Code: rapid.IntRange(-1, 1).Draw(rt, "code"), Stderr: text(rt)}, Facts: drawFacts(rt)}
	case 7:
		return Gone{}
	case 8:
		return Cancel{}
	case 9:
		return Stop{}
	case 10:
		return Hurry{}
	case 11:
		return Elapsed{Timer(rapid.IntRange(0, int(timers)+1).Draw(rt, "timer"))}
	case 12:
		return Start{}
	case 13, 14:
		return drawCall(rt, int64(rapid.IntRange(1, 5).Draw(rt, "number")))
	case 15:
		return CallLeft{Call: int64(rapid.IntRange(0, 6).Draw(rt, "number"))}
	case 16, 17:
		var any []event.ID
		for n := range uint32(12) {
			any = append(any, event.ItemID(event.ID{1, 2, 3}, n))
		}
		return drawAnswers(rt, any)
	case 18:
		return Resumed{}
	case 19:
		return Elapsed{pick(rt, CallTimer, WaitTimer)}
	default:
		return Output{Facts: drawFacts(rt)}
	}
}

// steerNames are the ids of messages for running turns.
var steerNames = []event.ID{{}, {0xcd, 1}, {0xcd, 2}, {0xcd, 3}}

func drawSteer(rt *rapid.T) Steer {
	return Steer{Input: pick(rt, steerNames...), Items: []*event.Item{{Type: event.Message, User: true, Text: text(rt)}}}
}

// drawCall asks, or is no question at all.
func drawCall(rt *rapid.T, number int64) Input {
	if rapid.IntRange(0, 19).Draw(rt, "odd") == 0 {
		return pick[Input](rt, Called{Call: number}, Called{Call: number, Item: &event.Item{Type: event.Command}})
	}
	return Called{Call: number, Item: &event.Item{
		Type: pick(rt, event.FunctionCall, event.FunctionCall, event.Approval), Tool: text(rt), Arguments: pick(rt, "", "{}", "{"),
	}}
}

// drawAnswers says something to some of those.
func drawAnswers(rt *rapid.T, to []event.ID) Answered {
	var in Answered
	for range rapid.IntRange(0, 3).Draw(rt, "answers") {
		in.Answers = append(in.Answers, &event.Item{
			Type: pick(rt, event.FunctionOutput, event.FunctionOutput, event.ApprovalAnswer), Call: pick(rt, to...), Output: text(rt),
			Status: pick(rt, event.Done, event.ItemFailed, 0), Approved: rapid.Bool().Draw(rt, "approved"),
		})
	}
	if rapid.IntRange(0, 3).Draw(rt, "leg") == 0 {
		in.Leg = &event.Leg{Number: 77, Wire: "responses"}
	}
	in.Conclude = rapid.IntRange(0, 9).Draw(rt, "conclude") == 0
	in.Cancel = rapid.IntRange(0, 9).Draw(rt, "cancel") == 0
	return in
}

func drawFacts(rt *rapid.T) []agent.Fact {
	out := make([]agent.Fact, rapid.IntRange(0, 6).Draw(rt, "facts"))
	for i := range out {
		f := agent.Fact{
			Kind: agent.FactKind(rapid.IntRange(1, 10).Draw(rt, "kind")),
			Key:  pick(rt, "", "a", "b", "c", "d", "e"), Text: text(rt),
		}
		if rapid.IntRange(0, 3).Draw(rt, "of a subagent") == 0 {
			f.Parent = pick(rt, "a", "b", "c", "d")
		}
		if rapid.IntRange(0, 9).Draw(rt, "with item") > 0 {
			f.Item = &event.Item{
				Type: event.ItemType(rapid.IntRange(0, 8).Draw(rt, "type")), Status: event.Status(rapid.IntRange(0, 4).Draw(rt, "status")),
				Text: text(rt), Command: text(rt), Output: text(rt), Arguments: pick(rt, "", "{}", `{"a":1}`, "{"), Prompt: text(rt),
				Server: pick(rt, "", "host", "other"),
			}
		}
		if f.Kind == agent.FactVerdict && rapid.IntRange(0, 9).Draw(rt, "with verdict") > 0 {
			f.Verdict = &agent.Verdict{
				Final: rapid.Bool().Draw(rt, "final"), Outcome: event.Outcome(rapid.IntRange(0, 3).Draw(rt, "outcome")), Text: text(rt),
			}
			if rapid.Bool().Draw(rt, "failure") {
				f.Verdict.Failure = event.Fail(event.RateLimited, "later")
			}
		}
		if f.Kind == agent.FactUsage && rapid.IntRange(0, 9).Draw(rt, "with usage") > 0 {
			f.Usage = &event.Usage{Input: rapid.Int64Range(-1, 5).Draw(rt, "used")}
		}
		out[i] = f
	}
	return out
}

// text is short, often a prefix of another, sometimes broken or of wide characters.
func text(rt *rapid.T) string {
	return strings.Repeat(pick(rt, "", "a", "ab", "é", "日本", "\xff", "\xe6\x97"), rapid.IntRange(0, 4).Draw(rt, "times"))
}

func pick[T any](rt *rapid.T, from ...T) T { return rapid.SampledFrom(from).Draw(rt, "pick") }
