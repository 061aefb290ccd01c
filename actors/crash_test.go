package actors_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

const victimVar = "ACTORS_TEST_VICTIM"

// victim is a server that is killed: one turn runs and talks, three inputs wait.
// It writes its session's id, then every frame it streams.
func victim(dir string) int {
	fail := func(err error) int { fmt.Fprintln(os.Stderr, err); return 1 }
	st, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		return fail(err)
	}
	h, err := actors.New(actors.WithStateDir(dir), actors.WithStore(st), with(script{}))
	if err != nil {
		return fail(err)
	}
	c := context.Background()
	if err := h.Start(c); err != nil {
		return fail(err)
	}
	log := filepath.Join(dir, "log")
	p, err := h.CreateSession(c, "alice", &spec.NewSession{
		Agent: spec.Agent{Adapter: "script"},
		Input: input(fmt.Sprintf("echo 1 >>%s; setsid sleep 300 & while :; do echo on; sleep 0.002; done", log)),
	})
	if err != nil {
		return fail(err)
	}
	for i := range 3 {
		if _, err := h.Post(c, "alice", p.Session.ID, []spec.Action{{Input: input(fmt.Sprintf("echo %d >>%s", i+2, log))}}, nil); err != nil {
			return fail(err)
		}
	}
	fmt.Println(p.Session.ID)
	sub, err := h.Subscribe(c, "alice", p.Session.ID, 0)
	if err != nil {
		return fail(err)
	}
	r := &reader{sub: sub, w: os.Stdout}
	for {
		wake, _, err := r.next()
		if err != nil {
			return fail(err)
		}
		if wake != nil {
			<-wake
		}
	}
}

