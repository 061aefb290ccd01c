package actors_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
)

// Runners are killed, stopped and garbled at random moments by somebody else. Each
// accepted input runs at most once as a turn or is part of one, each turn ends once,
// those at other runners notice nothing, and nothing lives on.
func TestRunnersDisturbedAtAnyMoment(t *testing.T) {
	t.Parallel()
	const sessions, inputs, blows = 5, 7, 14
	h, dir := onStage(t, troupe{threads: 3, steers: true}, func(l *actors.Limits) { l.Runners.Ping = 100 * time.Millisecond })
	room := t.TempDir()
	log, pids := filepath.Join(room, "log"), filepath.Join(room, "pids")
	dice := rand.New(rand.NewPCG(5, 169))
	work := func(tag, into string) string {
		return fmt.Sprintf("echo %s >>%s; echo $RUNNER >>%s; echo on; sleep 0.%03d; echo off", tag, log, into, 20+dice.IntN(90))
	}
	type asked struct {
		owner   string
		session event.ID
		tag     string
		steer   bool
	}
	var all []asked
	var ids []event.ID
	for s := range sessions + 1 {
		owner := "alice"
		if s == sessions {
			owner = "bob" // at runners of his own
		}
		p, err := h.CreateSession(ctx(t), owner, &spec.NewSession{Agent: spec.Agent{Adapter: "script", Model: "script"}})
		must(t, err)
		ids = append(ids, p.Session.ID)
	}
	// The inputs of all sessions, one by one; meanwhile somebody strikes at alice's
	// runners.
	done := make(chan struct{})
	var strikes sync.WaitGroup
	hand := rand.New(rand.NewPCG(11, 169))
	struck := 0
	strikes.Go(func() {
		tick := time.NewTicker(15 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			text, _ := os.ReadFile(pids)
			seen := strings.Fields(string(text))
			if len(seen) == 0 || struck == blows || hand.IntN(4) > 0 {
				continue
			}
			pid, err := strconv.Atoi(seen[len(seen)-1])
			if err != nil || !ours(pid, dir) {
				continue
			}
			struck++
			switch hand.IntN(3) {
			case 0:
				_ = syscall.Kill(pid, syscall.SIGKILL)
			case 1:
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			default: // another tongue
				if f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", pid), os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
					_, _ = f.WriteString("- gibberish\n")
					_ = f.Close()
				}
			}
		}
	})
	for n := range inputs {
		for s, id := range ids {
			a := asked{owner: "alice", session: id, tag: fmt.Sprintf("t%d.%d", s, n), steer: dice.IntN(3) == 0}
			in := input(work(a.tag, pids))
			if s == sessions {
				a.owner, in = "bob", input(work(a.tag, filepath.Join(room, "bobs")))
			}
			if in.Wire = "agents"; a.steer {
				in.OnBusy = spec.Steer
			}
			_, err := h.Post(ctx(t), a.owner, id, []spec.Action{{Input: in}}, nil)
			if f, ok := event.AsFailure(err); ok && a.steer && f.Code == event.SteerRefused {
				in.OnBusy = spec.Queue // to a turn whose runner was just struck
				_, err = h.Post(ctx(t), a.owner, id, []spec.Action{{Input: in}}, nil)
			}
			must(t, err)
			all = append(all, a)
		}
		eventually(t, "the round has begun", func() bool {
			text, _ := os.ReadFile(log)
			return len(strings.Fields(string(text))) > n*len(ids)/2
		})
	}
	for s, id := range ids {
		owner := "alice"
		if s == sessions {
			owner = "bob"
		}
		eventually(t, "the session is idle", func() bool {
			ses, err := h.Session(ctx(t), owner, id)
			return err == nil && ses.Open == 0
		})
	}
	close(done)
	strikes.Wait()
	failed, steered := 0, 0
	for s, id := range ids {
		owner := "alice"
		if s == sessions {
			owner = "bob"
		}
		list, _, err := h.Turns(ctx(t), owner, id, spec.Page{})
		must(t, err)
		times := map[string]int{}
		for i := range list {
			turn, err := h.Turn(ctx(t), owner, list[i].ID)
			must(t, err)
			texts := []string{turn.Input.Prompt}
			for _, a := range turn.Answers {
				texts = append(texts, a.Item.Text)
				steered++
			}
			for _, text := range texts {
				times[strings.Fields(text)[1]]++
			}
			switch {
			case turn.Status == fold.Failed && owner == "alice" && turn.End.Failure.Code == event.CLICrashed:
				failed++
			case turn.Status != fold.Completed:
				t.Errorf("a turn of %s is %s: %v", owner, turn.Status, turn.End.Failure)
			}
		}
		for _, a := range all {
			if a.session == id && times[a.tag] != 1 {
				t.Errorf("input %s was taken in %d times", a.tag, times[a.tag])
			}
		}
	}
	if struck == 0 || failed == 0 || steered == 0 {
		t.Errorf("%d blows, %d failed turns, %d messages in turns", struck, failed, steered)
	}
	text, err := os.ReadFile(log)
	must(t, err)
	ran := strings.Fields(string(text))
	slices.Sort(ran)
	if once := slices.Compact(slices.Clone(ran)); len(once) != len(ran) {
		t.Errorf("some ran twice: %q", ran)
	}
	eventually(t, "nothing of the turns lives", func() bool {
		for _, line := range alive(t, dir) {
			if strings.Contains(line, "sleep") {
				return false
			}
		}
		return true
	})
}

