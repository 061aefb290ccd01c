package actors_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// onStage is a Host whose turns are served by runners.
func onStage(t *testing.T, a troupe, change func(*actors.Limits)) (h *actors.Host, dir string) {
	t.Helper()
	dir = t.TempDir()
	l := quick()
	l.MaxConcurrentTurns = 32
	l.InterruptGrace = time.Second
	l.Runners.Idle = time.Minute
	if change != nil {
		change(&l)
	}
	h = built(t, dir, l, memory.New(), withTroupe(a))
	if err := h.Start(ctx(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop(t, h)
		nothingLeft(t, h, dir)
		if left, err := os.ReadDir(filepath.Join(dir, "runners")); err != nil || len(left) > 0 {
			t.Errorf("files of runners: %v %v", left, err)
		}
	})
	return h, dir
}

func toTheEnd(t *testing.T, h *actors.Host, session, turn event.ID) *fold.Turn {
	t.Helper()
	follow(t, h, session, 0, ended(turn))
	back, err := h.Turn(ctx(t), "alice", turn)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func plays(t *testing.T, h *actors.Host, prompt string) *fold.Turn {
	t.Helper()
	p := create(t, h, prompt)
	return toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)
}

func spoken(turn *fold.Turn) string {
	var b strings.Builder
	for _, it := range turn.Items {
		if it.Type == event.Message {
			b.WriteString(it.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

func TestRunnerServesManySessions(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 16}, nil)
	gate := t.TempDir()
	var posted []*fold.Posted
	for i := range 8 {
		posted = append(posted, create(t, h, fmt.Sprintf("echo begin; until [ -e %s/go ]; do sleep 0.01; done; echo $RUNNER %d; cat $ROOM/stage", gate, i)))
	}
	for _, p := range posted {
		follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	}
	if s := h.Stats(); s.Runners != 1 || s.Trees != 1 {
		t.Errorf("%d runners, %d trees", s.Runners, s.Trees)
	}
	if err := os.WriteFile(gate+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pids := map[string]bool{}
	for i, p := range posted {
		turn := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)
		words := strings.Fields(spoken(turn))
		if turn.Status != fold.Completed || len(words) != 8 || words[2] != fmt.Sprint(i) || words[7] != "runner" {
			t.Errorf("turn %d: %s %q", i, turn.Status, words)
			continue
		}
		pids[words[1]] = true
	}
	if len(pids) != 1 {
		t.Errorf("runners %v", pids)
	}
	if again := toTheEnd(t, h, posted[0].Session.ID, send(t, h, posted[0].Session.ID, "echo $RUNNER").ID); !pids[spoken(again)] {
		t.Errorf("the next turn was served by %s, the others by %v", spoken(again), pids)
	}
}

// Whatever happens to a runner fails the turns that it serves, once, and the next is
// served by another.
func TestRunnerThatFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adapter troupe
		change  func(*actors.Limits)
		prompt  string
		words   string
	}{
		"killed":                               {prompt: "kill -9 $RUNNER; sleep 300", words: "SIGKILL"},
		"ends":                                 {prompt: "kill -TERM $RUNNER; sleep 300", words: "SIGTERM"},
		"hangs":                                {prompt: "kill -STOP $RUNNER; sleep 300", words: "no sign of life", change: func(l *actors.Limits) { l.Runners.Ping = 100 * time.Millisecond }},
		"out of tune":                          {prompt: "echo '#break'; sleep 300", words: "it spoke in tongues"},
		"unread panic":                         {prompt: "echo '#panic'; sleep 300", words: "internal error"},
		"killed, and its child gives up":       {prompt: "kill -9 $RUNNER; while kill -0 $RUNNER 2>/dev/null; do sleep 0.01; done; echo '#gaveup'; sleep 300", words: "SIGKILL"},
		"killed, and its child is out of tune": {prompt: "kill -9 $RUNNER; while kill -0 $RUNNER 2>/dev/null; do sleep 0.01; done; echo '#break'; sleep 300", words: "SIGKILL"},
		"killed behind":                        {prompt: "setsid sleep 300 & kill -9 $RUNNER; sleep 300", words: "SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.adapter.threads = 4
			h, dir := onStage(t, c.adapter, c.change)
			other := create(t, h, "echo on; sleep 300")
			follow(t, h, other.Session.ID, 0, spoke(other.Turns[0].ID))
			mine := create(t, h, "echo mine; "+c.prompt)
			for _, p := range []*fold.Posted{other, mine} {
				turn := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)
				if f := turn.End.Failure; turn.Status != fold.Failed || f == nil || f.Code != event.CLICrashed || !strings.Contains(f.Message, c.words) {
					t.Errorf("turn %s, %v", turn.Status, f)
				}
				if p == other && spoken(turn) != "on" {
					t.Errorf("what was said is lost: %q", spoken(turn))
				}
			}
			next := toTheEnd(t, h, mine.Session.ID, send(t, h, mine.Session.ID, "echo well").ID)
			if next.Status != fold.Completed || spoken(next) != "well" {
				t.Errorf("the next turn: %s %q", next.Status, spoken(next))
			}
			eventually(t, "one runner", func() bool { return h.Stats().Runners == 1 })
			eventually(t, "nothing of the turns lives", func() bool {
				for _, line := range alive(t, dir) {
					if strings.Contains(line, "sleep 300") {
						return false
					}
				}
				return true
			})
		})
	}
}

