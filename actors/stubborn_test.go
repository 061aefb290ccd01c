package actors_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// CLIs that do not end as they should. Each turn is followed by an ordinary one,
// and nothing of either is left.
func TestUnrulyCLIs(t *testing.T) {
	t.Parallel()
	stdin := func(_ *agent.Request, inv *agent.Invocation) { inv.Stdin = make([]byte, 2<<20) }
	for name, c := range map[string]struct {
		prompt  string
		limits  func(*actors.Limits)
		adapter script
		cancel  bool // once it spoke
		outcome event.Outcome
		code    event.Code
		says    string // in the failure, or in the answer
	}{
		"ignores INT and TERM": {
			prompt: "trap '' INT TERM; echo on; while :; do sleep 1; done", cancel: true, outcome: event.Cancelled,
		},
		"tool shell called setsid": {
			prompt: "setsid sh -c 'trap \"\" INT TERM HUP; sleep 300' & echo on; sleep 300", cancel: true, outcome: event.Cancelled,
		},
		"background child holds stdout": {
			prompt: "echo hi; sleep 300 & exit 0", outcome: event.Completed, says: "hi",
		},
		"exits before reading": {
			prompt: "echo no such model >&2; exit 3", adapter: script{invocation: stdin}, outcome: event.Failed, code: event.CLICrashed, says: "no such model",
		},
		"closes stdin and answers": {
			prompt: "exec <&-; echo hi; echo '#final'", adapter: script{invocation: stdin}, outcome: event.Completed, says: "hi",
		},
		"lingers after its verdict": {
			prompt: "echo hi; echo '#final'; sleep 300", outcome: event.Completed, says: "hi",
		},
		"lingers after a tentative verdict": {
			prompt: "echo hi; echo '#tentative'; sleep 300", outcome: event.Completed, says: "hi",
		},
		"is killed after its verdict": {
			prompt: "echo hi; echo '#final'; kill -9 $$", outcome: event.Completed, says: "hi",
		},
		"is killed": {
			prompt: "echo hi; kill -9 $$", outcome: event.Failed, code: event.CLICrashed,
		},
		"falls silent": {
			prompt: "echo on; sleep 300", limits: func(l *actors.Limits) { l.IdleTimeout = 100 * time.Millisecond },
			outcome: event.Failed, code: event.IdleTimeout,
		},
		"has a silent tool": {
			prompt:  "echo '#tool make'; sleep 0.5; echo '#tooldone make'; echo hi; echo '#final'",
			limits:  func(l *actors.Limits) { l.IdleTimeout = 100 * time.Millisecond },
			outcome: event.Completed, says: "hi",
		},
		"never ends": {
			prompt: "echo '#tool make'; while :; do echo on; sleep 0.01; done", limits: func(l *actors.Limits) { l.TurnTimeout = 200 * time.Millisecond },
			outcome: event.Failed, code: event.TurnTimeout, says: "make",
		},
		"says too much": {
			prompt: "while :; do echo 0123456789012345678901234567890123456789; done", limits: func(l *actors.Limits) { l.MaxOutputBytes = 100 << 10 },
			outcome: event.Failed, code: event.OutputLimit,
		},
		"has a line that is too long": {
			prompt: "echo before; head -c 100000 /dev/zero | tr '\\0' x; echo; echo after; echo '#final'", limits: func(l *actors.Limits) { l.MaxLineBytes = 64 << 10 },
			outcome: event.Completed, says: "before\nafter",
		},
		"floods stderr": {
			prompt: "head -c 1000000 /dev/zero | tr '\\0' e >&2; echo hi; echo '#final'", outcome: event.Completed, says: "hi",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, l := t.TempDir(), quick()
			if c.limits != nil {
				c.limits(&l)
			}
			h := startedIn(t, dir, l, memory.New(), with(c.adapter))
			p := create(t, h, c.prompt)
			ses, turn := p.Session.ID, p.Turns[0].ID
			if c.cancel {
				follow(t, h, ses, 0, spoke(turn))
				cancelSession(t, h, ses)
			}
			end := outcome(t, follow(t, h, ses, 0, ended(turn)))
			if end.Outcome != c.outcome {
				t.Errorf("end = %+v %v, want %s", end, end.Failure, c.outcome)
			}
			back, err := h.Turn(ctx(t), "alice", turn)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, it := range back.Items {
				said += it.Text
			}
			if end.Failure != nil {
				said += end.Failure.Error()
			}
			if end.Failure == nil && c.code != "" || end.Failure != nil && end.Failure.Code != c.code || !strings.Contains(said, c.says) {
				t.Errorf("it said %q, want code %q and %q", said, c.code, c.says)
			}
			next := send(t, h, ses, "echo next; echo '#final'").ID
			if got := judgeEnds(t, h, ses, ended(next)); got[next] != event.Completed {
				t.Errorf("the next turn ended %s", got[next])
			}
			nothingLeft(t, h, dir)
		})
	}
}

