package actors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/endpoint"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/relay"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/asynkron/protoactor-go/actor"
)

// job is one prepared run of a CLI.
type job struct {
	adapter    string
	remedy     string // what to do when its program is not there
	request    *agent.Request
	invocation *agent.Invocation
	parser     agent.Parser
	env        []string
	redact     *redact.Set
	marker     string
	limits     process.Limits
	// isolation are its levels, told what the turn says of them; wrap begins the command
	// line of a confined one.
	isolation isolation.Set
	told      string
	wrap      []string
	maxOutput int64
	dir       string // private to the turn, to be removed after it
	// writing are those who still put files there.
	writing sync.WaitGroup
	// berth is where it runs with the persistent driver; nil for a process of its own.
	berth *berth
	// door is the turn's way to its caller, nil without one. Closed after the turn.
	door *endpoint.Door
	// pass is its way to its provider through the relay, use that it has it now; nil
	// without one. Let go of after the turn.
	pass *relay.Pass
	use  *relay.Use
	// release lets an installed version of the CLI be removed; nil after it was called.
	release func()
}

// requestOf is what the adapter is asked, as far as it is known before anything
// is made on disk.
func (h *Host) requestOf(r *RuntimeConfig, s *spec.Session, in *spec.NewInput) (req *agent.Request, err error) {
	if err := callersEnv(&s.Agent); err != nil {
		return nil, err
	}
	req = h.baseRequest(r, s)
	var o *spec.Overrides
	if in != nil {
		req.Prompt, o = in.Prompt(), in.Overrides
		h.override(req, o)
	}
	if req.MCP, err = h.servers(&s.Agent, o); err != nil && in == nil {
		req.MCP, err = s.Agent.MCP, nil // nothing runs yet, so no value is needed
	}
	return req, err
}

// request is what the adapter is asked for a stored turn.
func (h *Host) request(r *RuntimeConfig, ses *fold.Session, t *fold.Turn) (req *agent.Request, err error) {
	if err := callersEnv(&t.Settings.Agent); err != nil {
		return nil, err
	}
	req = h.baseRequest(r, t.Settings)
	req.Session, req.Turn, req.Previous = ses.ID, t.ID, t.Previous
	req.Prompt = t.Input.Prompt
	req.Native, req.Carry = ses.Native, ses.Carry
	o := t.Overrides()
	h.override(req, &o)
	req.MCP, err = h.servers(&t.Settings.Agent, &o)
	return req, err
}

func (h *Host) baseRequest(r *RuntimeConfig, s *spec.Session) *agent.Request {
	a := &s.Agent
	workspace, _ := h.workspace(s)
	req := &agent.Request{
		Session: s.ID, Model: h.cliModel(a.Model), Instructions: a.Instructions, Reasoning: a.Reasoning, Text: a.Text,
		Permissions: h.permissions(r, s), Limits: h.limits(s), MultiAgent: a.MultiAgent, Functions: a.Functions,
		Binary: r.Binary, Workspace: workspace, Home: h.home(r, s.Owner),
		LLM: h.llm(r, s), ExtraArgs: r.ExtraArgs, Root: os.Geteuid() == 0, Sandboxed: r.Sandboxed, Confined: confines(h.levels(r)),
	}
	return req
}

// cliModel is the model to name to the CLI: none when the caller's word only
// chose the adapter.
func (h *Host) cliModel(model string) string {
	if _, adapter := h.runtimes.byName[model]; adapter {
		return ""
	}
	return model
}

func (h *Host) override(req *agent.Request, o *spec.Overrides) {
	if o == nil {
		return
	}
	if o.Model != nil {
		req.Model = h.cliModel(*o.Model)
	}
	if o.BaseURL != nil {
		req.LLM.BaseURL = *o.BaseURL
	}
	if o.Instructions != nil {
		req.Instructions = *o.Instructions
	}
	if o.Reasoning != nil {
		req.Reasoning = *o.Reasoning
	}
	if o.Text != nil {
		req.Text = *o.Text
	}
	if o.Functions != nil {
		req.Functions = *o.Functions
	}
}

var plainOwner = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// home is the CLI's state directory; "" is the user's own.
func (h *Host) home(r *RuntimeConfig, owner string) string {
	if r.Home == HomeInherit {
		return ""
	}
	if !plainOwner.MatchString(owner) {
		sum := sha256.Sum256([]byte(owner))
		owner = "p-" + hex.EncodeToString(sum[:12])
	}
	return filepath.Join(h.cfg.stateDir, "homes", owner, r.Adapter.Name())
}

