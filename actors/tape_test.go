package actors_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// reel is a tape in memory.
type reel struct {
	mu    sync.Mutex
	taped actors.Taped
	said  map[actors.Pipe]string
	exit  *agent.Exit
	late  bool
}

func (r *reel) Passed(through actors.Pipe, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said[through] += string(p)
	r.late = r.late || r.exit != nil
}

func (r *reel) Ended(exit agent.Exit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exit = &exit
}

// reels hands one out for each process.
type reels struct {
	mu   sync.Mutex
	list []*reel
}

func (r *reels) start(t *actors.Taped) actors.Tape {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := &reel{taped: *t, said: map[actors.Pipe]string{}}
	r.list = append(r.list, one)
	return one
}

// only is the one tape, after the host has stopped.
func (r *reels) only(t *testing.T) *reel {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) != 1 {
		t.Fatalf("%d tapes", len(r.list))
	}
	one := r.list[0]
	if one.exit == nil || one.late {
		t.Fatalf("the tape's end: %+v, said after it: %v", one.exit, one.late)
	}
	return one
}

func TestATapeHasWhatPassedAndNoSecret(t *testing.T) {
	t.Parallel()
	const key = "sk-test-7f3a91c2d4"
	var tapes reels
	h := startedIn(t, t.TempDir(), quick(), memory.New(), actors.WithTapes(tapes.start), actors.WithRuntime(actors.RuntimeConfig{
		LLM: agent.LLM{APIKey: key},
		Adapter: script{invocation: func(r *agent.Request, inv *agent.Invocation) {
			inv.Stdin = []byte("asked with " + r.LLM.APIKey)
			inv.Args = append(inv.Args, "arg-"+r.LLM.APIKey)
			inv.Env = append(inv.Env, "PROVIDER="+r.LLM.APIKey)
		}},
	}))
	// The key comes in two pieces, a CR stays, and the last line has no end.
	p := create(t, h, `printf 'one\r\nkey sk-test-7f'; sleep 0.1; echo 3a91c2d4; printf last; echo "to stderr $PROVIDER" >&2; exit 7`)
	outcome(t, follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID)))
	stop(t, h)
	got := tapes.only(t)
	for pipe, want := range map[actors.Pipe]string{
		actors.Stdin: "asked with [redacted]", actors.Stdout: "one\r\nkey [redacted]\nlast", actors.Stderr: "to stderr [redacted]\n",
	} {
		if got.said[pipe] != want {
			t.Errorf("%s: %q, want %q", pipe, got.said[pipe], want)
		}
	}
	if got.exit.Code != 7 || got.taped.Driver != actors.DriverExec || got.taped.Adapter != "script" {
		t.Errorf("%+v, ended %+v", got.taped, got.exit)
	}
	if !slices.Contains(got.taped.Env, "PROVIDER") || slices.Contains(got.taped.Env, "AGENTHOST_OWNER") || !slices.Contains(got.taped.Args, "arg-[redacted]") {
		t.Errorf("%+v", got.taped)
	}
}

func TestATapeOfARunnerHasBothSides(t *testing.T) {
	t.Parallel()
	var tapes reels
	h := startedIn(t, t.TempDir(), quick(), memory.New(), actors.WithTapes(tapes.start), actors.WithSecrets("canary-secret-1"),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: troupe{}, Driver: actors.DriverPersistent}))
	p := create(t, h, `echo hello canary-secret-1; echo '#final'`)
	outcome(t, follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID)))
	stop(t, h)
	got := tapes.only(t)
	turn := p.Turns[0].ID.Hex()
	if asked := got.said[actors.Stdin]; !strings.Contains(asked, "ask "+turn+" echo hello [redacted]; echo '#final'\n") {
		t.Errorf("asked %q", asked)
	}
	if said := got.said[actors.Stdout]; !strings.HasPrefix(said, "- ready\n") || !strings.Contains(said, turn+" hello [redacted]\n") {
		t.Errorf("said %q", said)
	}
	if got.taped.Driver != actors.DriverPersistent {
		t.Errorf("%+v", got.taped)
	}
}

func TestATapeOfWhatDoesNotStartEnds(t *testing.T) {
	t.Parallel()
	var tapes reels
	h := startedIn(t, t.TempDir(), quick(), memory.New(), actors.WithTapes(tapes.start), actors.WithRuntime(actors.RuntimeConfig{
		Adapter: script{invocation: func(_ *agent.Request, inv *agent.Invocation) {
			inv.Env = append(inv.Env, "BIG="+strings.Repeat("x", 8<<20))
		}},
	}))
	p := create(t, h, "true")
	outcome(t, follow(t, h, p.Session.ID, 0, ended(p.Turns[0].ID)))
	stop(t, h)
	if got := tapes.only(t); got.exit.Code != -1 {
		t.Errorf("ended %+v", got.exit)
	}
}