// A runner whose process has ended takes no further turn, though its children hold its
// pipes open and speak on.
func TestRunnerThatIsSurvivedByItsChild(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 4}, nil)
	mine := create(t, h, "kill -9 $RUNNER; while kill -0 $RUNNER 2>/dev/null; do sleep 0.01; done; echo behind; sleep 300")
	follow(t, h, mine.Session.ID, 0, spoke(mine.Turns[0].ID))
	if turn := plays(t, h, "echo well"); turn.Status != fold.Completed || spoken(turn) != "well" {
		t.Errorf("a turn behind its end: %s %q %v", turn.Status, spoken(turn), turn.End.Failure)
	}
	if f := toTheEnd(t, h, mine.Session.ID, mine.Turns[0].ID).End.Failure; f == nil || !strings.Contains(f.Message, "SIGKILL") {
		t.Errorf("the turn that it served: %v", f)
	}
}

// A process that ends before it is ready has taken nothing of its turns: another is
// started for them.
func TestRunnerThatStumblesAtItsStart(t *testing.T) {
	t.Parallel()
	flag := filepath.Join(t.TempDir(), "flag")
	h, _ := onStage(t, troupe{threads: 4, start: "[ -e " + flag + " ] || { : >" + flag + "; exit 7; }\n"}, nil)
	if turn := plays(t, h, "echo well"); turn.Status != fold.Completed || spoken(turn) != "well" {
		t.Errorf("%s %q %v", turn.Status, spoken(turn), turn.End.Failure)
	}
}

func TestRunnerThatCannotServe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adapter troupe
		code    event.Code
		words   string
	}{
		"is not there":   {troupe{script: script{binary: "/nowhere/at/all"}}, event.RuntimeNotInstalled, "install"},
		"ends at once":   {troupe{start: "echo no license >&2; exit 7\n"}, event.CLICrashed, "no license"},
		"is never ready": {troupe{unready: true}, event.CLICrashed, "not ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := onStage(t, c.adapter, func(l *actors.Limits) { l.Runners.Start = 200 * time.Millisecond })
			n := &spec.NewSession{Agent: spec.Agent{Adapter: "script", Model: "script"}, Input: input("echo hi")}
			p, err := h.CreateSession(ctx(t), "alice", n)
			f, _ := event.AsFailure(err)
			if err == nil {
				f = toTheEnd(t, h, p.Session.ID, p.Turns[0].ID).End.Failure
			}
			if f == nil || f.Code != c.code || !strings.Contains(f.Message, c.words) {
				t.Errorf("failure %v", f)
			}
			eventually(t, "what was started is swept", func() bool { return h.Stats().Trees == 0 })
		})
	}
}