// prepare makes the turn's directories and files and says what to run. It works
// on the disk, so it is not for a Receive.
func (h *Host) prepare(ctx context.Context, ses *fold.Session, t *fold.Turn, bounds budget.Bounds, self *actor.PID) (_ *job, err error) {
	r, err := h.runtime(t.Settings.Agent.Adapter)
	if err != nil {
		return nil, err
	}
	req, err := h.request(r, ses, t)
	if err != nil {
		return nil, err
	}
	// The policy and the scope may have changed since it was accepted.
	if subject := h.subject(t.Settings.Owner); !subject.Uses(r.Adapter.Name()) {
		return nil, subject.Adapter(r.Adapter.Name()).Decide(policy.Feed).Err()
	}
	if err := h.bounded(r, t.Settings, req); err != nil {
		return nil, err
	}
	over := t.Overrides()
	if err := h.providable(r, t.Settings, &over); err != nil {
		return nil, err
	}
	if err := h.admit(ctx, r, h.bounds(t.Settings), req.Permissions, req.MCP); err != nil {
		return nil, err
	}
	caps := h.capabilities(r)
	if caps.Budget {
		if b, left := bounds.MoneyLeft(); b != nil {
			req.Limits.MaxUSD = float64(max(left, 1)) / 1e6 // 0 would be no limit
		}
	}
	var release func()
	err = h.asked(r, "locate", func() (err error) {
		req.Binary, release, err = h.runtimes.take(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if err := h.workspaceReady(t.Settings); err != nil {
		return nil, err
	}
	if req.Home != "" {
		if err := os.MkdirAll(req.Home, 0o700); err != nil {
			return nil, workspaceFailure("the CLI's home directory cannot be made", err)
		}
	}
	req.Dir = filepath.Join(h.cfg.stateDir, "turns", t.ID.Hex())
	if h.neverKept(r, ses, req) {
		req.Native, req.Carry = "", nil
	}
	files, err := h.pictures(r, t.Input.Items)
	if err != nil {
		return nil, err
	}
	req.Images = pathsIn(req.Dir, files)
	door, err := h.door(r, req, self)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			door.Close()
		}
	}()
	pass, use, key, err := h.relay(r, req, t.Settings.Owner, self)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			use.End()
			pass.Release()
		}
	}()
	levels, ports, err := h.isolate(r, req, h.cfg.environ)
	if err != nil {
		return nil, err
	}
	req.Confined = confines(levels)
	req.KeyFD = h.keyFD(ctx, r, req)
	j := &job{
		adapter: r.Adapter.Name(), isolation: levels, remedy: r.remedy(), request: req, door: door, pass: pass, use: use, release: release, marker: h.markers() + t.ID.Hex(),
	}
	err = h.asked(r, "prepare", func() (err error) { return h.plan(ctx, r, j) })
	if err != nil {
		return nil, err
	}
	inv := j.invocation
	dir, err := writeFiles(r, req, inv, append(files, inv.Files...))
	if err != nil {
		return nil, err
	}
	j.dir = dir
	defer func() {
		if err != nil {
			discard(j.dir)
		}
	}()
	j.limits, j.maxOutput = h.machineLimits(&t.Settings.Agent), req.Limits.OutputBytes
	secret := h.secrets(&t.Settings.Agent)
	base := h.environ(h.passthrough(r, t.Settings), req, levels, pairs(t.Settings.Agent.Env), secret)
	environ := func(own []string) []string {
		env := base(own)
		if key != "" {
			return keyless(env, key)
		}
		return env
	}
	j.env = environ(inv.Env)
	hidden := append(credentials(j.env), req.LLM.APIKey, r.LLM.APIKey, key)
	for _, kv := range secret {
		_, v, _ := strings.Cut(kv, "=")
		hidden = append(hidden, v)
	}
	hidden = append(append(hidden, h.ownSecrets()...), inv.Secrets...)
	alone := j.limits != process.Limits{} // those below are for each process
	j.limits = heldBy(levels, j.limits)
	if err := h.confine(r, j, ports, len(files) > 0); err != nil {
		return nil, err
	}
	if j.berth != nil {
		j.berth.limits, j.berth.alone = j.limits, alone || j.berth.runner.Once || j.berth.box != nil && len(files) > 0
		j.berth.seal(t.Settings.Owner, ses.ID, environ)
		j.berth.redact, j.berth.pass = h.redactors.get(hidden), pass
		hidden = append(hidden, variableValues(req.MCP)...) // they go by standard input
	}
	hidden = append(hidden, headerValues(req.MCP)...)
	h.cfg.hidden.Add(hidden...)
	if req.Host != nil {
		hidden = append(hidden, req.Host.Token)
	}
	j.redact = h.redactors.get(hidden)
	return j, nil
}

