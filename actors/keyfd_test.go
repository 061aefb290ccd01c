package actors_test

import (
	"os"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// keyReader is a script that reads its key from a pipe.
type keyReader struct{ script }

func (keyReader) ReadsKey(version string) bool { return version == "" }

// A CLI that reads its key from a pipe has it nowhere else: not in the environment that
// it and its commands have, and what it has read no other process reads again.
func TestKeyByAPipe(t *testing.T) {
	t.Parallel()
	const key = "key-by-a-pipe-0123456789"
	a := keyReader{script{invocation: func(r *agent.Request, inv *agent.Invocation) {
		if r.KeyFD != 3 {
			inv.Env = append(inv.Env, "KEY="+r.LLM.APIKey)
		}
	}}}
	h := started(t, quick(), memory.New(), actors.WithEnviron([]string{"PATH=" + os.Getenv("PATH")}),
		actors.WithRuntime(actors.RuntimeConfig{Adapter: a, Driver: actors.DriverExec, LLM: agent.LLM{APIKey: key}}))
	p := create(t, h, `printf 'read '; cat <&3 | sha256sum | cut -c1-16; printf ' again '; (cat <&3; cat /proc/$$/fd/3; env; tr '\0' '\n' </proc/$$/environ) | grep -c '^KEY=\|key-by\|redacted'`)
	end := toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)
	if said := strings.Join(strings.Fields(spoken(end)), " "); said != "read "+shortSum(key)+" again 0" {
		t.Errorf("the CLI said %q", said)
	}
	// It is still one of the values that nobody is told.
	p = create(t, h, `cat <&3`)
	if said := spoken(toTheEnd(t, h, p.Session.ID, p.Turns[0].ID)); strings.TrimSpace(said) != "[redacted]" {
		t.Errorf("the key is told: %q", said)
	}
}

// A key that no pipe takes at once goes the other way.
func TestLongKeyIsNotPiped(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 5000)
	got := -1
	a := keyReader{script{invocation: func(r *agent.Request, _ *agent.Invocation) { got = r.KeyFD }}}
	h := started(t, quick(), memory.New(), actors.WithRuntime(actors.RuntimeConfig{Adapter: a, Driver: actors.DriverExec, LLM: agent.LLM{APIKey: long}}))
	p := create(t, h, "echo on; echo '#final'")
	if got := judgeEnds(t, h, p.Session.ID, ended(p.Turns[0].ID)); got[p.Turns[0].ID] != event.Completed {
		t.Errorf("outcome %v", got)
	}
	if got != 0 {
		t.Errorf("descriptor %d", got)
	}
}
