package actors_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

func TestTurnRunsAndIsReadBack(t *testing.T) {
	t.Parallel()
	h := started(t, actors.Limits{}, memory.New())
	p := create(t, h, "echo hello; echo world")
	turn := p.Turns[0].ID
	got := follow(t, h, p.Session.ID, 0, ended(turn))
	want := "session.created input.accepted turn.started item.started text.delta item.done turn.ended"
	if k := strings.ReplaceAll(kinds(got), "text.delta text.delta", "text.delta"); k != want {
		t.Errorf("events\n got %s\nwant %s", k, want)
	}
	back, err := h.Turn(ctx(t), "alice", turn)
	if err != nil {
		t.Fatal(err)
	}
	if back.Status != fold.Completed || len(back.Items) != 1 || back.Items[0].Text != "hello\nworld\n" {
		t.Errorf("turn = %+v, end %+v %v", back, back.End, back.End.Failure)
	}
	if back.Items[0].Phase != event.FinalAnswer {
		t.Errorf("phase = %v, want the final answer", back.Items[0].Phase)
	}
	ses, err := h.Session(ctx(t), "alice", p.Session.ID)
	if err != nil || ses.Open != 0 || ses.Head != got[len(got)-1].Seq {
		t.Errorf("session = %+v, %v", ses, err)
	}
}

func TestForeignSessionIsUnknown(t *testing.T) {
	t.Parallel()
	h := started(t, actors.Limits{}, memory.New())
	p := create(t, h, "true")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	_, foreign := h.Session(ctx(t), "mallory", p.Session.ID)
	_, unknown := h.Session(ctx(t), "mallory", event.NewID())
	if foreign == nil || unknown == nil || foreign.Error() != unknown.Error() {
		t.Errorf("foreign %v, unknown %v", foreign, unknown)
	}
	if _, err := h.Post(ctx(t), "mallory", p.Session.ID, []spec.Action{{Input: input("true")}}, nil); event.CodeOf(err) != event.SessionNotFound {
		t.Errorf("post by another principal: %v", err)
	}
	if _, err := h.Turn(ctx(t), "mallory", p.Turns[0].ID); event.CodeOf(err) != event.TurnNotFound {
		t.Errorf("turn of another principal: %v", err)
	}
}

func TestNativeSessionIsResumed(t *testing.T) {
	t.Parallel()
	h := started(t, actors.Limits{}, memory.New())
	p := create(t, h, "echo '#session abc-1'; echo one; echo '#final'")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	turn := send(t, h, p.Session.ID, "echo resumed $NATIVE; echo '#final'")
	follow(t, h, p.Session.ID, 0, ended(turn.ID))
	back, err := h.Turn(ctx(t), "alice", turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Items[0].Text; got != "resumed abc-1\n" {
		t.Errorf("second turn said %q", got)
	}
}

// Three hundred inputs over sixty sessions, posted round robin with four slots:
// all run once, never more than four at once, in order inside a session, and
// about in order across sessions.
func TestManyInputsOverManySessions(t *testing.T) {
	t.Parallel()
	const sessions, rounds, slots = 60, 5, 4
	log := t.TempDir() + "/log"
	h := started(t, actors.Limits{MaxConcurrentTurns: slots}, memory.New())
	ids := make([]event.ID, sessions)
	for i := range ids {
		ids[i] = create(t, h, "").Session.ID
	}
	var last [sessions]*fold.Turn
	for r := range rounds {
		for i, id := range ids {
			tag := fmt.Sprintf("%d.%d", i, r)
			last[i] = send(t, h, id, fmt.Sprintf("echo s %s >> %s; echo x; echo e %s >> %s", tag, log, tag, log))
		}
	}
	for i, id := range ids {
		follow(t, h, id, 0, ended(last[i].ID))
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	judgeLog(t, string(raw), sessions, rounds, slots, 12)
}

// judgeLog reads what the CLIs really did: "s I.R" and "e I.R" lines, posted in
// the order R, then I.
func judgeLog(t *testing.T, log string, sessions, rounds, slots, shift int) {
	t.Helper()
	running, started, worst := 0, 0, 0
	next := make([]int, sessions)
	for line := range strings.Lines(log) {
		var kind byte
		var i, r int
		if _, err := fmt.Sscanf(line, "%c %d.%d", &kind, &i, &r); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if kind == 'e' {
			running--
			continue
		}
		running++
		if running > slots {
			t.Errorf("%d at once", running)
		}
		if next[i] != r {
			t.Errorf("session %d ran input %d, want %d", i, r, next[i])
		}
		next[i] = r + 1
		posted := r*sessions + i
		worst = max(worst, posted-started, started-posted)
		started++
	}
	if started != sessions*rounds {
		t.Errorf("%d of %d ran", started, sessions*rounds)
	}
	if worst > shift {
		t.Errorf("start order shifted by %d places, want at most %d", worst, shift)
	}
}
