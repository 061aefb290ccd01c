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

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/endpoint"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/asynkron/protoactor-go/actor"
)

// job is one prepared run of a CLI.
type job struct {
	adapter    string
	request    *agent.Request
	invocation *agent.Invocation
	parser     agent.Parser
	env        []string
	redact     *redact.Set
	marker     string
	limits     process.Limits
	maxOutput  int64
	dir        string // private to the turn, to be removed after it
	// door is the turn's way to its caller, nil without one. Closed after the turn.
	door *endpoint.Door
}

// requestOf is what the adapter is asked, as far as it is known before anything
// is made on disk.
func (h *Host) requestOf(r *RuntimeConfig, s *spec.Session, in *spec.NewInput) (req *agent.Request, err error) {
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
	req = h.baseRequest(r, t.Settings)
	req.Session, req.Turn = ses.ID, t.ID
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
		Permissions: h.permissions(r, s), Limits: a.Limits, MultiAgent: a.MultiAgent, Functions: a.Functions,
		Binary: r.Binary, Workspace: workspace, Home: h.home(r, s.Owner),
		LLM: r.LLM, ExtraArgs: r.ExtraArgs, Root: os.Geteuid() == 0, Sandboxed: r.Sandboxed,
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
	if err := h.admit(ctx, r, req.Permissions, req.MCP); err != nil { // the scope may have changed since
		return nil, err
	}
	if caps := r.Adapter.Capabilities(); caps.Budget {
		if b, left := bounds.MoneyLeft(); b != nil {
			req.Limits.MaxUSD = float64(max(left, 1)) / 1e6 // 0 would be no limit
		}
	}
	err = h.asked(r, "locate", func() (err error) {
		req.Binary, err = h.runtimes.locate(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := h.workspaceReady(t.Settings); err != nil {
		return nil, err
	}
	if req.Home != "" {
		if err := os.MkdirAll(req.Home, 0o700); err != nil {
			return nil, workspaceFailure("the CLI's home directory cannot be made", err)
		}
	}
	req.Dir = filepath.Join(h.cfg.stateDir, "turns", t.ID.Hex())
	caps := r.Adapter.Capabilities()
	files, err := pictures(&caps, r.Adapter.Name(), t.Input.Items)
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
	var inv *agent.Invocation
	var parser agent.Parser
	err = h.asked(r, "prepare", func() (err error) {
		if err := r.Adapter.Validate(req); err != nil {
			return err
		}
		if inv, err = r.Adapter.Invocation(req); err != nil {
			return err
		}
		if parser = r.Adapter.NewParser(req); inv == nil || parser == nil {
			return event.Fail(event.CLICrashed, "adapter "+r.Adapter.Name()+" says nothing to run")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dir, err := writeFiles(r, req, inv, append(files, inv.Files...))
	if err != nil {
		return nil, err
	}
	j := &job{
		adapter: r.Adapter.Name(), request: req, invocation: inv, parser: parser, dir: dir, door: door,
		marker: h.markers() + t.ID.Hex(),
		limits: h.machineLimits(&t.Settings.Agent), maxOutput: t.Settings.Agent.Limits.OutputBytes,
	}
	def(&j.maxOutput, h.cfg.limits.MaxOutputBytes)
	secret := h.secrets(&t.Settings.Agent)
	j.env = childEnv(h.cfg.environ, r.Passthrough, pairs(t.Settings.Agent.Env), secret, inv.Env)
	hidden := append(credentials(j.env), req.LLM.APIKey)
	if req.Host != nil {
		hidden = append(hidden, req.Host.Token)
	}
	hidden = append(hidden, headerValues(req.MCP)...)
	for _, kv := range secret {
		_, v, _ := strings.Cut(kv, "=")
		hidden = append(hidden, v)
	}
	j.redact = h.redactors.get(append(append(hidden, h.cfg.secrets...), inv.Secrets...))
	return j, nil
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