// ours reports whether a pid is still a process of the host's.
func ours(pid int, dir string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && strings.Contains(string(env), "ROOM="+dir)
}

// A turn with limits of the machine has a runner to itself, which has them and ends
// with it.
func TestTurnWithLimitsHasARunnerToItself(t *testing.T) {
	t.Parallel()
	h, dir := onStage(t, troupe{threads: 8}, nil)
	bounded := spec.Agent{Adapter: "script", Model: "script", Limits: spec.Limits{OpenFiles: 77}}
	gate := gateIn(t)
	prompt := fmt.Sprintf("echo begun; until [ -e %s ]; do sleep 0.01; done; echo $RUNNER $(ulimit -n)", gate)
	var turns []*fold.Posted
	for range 2 {
		p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: bounded, Input: input(prompt)})
		must(t, err)
		turns = append(turns, p)
	}
	free := create(t, h, prompt)
	for _, p := range append(turns, free) {
		follow(t, h, p.Session.ID, 0, spoke(p.Turns[0].ID))
	}
	if n := h.Stats().Runners; n != 3 {
		t.Errorf("%d runners serve three turns", n)
	}
	openGate(t, gate)
	seen := map[string]bool{}
	for _, p := range turns {
		turn := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)
		words := strings.Fields(spoken(turn))
		if turn.Status != fold.Completed || len(words) != 3 || words[2] != "77" || seen[words[1]] {
			t.Errorf("turn %s %q", turn.Status, words)
			continue
		}
		seen[words[1]] = true
	}
	words := strings.Fields(spoken(toTheEnd(t, h, free.Session.ID, free.Turns[0].ID)))
	if len(words) != 3 || words[2] == "77" || seen[words[1]] {
		t.Errorf("the turn without limits: %q", words)
	}
	eventually(t, "the runners with limits are gone", func() bool { return h.Stats().Runners == 1 })
	again := toTheEnd(t, h, turns[0].Session.ID, send(t, h, turns[0].Session.ID, "echo $RUNNER").ID)
	if again.Status != fold.Completed || seen[spoken(again)] {
		t.Errorf("the next turn: %s by %q of %v", again.Status, spoken(again), seen)
	}
	killed := send(t, h, turns[0].Session.ID, "echo on; setsid sleep 300 & kill -9 $RUNNER; sleep 300").ID
	if turn := toTheEnd(t, h, turns[0].Session.ID, killed); turn.Status != fold.Failed || turn.End.Failure.Code != event.CLICrashed {
		t.Errorf("the killed turn is %s: %v", turn.Status, turn.End.Failure)
	}
	eventually(t, "nothing of it lives", func() bool {
		return !slices.ContainsFunc(alive(t, dir), func(line string) bool { return strings.Contains(line, "sleep 300") })
	})
}

// dated is a troupe whose program tells a version.
type dated struct{ troupe }

func (dated) VersionArgs() []string { return []string{"-c", "echo troupe 7.1"} }

// Driver auto takes runners for a program with a certificate, as long as it is the
// same program.
func TestCertificateHasAutoTakeRunners(t *testing.T) {
	t.Parallel()
	dir, room := t.TempDir(), t.TempDir()
	program := filepath.Join(room, "stage")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\nexec sh \"$@\"\n"), 0o700))
	runtime := func() actors.Runtime {
		h, err := actors.New(actors.WithStateDir(dir), actors.WithRuntime(actors.RuntimeConfig{Adapter: dated{troupe{threads: 2}}, Binary: program}))
		must(t, err)
		return h.Runtimes(ctx(t))[0]
	}
	if r := runtime(); r.Driver != "exec" || r.Version != "troupe 7.1" || !strings.Contains(r.DriverWhy, "adapter certify") {
		t.Errorf("without: %+v", r)
	}
	c, err := actors.CertificateOf(program, "troupe 7.1")
	must(t, err)
	other := c
	other.Version = "troupe 7.0"
	must(t, actors.Certify(dir, "script", other))
	if r := runtime(); r.Driver != "exec" {
		t.Errorf("with one of another version: %+v", r)
	}
	must(t, actors.Certify(dir, "script", c))
	if r := runtime(); r.Driver != "persistent" || !strings.Contains(r.DriverWhy, "on this machine") {
		t.Errorf("with it: %+v", r)
	}
	must(t, os.WriteFile(program, []byte("#!/bin/sh\n# another build\nexec sh \"$@\"\n"), 0o700))
	if r := runtime(); r.Driver != "exec" {
		t.Errorf("of another program: %+v", r)
	}
	must(t, os.WriteFile(filepath.Join(dir, "certified.json"), []byte("{"), 0o600))
	if r := runtime(); r.Driver != "exec" {
		t.Errorf("damaged: %+v", r)
	}
	if err := actors.Certify(dir, "script", c); err == nil || !strings.Contains(err.Error(), "certified.json") {
		t.Errorf("a damaged file is written over: %v", err)
	}
}
