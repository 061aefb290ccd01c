package claudecode

import (
	"github.com/agenthost/agenthost/actors/agent"
)

var (
	_ agent.Persistent = (*Adapter)(nil)
	_ agent.Steerer    = (*protocol)(nil)
)

// Certified are the versions that "auto" runs as long-lived processes.
func (*Adapter) Certified() []string { return []string{"2.1.328"} }

// PersistentCapabilities says what a long-lived process can do: the same, and messages
// are taken into a turn that runs, at its next request to the model.
func (a *Adapter) PersistentCapabilities() agent.Capabilities {
	c := a.Capabilities()
	c.Steer = true
	return c
}

// ValidatePersistent refuses what a long-lived process cannot run.
func (a *Adapter) ValidatePersistent(r *agent.Request) error {
	if err := valid(r); err != nil {
		return err
	}
	_, err := a.Runner(r)
	return err
}

// lived is what a process that outlives a turn needs to be told.
var lived = []string{
	"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1", // running and idle: nothing else says that all is done
	"CLAUDE_CODE_DISABLE_CRON=1",              // its own alarm clock would begin turns that nobody asked for
}

// Runner is a process for the request's session. All settings but the caller's
// functions are arguments, so a turn with others gets another process, which resumes
// the conversation. --max-budget-usd counts from the start of the process.
func (*Adapter) Runner(r *agent.Request) (*agent.Runner, error) {
	inv := &agent.Invocation{Args: []string{"-p", "--input-format", "stream-json"}}
	err := settings(r, inv, "stdio", nil)
	run := &agent.Runner{
		Args: inv.Args, Env: append(inv.Env, lived...), Files: inv.Files, Secrets: inv.Secrets, Dir: r.Workspace,
		Bound: true, Threads: 1, Once: r.Limits.MaxUSD > 0,
	}
	if r.Native != "" {
		run.Resume = []string{"--resume", r.Native}
	}
	return run, err
}

// NewProtocol speaks with one process.
func (*Adapter) NewProtocol() agent.Protocol { return &protocol{pending: map[string]call{}} }