// A cancelled turn's tools are ended and the runner serves the others on.
func TestCancelLeavesTheRunner(t *testing.T) {
	t.Parallel()
	h, dir := onStage(t, troupe{threads: 4}, nil)
	other := create(t, h, "echo on; sleep 0.7; echo off")
	p := create(t, h, "echo mine; setsid sleep 301 & sleep 302")
	follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	cancelSession(t, h, p.Session.ID)
	if turn := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID); turn.Status != fold.Cancelled || spoken(turn) != "mine" {
		t.Errorf("turn %s %q", turn.Status, spoken(turn))
	}
	next := toTheEnd(t, h, p.Session.ID, send(t, h, p.Session.ID, "echo $RUNNER").ID)
	if next.Status != fold.Completed {
		t.Errorf("the next turn is %s", next.Status)
	}
	for _, line := range alive(t, dir) {
		if strings.Contains(line, "sleep 30") {
			t.Errorf("left: %s", line)
		}
	}
	if turn := toTheEnd(t, h, other.Session.ID, other.Turns[0].ID); turn.Status != fold.Completed || spoken(turn) != "on\noff" {
		t.Errorf("the other turn: %s %q", turn.Status, spoken(turn))
	}
	if n := h.Stats().Runners; n != 1 {
		t.Errorf("%d runners", n)
	}
}

// A runner that does not let go of a cancelled turn is ended.
func TestCancelOfADeafRunner(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 4, deaf: true}, func(l *actors.Limits) { l.InterruptGrace = 100 * time.Millisecond })
	other := create(t, h, "echo on; sleep 300")
	p := create(t, h, "echo mine; sleep 300")
	for _, one := range []*fold.Posted{other, p} {
		follow(t, h, one.Session.ID, 0, spoke(one.Turns[0].ID))
	}
	cancelSession(t, h, p.Session.ID)
	if turn := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID); turn.Status != fold.Cancelled {
		t.Errorf("the turn is %s", turn.Status)
	}
	turn := toTheEnd(t, h, other.Session.ID, other.Turns[0].ID)
	if f := turn.End.Failure; turn.Status != fold.Failed || !strings.Contains(f.Message, "did not let go") {
		t.Errorf("the other turn: %s %v", turn.Status, f)
	}
}

func TestRunnersAreNotSharedAcrossPrincipalsAndPermissions(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 16}, nil)
	pids := map[string]string{}
	for _, c := range []struct {
		owner string
		agent spec.Agent
	}{
		{"alice", spec.Agent{}},
		{"bob", spec.Agent{}},
		{"alice", spec.Agent{Permissions: spec.ReadOnly}},
		{"alice", spec.Agent{Env: map[string]string{"TEAM": "red"}}},
		{"alice", spec.Agent{Instructions: "what the adapter keeps apart"}},
		{"alice", spec.Agent{Instructions: "alone"}},
		{"alice", spec.Agent{Instructions: "alone"}},
	} {
		c.agent.Adapter, c.agent.Model = "script", "script"
		p, err := h.CreateSession(ctx(t), c.owner, &spec.NewSession{Agent: c.agent, Input: input("echo $RUNNER")})
		if err != nil {
			t.Fatal(err)
		}
		var turn *fold.Turn
		eventually(t, "the turn ended", func() bool {
			turn, err = h.Turn(ctx(t), c.owner, p.Turns[0].ID)
			return err == nil && turn.Status.Ended()
		})
		who := fmt.Sprintf("%s %v", c.owner, c.agent)
		if before, taken := pids[spoken(turn)]; taken || spoken(turn) == "" {
			t.Errorf("%s was served by the runner of %s", who, before)
		}
		pids[spoken(turn)] = who
	}
}

