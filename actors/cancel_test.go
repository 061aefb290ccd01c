package actors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// blocker is a prompt that says so when it runs and ends when the gate is opened.
func blocker(gate string) string {
	return fmt.Sprintf("echo running; while [ ! -e %s ]; do sleep 0.01; done; echo through", gate)
}

func openGate(t *testing.T, gate string) {
	t.Helper()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func gateIn(t *testing.T) string { return filepath.Join(t.TempDir(), "gate") }

// spoke is true once the turn's CLI has said something.
func spoke(turn event.ID) func(event.Event) bool {
	return func(ev event.Event) bool { return ev.Kind == event.TextDelta && ev.Turn == turn }
}

// judgeEnds reads a session's whole journal: each turn that was accepted has one
// end, and nothing of a turn comes behind it.
func judgeEnds(t *testing.T, h *actors.Host, session event.ID, until func(event.Event) bool) map[event.ID]event.Outcome {
	t.Helper()
	outcomes := map[event.ID]event.Outcome{}
	for _, ev := range follow(t, h, session, 0, until) {
		if _, over := outcomes[ev.Turn]; over && ev.Kind != event.TurnForgotten {
			t.Errorf("%s of turn %s behind its end", ev.Kind, ev.Turn)
		}
		if ev.Kind == event.TurnEnded {
			outcomes[ev.Turn] = ev.Body.(*event.End).Outcome
		}
	}
	return outcomes
}

func idle(t *testing.T, h *actors.Host, session event.ID) {
	t.Helper()
	ses, err := h.Session(ctx(t), "alice", session)
	if err != nil || ses.Open != 0 {
		t.Errorf("session after it all = %+v, %v; want it idle", ses, err)
	}
}

// One session: the running turn is cancelled, then the oldest of two queued ones;
// the last one goes on.
func TestCancelTakesTheRunningTurnThenTheOldestQueuedOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New())
	p := create(t, h, "echo running; sleep 300")
	ses, first := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, spoke(first))
	second := send(t, h, ses, "echo second").ID
	third := send(t, h, ses, "echo third").ID
	if got, err := h.CancelTurn(ctx(t), "alice", second); err != nil || got.Status != fold.Cancelled {
		t.Errorf("a queued turn is cancelled at once: %+v, %v", got, err)
	}
	cancelSession(t, h, ses)
	got := judgeEnds(t, h, ses, ended(third))
	if got[first] != event.Cancelled || got[second] != event.Cancelled || got[third] != event.Completed {
		t.Errorf("outcomes %v", got)
	}
	idle(t, h, ses)
	nothingLeft(t, h, dir)
}

// The running turn has ended but its process lingers: a cancel is meant for the
// oldest queued one.
func TestCancelDoesNotHitATurnThatLingers(t *testing.T) {
	t.Parallel()
	l := quick()
	l.Linger = 0 // the default, cut to half a second by the one that waits
	h := started(t, l, memory.New())
	p := create(t, h, "echo hi; echo '#final'; sleep 300")
	ses, first := p.Session.ID, p.Turns[0].ID
	follow(t, h, ses, 0, ended(first))
	second := send(t, h, ses, "echo second").ID
	cancelSession(t, h, ses)
	third := send(t, h, ses, "echo third").ID
	got := judgeEnds(t, h, ses, ended(third))
	if got[first] != event.Completed || got[second] != event.Cancelled || got[third] != event.Completed {
		t.Errorf("outcomes %v", got)
	}
}

func TestCancelBehindAnotherSessionsSlot(t *testing.T) {
	t.Parallel()
	gate := gateIn(t)
	l := quick()
	l.MaxConcurrentTurns = 1
	h := started(t, l, memory.New())
	holder := create(t, h, blocker(gate))
	follow(t, h, holder.Session.ID, 0, spoke(holder.Turns[0].ID))
	waiter := create(t, h, "echo never")
	other := create(t, h, "echo other")
	eventually(t, "two wait", func() bool { return h.Stats().Waiting == 2 })
	cancelSession(t, h, waiter.Session.ID)
	end := outcome(t, follow(t, h, waiter.Session.ID, 0, ended(waiter.Turns[0].ID)))
	if end.Outcome != event.Cancelled || !end.Idle {
		t.Errorf("end = %+v", end)
	}
	if s := h.Stats(); s.Running != 1 {
		t.Errorf("%d run, want the holder only", s.Running)
	}
	openGate(t, gate)
	if end := outcome(t, follow(t, h, other.Session.ID, 0, ended(other.Turns[0].ID))); end.Outcome != event.Completed {
		t.Errorf("the other session's turn: %+v", end)
	}
}

// The cancel comes while the turn is being prepared: nothing is spawned.
func TestCancelWhileStarting(t *testing.T) {
	t.Parallel()
	mark := filepath.Join(t.TempDir(), "spawned")
	preparing, goOn := make(chan struct{}, 1), make(chan struct{})
	dir := t.TempDir()
	h := startedIn(t, dir, quick(), memory.New(), with(script{invocation: func(r *agent.Request, _ *agent.Invocation) {
		if !r.Turn.IsZero() && r.Prompt != "echo next" {
			preparing <- struct{}{}
			<-goOn
		}
	}}))
	p := create(t, h, "touch "+mark)
	ses, turn := p.Session.ID, p.Turns[0].ID
	<-preparing
	cancelSession(t, h, ses)
	next := send(t, h, ses, "echo next").ID
	follow(t, h, ses, 0, ended(turn)) // does not wait for the preparation
	close(goOn)
	got := judgeEnds(t, h, ses, ended(next))
	if got[turn] != event.Cancelled || got[next] != event.Completed {
		t.Errorf("outcomes %v", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the cancelled turn was spawned")
	}
	idle(t, h, ses)
	nothingLeft(t, h, dir)
}

func TestCancelAfterTheEndChangesNothing(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	p := create(t, h, "echo hi")
	ses, turn := p.Session.ID, p.Turns[0].ID
	before := follow(t, h, ses, 0, ended(turn))
	cancelSession(t, h, ses)
	got, err := h.CancelTurn(ctx(t), "alice", turn)
	if err != nil || got.Status != fold.Completed || len(got.Items) != 1 {
		t.Errorf("cancelled turn = %+v, %v; want it as it was", got, err)
	}
	if s, err := h.Session(ctx(t), "alice", ses); err != nil || s.Head != before[len(before)-1].Seq {
		t.Errorf("head %d after cancels of an idle session, want %d (%v)", s.Head, before[len(before)-1].Seq, err)
	}
	if _, err := h.CancelTurn(ctx(t), "alice", event.NewTurnID()); event.CodeOf(err) != event.TurnNotFound {
		t.Errorf("cancel of an unknown turn: %v", err)
	}
}

// Cancels fired around the end of fast turns: one end each, the session goes on.
func TestCancelsAroundTheEnd(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New())
	ses := create(t, h, "").Session.ID
	var last event.ID
	for range 40 {
		last = send(t, h, ses, "echo x").ID
		go func(turn event.ID) { _, _ = h.CancelTurn(ctx(t), "alice", turn) }(last)
		follow(t, h, ses, 0, ended(last))
	}
	if got := judgeEnds(t, h, ses, ended(last)); len(got) != 40 {
		t.Errorf("%d turns ended, want 40", len(got))
	}
	idle(t, h, ses)
}