// The server is killed with SIGKILL in the middle of a turn. Its successor fails
// that turn, runs the three that waited in order, and replays to the byte what a
// client saw before; the old CLI is dead.
//
//cases:118
func TestKilledServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(ctx(t), exe)
	cmd.Env = append(os.Environ(), victimVar+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	in := bufio.NewReaderSize(out, 1<<20)
	line, err := in.ReadString('\n')
	must(t, err)
	ses, ok := event.ParseHex(strings.TrimSpace(line))
	if !ok {
		t.Fatalf("the server said %q", line)
	}
	var seen bytes.Buffer
	for range 300 {
		line, err := in.ReadBytes('\n')
		must(t, err)
		seen.Write(line)
	}
	must(t, cmd.Process.Kill())
	rest, _ := io.ReadAll(in) // what it had written when it died
	if i := bytes.LastIndexByte(rest, '\n'); i >= 0 {
		seen.Write(rest[:i+1])
	}
	_ = cmd.Wait() // killed, as asked
	if len(alive(t, dir)) == 0 {
		t.Error("the CLI of the killed server should still be there")
	}

	st, err := sqlite.Open(dir, sqlite.Options{})
	must(t, err)
	h := startedIn(t, dir, quick(), st)
	turns, _, err := h.Turns(ctx(t), "alice", ses, spec.Page{})
	if err != nil || len(turns) != 4 {
		t.Fatalf("%d turns, want 4 (%v)", len(turns), err)
	}
	got := judgeEnds(t, h, ses, ended(turns[3].ID))
	for i, turn := range turns {
		if want := map[bool]event.Outcome{true: event.Failed, false: event.Completed}[i == 0]; got[turn.ID] != want {
			t.Errorf("turn %d ended %s, want %s", i, got[turn.ID], want)
		}
	}
	first, err := h.Turn(ctx(t), "alice", turns[0].ID)
	if err != nil || first.End.Failure.Code != event.ServerRestarted {
		t.Errorf("the running turn: %+v, %v", first, err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil || string(log) != "1\n2\n3\n4\n" {
		t.Errorf("the CLIs ran in the order %q (%v)", log, err)
	}
	replayed, err := bytesAfter(t, h, ses, 0, headOf(t, h, ses))
	if err != nil || !bytes.HasPrefix(replayed, seen.Bytes()) {
		t.Errorf("the replay does not begin with the %d bytes seen before (%v)", seen.Len(), err)
	}
	nothingLeft(t, h, dir)
}

// restarting are the stores a host can be dropped on; next gives the successor's.
func restarting(t *testing.T) map[string]func(dir string) (st store.Store, next func() (store.Store, string)) {
	return map[string]func(string) (store.Store, func() (store.Store, string)){
		"memory": func(dir string) (store.Store, func() (store.Store, string)) {
			m := memory.New()
			return m, func() (store.Store, string) { return m.Reopen(), dir }
		},
		"sqlite": func(dir string) (store.Store, func() (store.Store, string)) {
			open := func(dir string) store.Store {
				st, err := sqlite.Open(dir, sqlite.Options{})
				must(t, err)
				return st
			}
			return open(dir), func() (store.Store, string) {
				// What the disk holds at this moment, as a crash would leave it. The new
				// directory keeps the old one's identity.
				to := t.TempDir()
				for _, f := range []string{"id", "store.db-wal", "store.db"} {
					b, err := os.ReadFile(filepath.Join(dir, f))
					must(t, err)
					must(t, os.WriteFile(filepath.Join(to, f), b, 0o600))
				}
				return open(to), to
			}
		},
	}
}

// A host is dropped while a turn runs and three wait in one session, and while
// another session waits for a slot.
func TestDroppedHost(t *testing.T) {
	t.Parallel()
	for name, open := range restarting(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, log := t.TempDir(), t.TempDir()+"/log"
			l := quick()
			l.MaxConcurrentTurns = 1
			st, next := open(dir)
			old := dropped(t, dir, l, st)
			p := create(t, old, "echo one; sleep 300")
			ses, running := p.Session.ID, p.Turns[0].ID
			follow(t, old, ses, 0, spoke(running))
			var turns []*fold.Turn
			for i := range 3 {
				turns = append(turns, send(t, old, ses, fmt.Sprintf("echo %d >>%s", i, log)))
			}
			other := create(t, old, "echo other >>"+log)
			cancelled := send(t, old, ses, "echo never >>"+log)
			_, err := old.CancelTurn(ctx(t), "alice", cancelled.ID)
			must(t, err)
			follow(t, old, ses, 0, ended(cancelled.ID))
			head := headOf(t, old, ses)
			before, err := bytesAfter(t, old, ses, 0, head)
			must(t, err)

			successor, dir := next()
			if name == "sqlite" { // the copy is the crash; the original goes its own way
				over, cancel := context.WithCancel(ctx(t))
				cancel()
				must(t, old.Stop(over))
			}
			h := startedIn(t, dir, l, successor)
			got := judgeEnds(t, h, ses, ended(turns[2].ID))
			if got[running] != event.Failed || got[turns[0].ID] != event.Completed || got[cancelled.ID] != event.Cancelled || len(got) != 5 {
				t.Errorf("outcomes %v", got)
			}
			if end := outcome(t, follow(t, h, other.Session.ID, 0, ended(other.Turns[0].ID))); end.Outcome != event.Completed {
				t.Errorf("the other session's turn: %+v %v", end, end.Failure)
			}
			if raw, err := os.ReadFile(log); err != nil || strings.ReplaceAll(string(raw), "other\n", "") != "0\n1\n2\n" || len(raw) != 12 {
				t.Errorf("ran %q (%v)", raw, err)
			}
			replayed, err := bytesAfter(t, h, ses, 0, headOf(t, h, ses))
			if err != nil || !bytes.HasPrefix(replayed, before) {
				t.Errorf("the replay does not begin with what was seen (%v)", err)
			}
			more := send(t, h, ses, "echo more")
			if more.Ordinal != 6 || more.Input.Number <= other.Turns[0].Input.Number {
				t.Errorf("a turn after the restart: %+v, %+v", more, more.Input)
			}
			follow(t, h, ses, 0, ended(more.ID))
			nothingLeft(t, h, dir)
			must(t, old.Stop(ctx(t)))
		})
	}
}