// A runner is replaced after its turns, ends when it has none, and serves one session
// only if it is bound.
func TestRunnersComeAndGo(t *testing.T) {
	t.Parallel()
	t.Run("after turns", func(t *testing.T) {
		t.Parallel()
		h, _ := onStage(t, troupe{threads: 4}, func(l *actors.Limits) { l.Runners.Turns = 2 })
		var pids []string
		for range 5 {
			pids = append(pids, spoken(plays(t, h, "echo $RUNNER")))
		}
		if pids[0] != pids[1] || pids[1] == pids[2] || pids[2] != pids[3] || pids[3] == pids[4] {
			t.Errorf("runners %v", pids)
		}
		eventually(t, "the replaced ones are gone", func() bool { return h.Stats().Trees == 1 })
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		h, dir := onStage(t, troupe{threads: 4}, func(l *actors.Limits) { l.Runners.Idle = 50 * time.Millisecond })
		if turn := plays(t, h, "echo hi"); turn.Status != fold.Completed {
			t.Errorf("the turn is %s", turn.Status)
		}
		eventually(t, "it is gone", func() bool { return h.Stats().Runners == 0 })
		nothingLeft(t, h, dir)
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		h, _ := onStage(t, troupe{threads: 4}, func(l *actors.Limits) { l.Runners.Memory = 1 })
		plays(t, h, "echo hi")
		eventually(t, "it is gone", func() bool { return h.Stats().Runners == 0 })
	})
	t.Run("bound", func(t *testing.T) {
		t.Parallel()
		h, _ := onStage(t, troupe{bound: true}, nil)
		p := create(t, h, "echo '#session s-1'; echo $RUNNER")
		first := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)
		if other := plays(t, h, "echo $RUNNER"); spoken(other) == spoken(first) {
			t.Error("another session was served by the same runner")
		}
		if again := toTheEnd(t, h, p.Session.ID, send(t, h, p.Session.ID, "echo $RUNNER").ID); spoken(again) != spoken(first) {
			t.Errorf("the session was served by %s, then by %s", spoken(first), spoken(again))
		}
	})
	t.Run("bound, and its session elsewhere meanwhile", func(t *testing.T) {
		t.Parallel()
		h, _ := onStage(t, troupe{bound: true}, func(l *actors.Limits) { l.Runners.Idle = time.Hour })
		p := create(t, h, "echo '#session s-1'; echo $RUNNER")
		seen := map[string]bool{spoken(toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)): true}
		for i, model := range []string{"other", "script"} {
			if _, err := h.UpdateSession(ctx(t), "alice", p.Session.ID, &spec.Update{Model: &model}); err != nil {
				t.Fatal(err)
			}
			seen[spoken(toTheEnd(t, h, p.Session.ID, send(t, h, p.Session.ID, "echo $RUNNER").ID))] = true
			if len(seen) != i+2 {
				t.Errorf("the turn with model %s was served by a runner that knew less of the session", model)
			}
		}
		eventually(t, "the others are gone", func() bool { return h.Stats().Trees == 1 })
	})
	t.Run("a session comes back to the one that served it", func(t *testing.T) {
		t.Parallel()
		h, _ := onStage(t, troupe{threads: 1}, func(l *actors.Limits) { l.Runners.Idle = time.Hour })
		gate := filepath.Join(t.TempDir(), "gate")
		first := create(t, h, "echo $RUNNER; until [ -e "+gate+" ]; do sleep 0.01; done")
		second := create(t, h, "echo $RUNNER")
		was := spoken(toTheEnd(t, h, second.Session.ID, second.Turns[0].ID))
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if other := spoken(toTheEnd(t, h, first.Session.ID, first.Turns[0].ID)); other == was {
			t.Fatal("both were served by one")
		}
		for range 2 {
			if now := spoken(toTheEnd(t, h, second.Session.ID, send(t, h, second.Session.ID, "echo $RUNNER").ID)); now != was {
				t.Errorf("the session was served by %s, then by %s", was, now)
			}
		}
	})
	t.Run("too many idle", func(t *testing.T) {
		t.Parallel()
		h, _ := onStage(t, troupe{bound: true}, func(l *actors.Limits) { l.Runners.MaxIdle = 2 })
		for range 4 {
			plays(t, h, "echo hi")
		}
		eventually(t, "the oldest are gone", func() bool { return h.Stats().Trees == 2 })
	})
}

