package turn

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// fresh: nothing was granted yet. Left by Start, or by an early end.
func (t *Turn) fresh(in Input) {
	switch in := in.(type) {
	case Start:
		t.emit(event.Event{Kind: event.TurnStarted})
		t.state = preparing
		if t.cfg.TurnTimeout > 0 {
			t.turnEnds = t.now + t.cfg.TurnTimeout.Milliseconds()
		}
		t.arm(TurnTimer, t.cfg.TurnTimeout)
		t.do(Prepare{})
	case Cancel:
		t.decide(event.Cancelled, nil)
		t.end(done)
	case Stop:
		t.decide(event.Failed, stopFailure(in.Failure))
		t.end(done)
	default:
		t.drop(in)
	}
}

// preparing: the workspace is made. Left by the answer, or by an end that does
// not wait for it.
func (t *Turn) preparing(in Input) {
	switch in := in.(type) {
	case Environment:
		e := t.cfg.Environment
		e.Status, e.Failure = in.Status, in.Failure
		t.emit(event.Event{Kind: event.EnvironmentChanged, Body: &e})
	case Prepared:
		t.veil = in.Veil
		if in.ExitIsVerdict {
			t.cfg.ExitIsVerdict = true
			if !t.cfg.IdleAsked {
				t.cfg.IdleTimeout = 0 // such a CLI may be silent until its end
			}
		}
		t.isolation = in.Isolation
		t.state = starting
		t.do(Spawn{})
	case PrepareFailed:
		t.decide(event.Failed, orElse(in.Failure, event.WorkspaceUnavail, "the workspace could not be prepared"))
		t.end(done)
	case Cancel:
		t.decide(event.Cancelled, nil)
		t.end(abandoned)
	case Stop:
		t.decide(event.Failed, stopFailure(in.Failure))
		t.end(abandoned)
	case Elapsed:
		if t.fired(in.Timer) {
			t.decide(event.Failed, t.outOfTime("while its workspace was being prepared"))
			t.end(abandoned)
		}
	default:
		t.drop(in)
	}
}

// starting: the process is being spawned; whether there is one is not known, so
// an end waits for the answer.
func (t *Turn) starting(in Input) {
	switch in := in.(type) {
	case Spawned:
		t.active = t.now
		if t.decided != nil {
			t.stop()
			return
		}
		t.state = running
		t.arm(IdleTimer, t.cfg.IdleTimeout)
		t.hand()
		if len(t.pending) > 0 {
			t.gather()
		}
	case Called: // the process was faster than the news of it
		t.called(in)
	case CallLeft:
		t.callLeft(in)
	case SpawnFailed:
		t.decide(event.Failed, orElse(in.Failure, event.RuntimeNotInstalled, t.name()+" could not be started"))
		t.end(done)
	case Cancel:
		t.decide(event.Cancelled, nil)
	case Stop:
		t.decide(event.Failed, stopFailure(in.Failure))
	case Elapsed:
		if t.fired(in.Timer) {
			t.decide(event.Failed, t.outOfTime("while "+t.name()+" was being started"))
		}
	default:
		t.drop(in)
	}
}

// running: facts become events. Left by a verdict, a call of the caller's, an exit,
// or an end of ours.
func (t *Turn) running(in Input) {
	switch in := in.(type) {
	case Called:
		t.called(in)
	case CallLeft:
		t.callLeft(in)
	case Output:
		t.output(in)
	case LineDropped:
		t.lineDropped(in)
	case Used:
		t.weigh(in)
	case OutputLimit:
		t.unread = true
		t.strike(outputLimit(t.name(), in.Limit))
	case Exited:
		t.exit(in)
	case Gone:
		t.exit(Exited{Exit: agent.Exit{Code: -1}})
		t.finish()
	case Cancel:
		t.decide(event.Cancelled, nil)
		t.stop()
	case Stop:
		t.decide(event.Failed, stopFailure(in.Failure))
		t.stop()
	case Elapsed:
		if t.fired(in.Timer) {
			t.elapsed(in.Timer)
		}
	default:
		t.drop(in)
	}
}

// stopping: the outcome is ours and the process was told to end. Left by its
// exit.
func (t *Turn) stopping(in Input) {
	switch in := in.(type) {
	case Output:
		t.output(in)
	case LineDropped:
		t.lineDropped(in)
	case Used:
		t.weigh(in)
	case OutputLimit:
		t.unread = true
	case Exited:
		t.exit(in)
	case Gone:
		t.exit(Exited{Exit: agent.Exit{Code: -1}})
		t.finish()
	case Stop:
		t.do(Kill{})
	default:
		t.drop(in)
	}
}

// draining: TurnEnded is out. Left when the process's tree is gone.
func (t *Turn) draining(in Input) {
	switch in := in.(type) {
	case Exited:
		t.exited = true
		t.disarm(LingerTimer)
		t.dropped += int64(len(in.Facts))
	case Gone:
		t.finish()
	case Used:
		t.weigh(in)
	case Hurry:
		t.hurry()
	case Stop:
		t.disarm(LingerTimer)
		if t.told && !t.exited {
			t.do(Kill{})
		}
		t.terminate()
	case Elapsed:
		if t.fired(in.Timer) {
			t.terminate()
		}
	default:
		t.drop(in)
	}
}

// abandoned: TurnEnded is out, the preparation still runs. Left by its answer.
func (t *Turn) abandoned(in Input) {
	switch in.(type) {
	case Prepared, PrepareFailed:
		t.finish()
	default:
		t.drop(in)
	}
}
