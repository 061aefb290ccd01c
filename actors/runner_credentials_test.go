package actors_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// keyedTroupe is a troupe whose processes know the key of their provider, as those of a
// CLI that is told of it at its start do.
type keyedTroupe struct {
	troupe
	pipe bool // it reads its key from one
}

func (a keyedTroupe) ReadsKey(string) bool { return a.pipe }

func (a keyedTroupe) Runner(r *agent.Request) (*agent.Runner, error) {
	run, err := a.troupe.Runner(r)
	switch {
	case err != nil:
	case a.pipe && r.KeyFD > 0: // the request of a validation has none
		run.Args[1] = fmt.Sprintf("KEY=$(cat <&%d); export KEY\n", r.KeyFD) + run.Args[1]
	case !a.pipe:
		run.Env = append(run.Env, "KEY="+r.LLM.APIKey)
	}
	return run, err
}

func shortSum(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// Sessions of one principal that differ in nothing but their credentials, turns of both
// at once, each with a process of its own credentials: the process says which key it
// has, by its digest.
func TestRunnersAreNotSharedAcrossCredentials(t *testing.T) {
	t.Parallel()
	for name, pipe := range map[string]bool{"environment": false, "pipe": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runnersByCredentials(t, pipe)
		})
	}
}

func runnersByCredentials(t *testing.T, pipe bool) {
	t.Helper()
	keys := map[string]string{"": "sk-test-host-00aa11bb", "red": "sk-test-red-22cc33dd", "blue": "sk-test-blue-44ee55ff", "secret-red": "", "secret-blue": ""}
	l := quick()
	l.MaxConcurrentTurns = 32
	l.Runners.Idle = time.Minute
	dir := t.TempDir()
	h := startedIn(t, dir, l, memory.New(),
		actors.WithEnviron([]string{"PATH=" + os.Getenv("PATH"), "RED=" + keys["red"], "BLUE=" + keys["blue"]}),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: keyedTroupe{troupe{threads: 16}, pipe}, Driver: actors.DriverPersistent, LLM: agent.LLM{APIKey: keys[""]}}),
		actors.WithAgents(
			spec.Agent{Name: "red", Adapter: "script", LLM: &spec.LLM{APIKeyEnv: "RED"}},
			spec.Agent{Name: "blue", Adapter: "script", LLM: &spec.LLM{APIKeyEnv: "BLUE"}},
			spec.Agent{Name: "secret-red", Adapter: "script", SecretEnv: map[string]string{"TEAM": "RED"}},
			spec.Agent{Name: "secret-blue", Adapter: "script", SecretEnv: map[string]string{"TEAM": "BLUE"}}))
	type begun struct {
		agent         string
		session, turn event.ID
	}
	const tells = `printf '%s ' "$RUNNER"; printf %s "$KEY" | sha256sum | cut -c1-16 | tr '\n' ' '; printf %s "$TEAM" | sha256sum | cut -c1-16`
	var all []begun
	for range 3 {
		for name := range keys {
			a := spec.Agent{Adapter: "script"}
			if name != "" {
				found, err := h.AgentsNamed(ctx(t), "alice", name)
				must(t, err)
				a = *found[0]
				a.Name = "" // nothing else tells them apart
			}
			p, err := h.CreateSession(ctx(t), "alice", &spec.NewSession{Agent: a, Input: input(tells)})
			must(t, err)
			all = append(all, begun{name, p.Session.ID, p.Turns[0].ID})
		}
	}
	runners := map[string]string{} // pid: whose
	shared := 0
	for _, b := range all {
		var pid, key, team string
		said := spoken(toTheEnd(t, h, b.session, b.turn))
		if n, err := fmt.Sscan(said, &pid, &key, &team); n != 3 || err != nil {
			t.Fatalf("%s said %q", b.agent, said)
		}
		wantKey, wantTeam := keys[b.agent], ""
		if color, secret := strings.CutPrefix(b.agent, "secret-"); secret {
			wantKey, wantTeam = keys[""], keys[color]
		}
		if key != shortSum(wantKey) || team != shortSum(wantTeam) {
			t.Errorf("a turn of %q was served with the credentials of another", b.agent)
		}
		if whose, taken := runners[pid]; taken {
			if whose != b.agent {
				t.Errorf("%q and %q share a process", whose, b.agent)
			}
			shared++
		}
		runners[pid] = b.agent
	}
	if len(runners) != len(keys) || shared == 0 {
		t.Errorf("%d processes served %d kinds of credentials; the same ones share one", len(runners), len(keys))
	}
}
