package turn

import (
	"cmp"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// hurryGrace is what Hurry leaves of the linger, counted from the settling: a
// CLI that has just answered is still saving its conversation.
const hurryGrace = 500 * time.Millisecond

// reportPatience is how long a turn that has its answer waits for what comes of its
// subagents, where no idle timeout says it.
const reportPatience = 5 * time.Minute

// decision is an outcome that is not the CLI's.
type decision struct {
	outcome event.Outcome
	failure *event.Failure
	limit   bool // a limit of ours was passed
}

// take accepts a verdict.
func (t *Turn) take(v *agent.Verdict) {
	if v == nil {
		return
	}
	t.verdict = v
	t.items.verdictCame()
	switch {
	case t.state == stopping: // the outcome is ours, or the exit settles next
	case v.Final:
		t.settle()
		t.linger()
	default:
		t.arm(SettleTimer, t.cfg.SettleQuiet)
	}
}

// elapsed is a limit's end while running. The clocks of silence are lazy: they
// run on while output comes and are set to what is left when they fire.
func (t *Turn) elapsed(timer Timer) {
	switch timer {
	case TurnTimer:
		t.strike(t.outOfTime(t.items.stillRunning()))
	case IdleTimer:
		left := t.remaining(t.cfg.IdleTimeout, t.now)
		switch {
		case t.items.openTool() != nil:
			t.arm(IdleTimer, t.cfg.IdleTimeout)
		case left > 0:
			t.arm(IdleTimer, left)
		default:
			t.strike(silent(t.name(), t.cfg.IdleTimeout))
		}
	case SettleTimer:
		left := t.remaining(t.cfg.SettleQuiet, t.now)
		switch {
		case t.items.reports && t.remaining(max(t.cfg.SettleQuiet, cmp.Or(t.cfg.IdleTimeout, reportPatience)), t.now) > 0:
			t.arm(SettleTimer, t.cfg.SettleQuiet) // they make the CLI go on at any time
		case t.items.wentOn() || len(t.pending) > 0:
			t.arm(SettleTimer, t.cfg.SettleQuiet)
		case left > 0:
			t.arm(SettleTimer, left)
		default:
			t.settle()
			t.linger()
		}
	case CallTimer:
		t.gathered()
	case LingerTimer, WaitTimer: // not armed while running
	}
}

// strike ends the turn at a limit of ours, unless the CLI gave a verdict before.
func (t *Turn) strike(f *event.Failure) {
	if t.verdict != nil {
		t.settle()
		t.terminate()
		return
	}
	t.decided = &decision{outcome: event.Failed, failure: f, limit: true}
	t.stop()
}

// decide fixes the outcome; the first decision holds.
func (t *Turn) decide(o event.Outcome, f *event.Failure) {
	if t.decided == nil {
		t.decided = &decision{outcome: o, failure: f}
	}
}

// stop tells the process to end; the turn settles at its exit.
func (t *Turn) stop() {
	t.state = stopping
	t.disarm(TurnTimer, IdleTimer, SettleTimer, CallTimer, WaitTimer)
	t.terminate()
}

func (t *Turn) terminate() {
	if t.told || t.exited {
		return
	}
	t.told = true
	t.do(Terminate{})
}

// exit takes the parser's last facts and settles with what is known.
func (t *Turn) exit(in Exited) {
	t.exited = true
	t.state = stopping // a verdict among the last facts settles below, not by itself
	if !t.unread {
		t.facts(in.Facts)
	}
	switch d := t.decided; {
	case d != nil && d.limit:
		d.failure.Message += stderrOf(in.Exit)
	case d == nil && t.verdict == nil:
		t.decidedByExit(in.Exit, in.Hits)
	}
	t.close(exitText(in.Exit))
	t.state = draining
}

func (t *Turn) decidedByExit(e agent.Exit, h Hits) {
	clean := e.Code == 0 && e.Signal == ""
	if !clean {
		if f := t.hit(e, h); f != nil {
			f.Message += stderrOf(e)
			t.decide(event.Failed, f)
			return
		}
	}
	switch {
	case clean && t.cfg.ExitIsVerdict:
		t.decide(event.Completed, nil)
	case clean:
		t.decide(event.Failed, noVerdict(t.name(), e, t.lineLost))
	default:
		t.decide(event.Failed, crashed(t.name(), e))
	}
}

// settle ends the turn while its process is there.
func (t *Turn) settle() {
	t.close("")
	t.state = draining
}

// linger leaves a settled process some time to end by itself.
func (t *Turn) linger() {
	if t.cfg.Linger <= 0 {
		t.terminate()
		return
	}
	t.arm(LingerTimer, t.cfg.Linger)
	if t.hurried {
		t.hurry()
	}
}

// hurry cuts the linger down to the grace.
func (t *Turn) hurry() {
	if t.armed&(1<<LingerTimer) == 0 {
		return
	}
	grace := min(hurryGrace, t.cfg.Linger) - time.Duration(t.now-t.settledAt)*time.Millisecond
	if grace <= 0 {
		t.disarm(LingerTimer)
		t.terminate()
		return
	}
	t.arm(LingerTimer, min(grace, hurryGrace))
}

// end ends a turn that has no process.
func (t *Turn) end(next state) {
	t.close("")
	t.state = next
	if next == done {
		t.do(Finished{})
	}
}

// finish is the last step of a settled turn.
func (t *Turn) finish() {
	t.disarm(LingerTimer)
	t.state = done
	t.do(Finished{})
}

// close emits the turn's end: open items first, then TurnEnded.
func (t *Turn) close(exit string) {
	t.settledAt = t.now
	t.disarm(TurnTimer, IdleTimer, SettleTimer, CallTimer, WaitTimer)
	t.closeCalls()
	end := &event.End{FirstByte: t.firstByte, Exit: exit, Isolation: t.isolation}
	var text string
	end.Usage = t.used
	if v := t.verdict; v != nil {
		if v.Usage != nil {
			end.Usage = v.Usage
		}
		end.Carry, text = v.Carry, v.Text
		end.Outcome, end.Failure = t.judged(v)
	}
	if d := t.decided; d != nil {
		end.Outcome, end.Failure = d.outcome, d.failure
	}
	t.items.end(end.Outcome == event.Completed, text)
	t.emit(event.Event{Kind: event.TurnEnded, Body: end})
	t.items = normaliser{turn: t} // the texts are in the events; nothing reads the rest
}