// A CLI that lingers is given less time when the session has more to do.
func TestLingererIsHurried(t *testing.T) {
	t.Parallel()
	l := quick()
	l.Linger = time.Hour
	h := started(t, l, memory.New())
	p := create(t, h, "echo hi; echo '#final'; sleep 300")
	follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))
	// The first is hurried by what comes, the second by what is there already.
	send(t, h, p.Session.ID, "echo next; echo '#final'; sleep 300")
	last := send(t, h, p.Session.ID, "echo last; echo '#final'")
	follow(t, h, p.Session.ID, 0, ended(last.ID))
}

// What cannot be started fails its turn once, with a code; the same session works
// after the repair.
func TestUnstartableCLIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, binary, workspace string)
		code  event.Code
	}{
		"binary missing":        {func(t *testing.T, binary, _ string) { must(t, os.Remove(binary)) }, event.RuntimeNotInstalled},
		"binary not executable": {func(t *testing.T, binary, _ string) { must(t, os.Chmod(binary, 0o600)) }, event.RuntimeNotInstalled},
		"binary is a directory": {func(t *testing.T, binary, _ string) { must(t, os.Remove(binary)); must(t, os.Mkdir(binary, 0o700)) }, event.RuntimeNotInstalled},
		"interpreter missing": {func(t *testing.T, binary, _ string) {
			must(t, os.WriteFile(binary, []byte("#!/no/such/interpreter\n"), 0o700))
		}, event.RuntimeNotInstalled},
		"workspace gone": {func(t *testing.T, _, workspace string) { must(t, os.Remove(workspace)) }, event.WorkspaceUnavail},
		"workspace is a file": {func(t *testing.T, _, workspace string) {
			must(t, os.Remove(workspace))
			must(t, os.WriteFile(workspace, nil, 0o600))
		}, event.WorkspaceUnavail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, gate := t.TempDir(), gateIn(t)
			binary, workspace := filepath.Join(t.TempDir(), "cli"), filepath.Join(t.TempDir(), "work")
			repair := func() {
				_ = os.Remove(binary)
				_ = os.Remove(workspace)
				must(t, os.Mkdir(workspace, 0o700))
				must(t, os.WriteFile(binary, []byte("#!/bin/sh\nexec sh \"$@\"\n"), 0o700))
			}
			repair()
			h := startedIn(t, dir, quick(), memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: script{}, Binary: binary}))
			n := &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Environment: spec.Environment{Workspace: workspace}, Input: input(blocker(gate))}
			p, err := h.CreateSession(ctx(t), "alice", n)
			if err != nil {
				t.Fatal(err)
			}
			ses := p.Session.ID
			follow(t, h, ses, 0, spoke(p.Turns[0].ID))
			// Accepted while all was well, started when it is not.
			turn := send(t, h, ses, "echo never").ID
			c.spoil(t, binary, workspace)
			openGate(t, gate)
			end := outcome(t, follow(t, h, ses, 0, ended(turn)))
			if end.Outcome != event.Failed || end.Failure.Code != c.code {
				t.Errorf("end = %+v %v, want %s", end, end.Failure, c.code)
			}
			repair()
			next := send(t, h, ses, "echo works").ID
			if got := judgeEnds(t, h, ses, ended(next)); got[next] != event.Completed || len(got) != 3 {
				t.Errorf("after the repair: %v", got)
			}
			nothingLeft(t, h, dir)
		})
	}
}

// A program that is not there when the input comes refuses it.
func TestInputForAMissingCLIIsRefused(t *testing.T) {
	t.Parallel()
	h := started(t, quick(), memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: script{}, Binary: "/no/such/cli"}))
	_, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("echo")})
	if event.CodeOf(err) != event.RuntimeNotInstalled || !strings.HasSuffix(err.Error(), "; install it or set agents.script.binary") {
		t.Errorf("create: %v", err)
	}
	told := started(t, quick(), memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: script{}, Binary: "/no/such/cli", Remedy: "install it with: get cli"}))
	if _, err := told.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: spec.Agent{Adapter: "script"}, Input: input("echo")}); err == nil || !strings.HasSuffix(err.Error(), "; install it with: get cli") {
		t.Errorf("with a remedy: %v", err)
	}
	if list, _, err := h.Sessions(ctx(t), "alice", spec.SessionQuery{}, spec.Page{Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("a refused create left %d sessions (%v)", len(list), err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Twenty CLIs at once leave a child behind that holds stdout; four slots.
func TestOrphansKeepNoSlot(t *testing.T) {
	t.Parallel()
	dir, l := t.TempDir(), quick()
	l.MaxConcurrentTurns, l.Linger = 4, time.Hour
	h := startedIn(t, dir, l, memory.New())
	var turns []*actors.Posted
	for i := range 20 {
		turns = append(turns, create(t, h, fmt.Sprintf("echo %d; echo '#final'; sleep 300 & exit 0", i)))
	}
	for _, p := range turns {
		if end := outcome(t, follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID))); end.Outcome != event.Completed {
			t.Errorf("end %+v", end)
		}
	}
	nothingLeft(t, h, dir)
	eventually(t, "an orphan is counted", func() bool { return h.Stats().OrphansReaped > 0 })
}
