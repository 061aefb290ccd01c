package acceptance

import (
	"slices"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
)

// told reports what the CLI made of a message for the running turn.
func (d *dialogue) told(input event.ID, taken bool) {
	d.t.Helper()
	if len(d.steered) != 1 || d.steered[0].Input != input || d.steered[0].Taken != taken || (d.steered[0].Why == "") != taken {
		d.t.Errorf("steered: %+v, want %v taken %v", d.steered, input, taken)
	}
}

// A message for a turn that runs a tool is shown to the model with the tool's result.
func TestRealClaudeIsSteeredInATool(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.WorkspaceWrite, "")
	d.ask("[[shell: sleep 1; echo one]]")
	d.until("the command runs", d.has(agent.FactStart, event.Command))
	input := d.steer("this is beside the point")
	d.do("ping", d.p.Ping)
	d.until("a sign of life", func() bool { return d.pongs == 1 })
	if d.saw("beside the point") || len(d.steered) > 0 {
		t.Error("it was shown before the tool's result")
	}
	if v := d.end(); v.Outcome != event.Completed || !d.saw("beside the point") {
		t.Errorf("%s %v; shown: %v", v.Outcome, v.Failure, d.saw("beside the point"))
	}
	d.told(input, true)
	d.ask("[[say: and on]]")
	d.completed("and on")
	d.recorded("steered")
}

// One that comes while the last answer is given is answered in the same turn: Claude
// Code goes on by itself.
func TestRealClaudeIsSteeredInItsLastAnswer(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.WorkspaceWrite, "")
	d.ask("[[slow: 30]] [[count: 20]]")
	d.until("it speaks", d.has(agent.FactText, 0))
	input := d.steer("[[say: steered]]")
	d.completed("steered")
	d.told(input, true)
	d.spoke(2)
	d.recorded("steered_late")
}

// spoke counts the messages of the turn, and sees that the first answer's verdict was
// kept back.
func (d *dialogue) spoke(messages int) {
	d.t.Helper()
	said, verdicts := 0, 0
	for _, f := range d.facts {
		if f.Kind == agent.FactDone && f.Item.Type == event.Message {
			said++
		}
		if f.Kind == agent.FactVerdict {
			verdicts++
		}
	}
	if said != messages || verdicts > 2 {
		d.t.Errorf("%d messages, %d verdicts", said, verdicts)
	}
}

// One that is written when Claude Code has just finished begins no turn of its own: it
// is answered in the one that we have not seen the end of.
func TestRealClaudeIsSteeredAtItsEnd(t *testing.T) {
	t.Parallel()
	for at, mark := range map[string]string{"at its result": `"type":"result"`, "when it is idle": `"state":"idle"`} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			d := newDialogue(t, spec.WorkspaceWrite, "")
			d.ask("[[say: the first]]")
			d.untilSays(mark)
			input := d.steer("[[say: steered]]")
			v := d.end()
			if at == "at its result" {
				d.told(input, true)
				d.spoke(2)
				d.recorded("steered_at_end")
			} else {
				d.told(input, false) // the result was seen: there is no turn to add to
				if d.saw("steered") || v.Text != "the first" {
					t.Errorf("the refused message was answered: %q", v.Text)
				}
			}
			d.ask("[[say: and on]]")
			d.completed("and on")
		})
	}
}

// An interrupt takes back what the model was not shown yet; the process goes on.
func TestRealClaudeIsSteeredAndInterrupted(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.WorkspaceWrite, "")
	d.ask("[[shell: tail -f /dev/null]]")
	d.until("the command runs", d.has(agent.FactStart, event.Command))
	input := d.steer("this is beside the point")
	d.interrupt()
	if v := d.end(); v.Outcome != event.Cancelled || d.saw("beside the point") {
		t.Errorf("%s; shown: %v", v.Outcome, d.saw("beside the point"))
	}
	d.told(input, false)
	d.ask("[[say: and on]]")
	d.completed("and on")
	d.recorded("interrupted")
}

// An interrupt that comes with the prompt ends the turn before it began.
func TestRealClaudeIsInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.WorkspaceWrite, "")
	d.ask("[[shell: tail -f /dev/null]]")
	d.interrupt()
	d.interrupt()
	if v := d.end(); v.Outcome != event.Cancelled {
		t.Errorf("%s %v", v.Outcome, v.Failure)
	}
	d.ask("[[say: and on]]")
	d.completed("and on")
	d.recorded("interrupted_at_once")
}

// What a turn leaves in the background is stopped with it: else Claude Code would
// begin to work by itself when it ends.
func TestRealClaudeLeavesNothingInTheBackground(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.WorkspaceWrite, "")
	for range 2 {
		d.ask(`[[call: Bash {"command":"tail -f /dev/null","description":"wait","run_in_background":true}]] [[say: left]]`)
		d.completed("left")
	}
	d.ask("[[say: and on]]")
	d.completed("and on")
	d.recorded("background")
}

// A question for permission is answered; why it was denied is told to the model.
func TestRealClaudeAsks(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.Ask, "")
	for _, yes := range []bool{true, false} {
		d.ask("[[write: a.txt some text]]")
		d.until("a question", func() bool { return len(d.questions) == 1 })
		q := d.questions[0]
		if q.Prompt.Tool != "Write" || q.Prompt.Server != "" {
			t.Errorf("asked: %+v", q)
		}
		step, reason := "permit "+q.ID+" yes", ""
		if !yes {
			step, reason = "permit "+q.ID+" no", "the moon is full"
		}
		d.do(step, func(talk *agent.Talk) { d.p.Permit(d.turn, q.ID, yes, reason, talk) })
		d.completed(map[bool]string{true: "created", false: "the moon is full"}[yes])
	}
	d.recorded("asked")
}

// A conversation that Claude Code does not know fails the turn that goes on with it.
func TestRealClaudeLosesAConversation(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.WorkspaceWrite, "01a00000-0000-4000-8000-000000000001")
	d.ask("[[say: hello]]")
	if v := d.end(); v.Outcome != event.Failed || v.Failure.Code != event.ResumeLost {
		t.Errorf("%s %v", v.Outcome, v.Failure)
	}
	d.recorded("lost")
}

// A subagent in the background is waited for; it is one turn.
func TestRealClaudeWaitsForItsSubagent(t *testing.T) {
	t.Parallel()
	d := newDialogue(t, spec.WorkspaceWrite, "")
	d.ask("[[task: [[shell: sleep 1; echo sub]] ]] [[say: main done]]")
	d.completed("main done")
	if !slices.ContainsFunc(d.facts, func(f agent.Fact) bool {
		return f.Kind == agent.FactDone && f.Item.Type == event.Subagent && f.Item.Status == event.Done
	}) {
		t.Errorf("the subagent's end was not told: %v", d.facts)
	}
	d.recorded("subagent")
}