// A runner that asks for permission is told what the caller says.
func TestRunnerAsks(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 4}, nil)
	for _, approve := range []bool{true, false} {
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{
			Agent: spec.Agent{Adapter: "script", Model: "script", Permissions: spec.Ask},
			Input: input("echo '#ask rm'; read -r answer; echo told $answer"),
		})
		if err != nil {
			t.Fatal(err)
		}
		turn := p.Turns[0].ID
		got := follow(t, h, p.Session.ID, 0, func(ev event.Event) bool { return ev.Kind == event.TurnWaiting })
		var asked *event.Item
		for _, ev := range got {
			if it, ok := ev.Body.(*event.Item); ok && it.Type == event.Approval {
				asked = it
			}
		}
		if asked == nil || asked.Tool != "rm" || asked.Server != "script" {
			t.Fatalf("asked: %+v in %s", asked, kinds(got))
		}
		if _, err := h.Post(ctx(t), "alice", p.Session.ID, []spec.Action{{Answer: &spec.Answer{Item: asked.ID, Permission: true, Approve: approve, Reason: "because"}}}, nil); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "told yes", false: "told no because"}[approve]
		if back := toTheEnd(t, h, p.Session.ID, turn); back.Status != fold.Completed || spoken(back) != want {
			t.Errorf("turn %s %q, want %q", back.Status, spoken(back), want)
		}
	}
}

// One turn that talks faster than it is stored holds up nobody for good, and loses
// nothing.
func TestRunnerThatIsFlooded(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 4}, nil)
	flood := create(t, h, "seq 1 60000")
	if turn := plays(t, h, "echo small"); spoken(turn) != "small" {
		t.Errorf("the small turn: %s %q", turn.Status, spoken(turn))
	}
	turn := toTheEnd(t, h, flood.Session.ID, flood.Turns[0].ID)
	if lines := strings.Count(spoken(turn), "\n") + 1; turn.Status != fold.Completed || lines != 60000 {
		t.Errorf("turn %s with %d lines", turn.Status, lines)
	}
}

func TestTurnOfARunnerHasItsOutputLimit(t *testing.T) {
	t.Parallel()
	h, _ := onStage(t, troupe{threads: 4}, func(l *actors.Limits) { l.MaxOutputBytes = 100 << 10 })
	for range 2 { // it is each turn's, not the runner's
		if turn := plays(t, h, "seq 1 1000"); turn.Status != fold.Completed {
			t.Errorf("a turn within the limit is %s: %v", turn.Status, turn.End.Failure)
		}
	}
	if turn := plays(t, h, "yes"); turn.Status != fold.Failed || turn.End.Failure.Code != event.OutputLimit {
		t.Errorf("turn %s %v", turn.Status, turn.End.Failure)
	}
}

// Stopping the host ends runners, busy or not.
func TestStopEndsRunners(t *testing.T) {
	t.Parallel()
	h, dir := onStage(t, troupe{threads: 1}, nil)
	plays(t, h, "echo idle now")
	p := create(t, h, "echo on; setsid sleep 300 & sleep 300")
	follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	c, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_ = h.Stop(c)
	if left := alive(t, dir); len(left) > 0 {
		t.Errorf("alive: %q", left)
	}
	if n := h.Stats().Runners; n != 0 {
		t.Errorf("%d runners", n)
	}
}