// plan asks the adapter what to run.
func (h *Host) plan(ctx context.Context, r *RuntimeConfig, j *job) (err error) {
	if err := h.validate(r, j.request); err != nil {
		return err
	}
	if p := h.persistent(r); p != nil {
		if j.berth, err = place(p, j.request); err != nil {
			return err
		}
		j.invocation = &agent.Invocation{Env: j.berth.runner.Env, Secrets: j.berth.runner.Secrets}
		return h.able(ctx, r, j.berth.runner.Args)
	}
	if j.invocation, err = r.Adapter.Invocation(j.request); err != nil {
		return err
	}
	if j.parser = r.Adapter.NewParser(j.request); j.invocation == nil || j.parser == nil {
		return event.Fail(event.CLICrashed, "adapter "+r.Adapter.Name()+" says nothing to run")
	}
	return h.able(ctx, r, j.invocation.Args)
}

// variableValues are the values of the variables that tool servers are given.
func variableValues(servers map[string]spec.MCPServer) (values []string) {
	for _, s := range servers {
		for _, v := range s.Env {
			values = append(values, v)
		}
	}
	return values
}

// writeFiles makes the turn's private directory if something is to be in it or the
// CLI is told of it, and returns it, "" when it was not made: two writes to a disk's
// directories are most of a short turn's time.
func writeFiles(r *RuntimeConfig, req *agent.Request, inv *agent.Invocation, files []agent.File) (dir string, err error) {
	names := func(s string) bool { return strings.Contains(s, req.Dir) }
	if len(files) == 0 && !slices.ContainsFunc(inv.Args, names) && !slices.ContainsFunc(inv.Env, names) && !names(string(inv.Stdin)) {
		return "", nil
	}
	if err := os.Mkdir(req.Dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", workspaceFailure("the turn's private directory cannot be made", err)
	}
	for _, f := range files {
		if f.Name == "" || f.Name != filepath.Base(f.Name) {
			err = event.Fail(event.CLICrashed, fmt.Sprintf("adapter %s wants a file named %q, which is no plain name", r.Adapter.Name(), f.Name))
		} else if werr := os.WriteFile(filepath.Join(req.Dir, f.Name), f.Data, 0o600); werr != nil {
			err = workspaceFailure("a file of the turn cannot be written", werr)
		}
		if err != nil {
			_ = os.RemoveAll(req.Dir)
			return "", err
		}
	}
	return req.Dir, nil
}

// secrets resolves the variables that the agent's configuration takes from the
// host's environment. Only agents of the configuration may: a caller's could send
// what it names anywhere.
func (h *Host) secrets(a *spec.Agent) (env []string) {
	if !a.Locked {
		return nil
	}
	for name, ref := range a.SecretEnv {
		if v, ok := lookup(h.cfg.environ, ref); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

func pairs(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k, v := range m {
		out = append(out, k+"="+v)
	}
	return out
}

// neverKept says that the CLI told the id of a conversation and ended, most likely
// killed, before it wrote a word of it down. To go on with it would fail the next turn
// for what befell the last. A conversation that has a completed turn is another
// matter: what the CLI has lost of that, the caller must be told.
func (h *Host) neverKept(r *RuntimeConfig, ses *fold.Session, req *agent.Request) bool {
	k, ok := r.Adapter.(agent.Keeper)
	if !ok || req.Native == "" || req.Home == "" || !ses.Completed.IsZero() {
		return false
	}
	patterns := k.Kept(req.Native)
	for _, p := range patterns {
		if found, err := filepath.Glob(filepath.Join(globEscape(req.Home), p)); err != nil || len(found) > 0 {
			return false
		}
	}
	h.log.Info("the CLI has no trace of the conversation of a turn that failed; a new one begins", "adapter", r.Adapter.Name(), "session", ses.ID)
	return len(patterns) > 0
}

// globEscape makes a path a pattern that only it has.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
