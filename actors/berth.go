package actors

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/relay"
)

// berth is what a turn needs of a runner: which one may serve it, and how one is
// started.
type berth struct {
	// key is the same for turns that may share a runner: the principal, the adapter
	// with its program, permissions, arguments, files, and the whole environment, so
	// credentials and home too; and the session where a runner serves one only.
	key     string
	adapter agent.Persistent
	request *agent.Request // to ask the adapter again, for the runner's own directory
	runner  *agent.Runner
	// env makes the whole environment of what the adapter adds.
	env    func(own []string) []string
	redact *redact.Set
	pass   *relay.Pass // to its provider, nil without a relay
	// limits bound one turn, so a turn that has any has a runner to itself (alone), as
	// has one whose adapter says so.
	limits process.Limits
	alone  bool
	// isolation are the runner's levels, box what it may reach besides its own
	// directory, nil when that is not bounded.
	isolation isolation.Set
	box       *isolation.Box
}

// nowhere stands for the directory of a runner that is not there yet.
const nowhere = "/runner"

// place asks the adapter what runner could serve the request.
func place(p agent.Persistent, req *agent.Request) (*berth, error) {
	own := *req
	own.Dir = nowhere
	r, err := p.Runner(&own)
	if err != nil {
		return nil, err
	}
	if r == nil || r.Threads < 1 {
		return nil, event.Fail(event.CLICrashed, "adapter "+p.Name()+" says no process to run")
	}
	return &berth{adapter: p, request: req, runner: r}, nil
}

// seal names what has to be the same for turns that share a runner.
func (b *berth) seal(owner string, session event.ID, env func(own []string) []string) {
	b.env = env
	h := sha256.New()
	put := func(words ...string) {
		_, _ = fmt.Fprintf(h, "%d\n", len(words)) // never fails
		for _, w := range words {
			_, _ = fmt.Fprintf(h, "%d:%s\n", len(w), w)
		}
	}
	put(owner, b.adapter.Name(), b.request.Binary, b.request.Home, string(b.request.Permissions), b.runner.Dir)
	put(b.runner.Args...)
	put(b.runner.Apart)
	put(slices.Sorted(slices.Values(env(b.runner.Env)))...)
	put(string(keyOf(b.request)))
	for _, f := range b.runner.Files {
		put(f.Name, string(f.Data))
	}
	if b.box != nil { // one process reaches what all its turns may
		put(b.box.Key())
	}
	if b.runner.Bound {
		put(session.Hex())
	}
	if b.alone {
		put(b.request.Turn.Hex())
	}
	b.key = hex.EncodeToString(h.Sum(nil))
}

// settle asks the adapter for the runner that lives in dir and writes its files
// there; dir is "" when nothing had to be. It works on the disk.
func (b *berth) settle(r *RuntimeConfig, dir string) (*agent.Runner, string, error) {
	own := *b.request
	own.Dir = dir
	run, err := b.adapter.Runner(&own)
	if err != nil {
		return nil, "", err
	}
	inv := &agent.Invocation{Args: run.Args, Env: run.Env}
	made, err := writeFiles(r, &own, inv, run.Files)
	return run, made, err
}

// runnerDir is a runner's private directory.
func (h *Host) runnerDir(id event.ID) string {
	return filepath.Join(h.cfg.stateDir, "runners", id.Hex())
}