// auto takes runners for certified versions only.
func TestDriverIsSaid(t *testing.T) {
	t.Parallel()
	for driver, want := range map[actors.Driver]string{"": "exec", actors.DriverExec: "exec", actors.DriverPersistent: "persistent"} {
		h, err := actors.New(actors.WithStateDir(t.TempDir()), actors.WithRuntime(actors.RuntimeConfig{Adapter: troupe{}, Driver: driver}))
		if err != nil {
			t.Fatal(err)
		}
		if r := h.Runtimes(ctx(t))[0]; r.Driver != want || r.DriverWhy == "" {
			t.Errorf("driver %q is %s because %q", driver, r.Driver, r.DriverWhy)
		}
	}
	for driver, want := range map[actors.Driver]string{"": "persistent", actors.DriverAuto: "persistent", actors.DriverPersistent: "persistent", actors.DriverExec: "exec"} {
		h, err := actors.New(actors.WithStateDir(t.TempDir()), actors.WithRuntime(actors.RuntimeConfig{Adapter: soloists{}, Driver: driver}))
		if err != nil {
			t.Fatal(err)
		}
		if r := h.Runtimes(ctx(t))[0]; r.Driver != want {
			t.Errorf("without another driver, %q is %s", driver, r.Driver)
		}
	}
	if _, err := actors.New(actors.WithStateDir(t.TempDir()), actors.WithRuntime(actors.RuntimeConfig{Adapter: script{}, Driver: actors.DriverPersistent})); err == nil {
		t.Error("an adapter without runners was taken for one with")
	}
}

// A turn's actor panics: its part of the runner is ended, the others go on.
func TestPanickingTurnOfARunner(t *testing.T) {
	t.Parallel()
	h, dir := onStage(t, troupe{threads: 4}, nil)
	p := create(t, h, "echo on; setsid sleep 303 & sleep 304")
	follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	actors.CrashTurns(h)
	if turn := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID); turn.Status != fold.Failed {
		t.Errorf("the turn is %s", turn.Status)
	}
	if next := toTheEnd(t, h, p.Session.ID, send(t, h, p.Session.ID, "echo well").ID); spoken(next) != "well" {
		t.Errorf("the next turn: %s %q", next.Status, spoken(next))
	}
	eventually(t, "its tools are gone", func() bool {
		for _, line := range alive(t, dir) {
			if strings.Contains(line, "sleep 30") {
				return false
			}
		}
		return true
	})
	if s := h.Stats(); s.Runners != 1 {
		t.Errorf("%d runners", s.Runners)
	}
}

// Runners are killed at any moment of their turns: each accepted input runs at most
// once and ends exactly once, and nothing lives on.
func TestRunnersKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	const sessions, turns = 6, 8
	h, dir := onStage(t, troupe{threads: 3}, nil)
	log := filepath.Join(t.TempDir(), "log")
	dice := rand.New(rand.NewPCG(7, 11))
	posted := map[event.ID][]event.ID{}
	var order []event.ID
	for s := range sessions {
		id := create(t, h, "").Session.ID
		order = append(order, id)
		for n := range turns {
			prompt := fmt.Sprintf("echo %d.%d >>%s; echo on", s, n, log)
			if dice.IntN(4) == 0 {
				prompt += fmt.Sprintf("; setsid sleep 300 & sleep 0.%03d; kill -9 $RUNNER", dice.IntN(60))
			}
			prompt += fmt.Sprintf("; sleep 0.%03d; echo off", dice.IntN(60))
			posted[id] = append(posted[id], send(t, h, id, prompt).ID)
		}
	}
	failed := 0
	for _, id := range order {
		list := posted[id]
		got := judgeEnds(t, h, id, ended(list[len(list)-1]))
		for _, turn := range list {
			switch got[turn] {
			case event.Completed:
			case event.Failed:
				failed++
			default:
				t.Errorf("turn %s ended %v", turn, got[turn])
			}
		}
	}
	if failed == 0 || failed == sessions*turns {
		t.Errorf("%d of %d turns failed", failed, sessions*turns)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, line := range strings.Fields(string(text)) {
		if seen[line]++; seen[line] > 1 {
			t.Errorf("%s ran twice", line)
		}
	}
	eventually(t, "what the tools left is gone", func() bool {
		for _, line := range alive(t, dir) {
			if strings.Contains(line, "sleep 300") {
				return false
			}
		}
		return true
	})
}
