package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/cmd/warden"
)

type doctorVerb struct {
	settings
}

// Help says what --help adds.
func (*doctorVerb) Help() string {
	return "Exit code 1 when no agent is usable or the configuration is wrong."
}

// Run looks at everything a server needs and changes nothing.
func (v *doctorVerb) Run(c *console) error {
	cfg, warnings, err := v.load(nil)
	if err != nil {
		say(c.out, "configuration  WRONG")
		return exit(fail(c.out, exitFailed, errors.Unwrap(err)), nil)
	}
	d := &doctor{out: c.out, cfg: cfg}
	d.line("configuration", true, or(cfg.File, "no file; defaults and variables"))
	for _, w := range warnings {
		d.line("configuration", false, w)
	}
	_ = process.BecomeSubreaper() // so that the guarantees are those of a server
	runtimes, err := mount(cfg, local(cfg))
	if err != nil {
		return exit(exitFailed, err)
	}
	opts := options(cfg, slog.New(slog.DiscardHandler), cfg.StateDir, runtimes)
	groups, noGroups := process.FindCgroups()
	ungrouped := ""
	if noGroups == nil {
		opts = append(opts, actors.WithCgroups(groups))
	} else {
		ungrouped = noGroups.Error()
	}
	ladder := isolators(ungrouped)
	opts = append(opts, actors.WithIsolation(ladder))
	if warden.Available() {
		opts = append(opts, actors.WithWarden(&warden.Keeper{})) // as a server has it; none is started
	}
	host, err := actors.New(opts...)
	if err != nil {
		return exit(exitFailed, err)
	}
	if w := plainKeys(runtimes); w != "" {
		d.line("secrets", false, w)
	}
	usable := 0
	list := host.Runtimes(context.Background())
	for _, r := range list {
		if d.agent(r) {
			usable++
		}
	}
	d.stateDir()
	if w := missingWorkspace(cfg); w != "" {
		d.line("workspace", false, w)
		d.fix("mkdir -p " + cfg.Environments.Workspace)
	}
	d.memory()
	d.port()
	d.access()
	d.audit()
	if err := d.policy(list); err != nil {
		return exit(exitFailed, err)
	}
	d.groups(groups, noGroups)
	d.isolation(host, ladder)
	for _, g := range host.Guarantees() {
		d.line("guarantee", true, g)
	}
	if usable == 0 {
		return exit(exitFailed, errors.New("no agent is usable: install one of the CLIs above"))
	}
	return nil
}

type doctor struct {
	out io.Writer
	cfg *config.Config
}

// line prints one finding: what was looked at, whether it is good, and facts.
func (d *doctor) line(what string, good bool, facts ...string) {
	mark := "ok"
	if !good {
		mark = "!!"
	}
	d.marked(what, mark, facts...)
}

func (d *doctor) marked(what, mark string, facts ...string) {
	say(d.out, "%-14s %s  %s", what, mark, strings.Join(facts, "; "))
}

// agent reports one CLI; true when it can be used.
func (d *doctor) agent(r actors.Runtime) bool {
	if !r.Installed && r.Capabilities.Experimental {
		d.marked(r.Name, "--", fmt.Sprintf("experimental; %q is not installed", r.Binary))
		return false
	}
	if !r.Installed {
		d.line(r.Name, false, fmt.Sprintf("%q is not in %s or PATH", r.Binary, d.cfg.ToolsDir))
		d.fix(orTools(fix(r.Name, r.Binary), r.Binary))
		return false
	}
	b := own(r.Name)
	tested := "declared in the configuration"
	if b != nil {
		tested = "tested with " + b.pinned
		if !strings.Contains(r.Version, b.pinned) {
			tested += ", this one is another"
		}
		if r.Capabilities.Experimental {
			tested = "experimental: made after the documentation of " + b.pinned
		}
	}
	credential := credentialOf(d.cfg, r)
	mark := "ok"
	if credential == "" {
		mark = "??"
	}
	d.marked(r.Name, mark, r.Path, or(r.Version, "version unknown")+" ("+tested+")")
	if len(r.Lacks) > 0 {
		words := make([]string, len(r.Lacks))
		for i, l := range r.Lacks {
			words[i] = l.Word + " (" + or(l.Param, "every turn") + ")"
		}
		d.more("this one does not take " + strings.Join(words, ", ") + ": what needs it is refused")
		if b != nil {
			d.fix(fix(r.Name, r.Binary))
		}
	}
	facts := []string{"driver " + r.Driver + " (" + r.DriverWhy + ")", "permissions " + string(r.Permissions)}
	if r.Confined {
		facts = append(facts, "confined by the CLI's sandbox")
	} else if r.Boxed {
		facts = append(facts, "confined by the host")
	} else {
		facts = append(facts, "confinement: none")
	}
	if r.Default {
		facts = append(facts, "default")
	}
	d.more(facts...)
	d.provider(r, credential)
	runs := d.level(r)
	if r.Permissions == spec.FullAccess && os.Geteuid() == 0 && !d.cfg.Agents.Runtimes[r.Name].Sandboxed {
		d.more("full_access as root is refused")
		d.fix("set agents." + r.Name + ".sandboxed: true if this machine is itself the sandbox, or use workspace_write")
	}
	return runs
}

// provider says with whose credential the CLI works.
func (d *doctor) provider(r actors.Runtime, credential string) {
	home := "home private, below " + filepath.Join(d.cfg.StateDir, "homes")
	if r.Home == actors.HomeInherit {
		home = "home your own"
	}
	if credential != "" {
		d.more(home, credential)
		return
	}
	d.more(home, noCredential)
	d.fix(signInLine(d.cfg, r))
}

// noCredential says that a CLI has nothing to ask a model with, as far as can be
// seen from outside.
const noCredential = "no provider key and no sign-in found: usable only if the CLI has one of its own"

// signInLine is what gives a CLI a credential.
func signInLine(cfg *config.Config, r actors.Runtime) string {
	line := "export " + keyVariable(cfg, r.Name) + "=..."
	switch b := own(r.Name); {
	case b == nil:
	case r.Home == actors.HomeInherit:
		line += "; or " + b.signIn
	default:
		line += "; or set agents." + r.Name + ".home: inherit and " + b.signIn
	}
	return line
}

// credentialOf says what the CLI works with as far as can be seen from outside, ""
// for nothing. A declared program that names no variable for a key is not asked
// for one.
func credentialOf(cfg *config.Config, r actors.Runtime) string {
	b, set := own(r.Name), cfg.Agents.Runtimes[r.Name]
	switch {
	case r.KeySet:
		return "provider key from a variable"
	case b == nil && set != nil && set.LLMEnv.APIKey == "":
		return "its own provider"
	case b == nil:
		return ""
	case first(b.tokens...) != "":
		return "the CLI's own token from a variable"
	case r.Home == actors.HomeInherit && signedIn(b):
		return "signed in"
	case r.Home == actors.HomePrivate && signedInAt(cfg, b):
		return "signed in there"
	}
	return ""
}

// keyVariable is the one to set for a provider key.
func keyVariable(cfg *config.Config, name string) string {
	if r := cfg.Agents.Runtimes[name]; r != nil && r.LLM.APIKeyEnv != "" {
		return r.LLM.APIKeyEnv
	}
	return config.DefaultAPIKeyEnv
}

// signedInAt looks for a sign-in in any of the adapter's private homes.
func signedInAt(cfg *config.Config, b *builtInAdapter) bool {
	found, err := filepath.Glob(filepath.Join(cfg.StateDir, "homes", "*", b.adapter.Name(), b.signedIn[2]))
	return err == nil && len(found) > 0
}

// signedIn looks for what a sign-in leaves in the person's own home.
func signedIn(b *builtInAdapter) bool {
	dir := env(b.signedIn[0])
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		dir = filepath.Join(home, b.signedIn[1])
	}
	_, err := os.Stat(filepath.Join(dir, b.signedIn[2]))
	return err == nil
}

func (d *doctor) more(facts ...string) { say(d.out, "%-14s     %s", "", strings.Join(facts, "; ")) }

// fix prints the one line that helps.
func (d *doctor) fix(line string) { say(d.out, "%-14s     fix: %s", "", line) }

// fix is the line that makes an adapter's CLI available.
func fix(name, binary string) string {
	if b := own(name); b != nil {
		return or(installLine(b), or(strings.Join(b.install, " "), b.byHand))
	}
	return fmt.Sprintf("install %s, or write its absolute path as the first element of agents.%s.command", binary, name)
}

// remedy is fix for a caller, who does not see this machine.
func remedy(name, binary string) string {
	switch b := own(name); {
	case b == nil:
		return fix(name, binary)
	case b.install == nil:
		return fmt.Sprintf("%s, or set agents.%s.binary", b.byHand, name)
	}
	return fmt.Sprintf("install it with: %s; or set agents.%s.binary", fix(name, binary), name)
}

// madeTools is where `make run` and `make test` install the CLIs.
const madeTools = "build/tools/bin"

// orTools adds to a fix that the program lies where the Makefile puts it.
func orTools(fix, binary string) string {
	if _, err := os.Stat(filepath.Join(madeTools, binary)); err != nil || filepath.Base(binary) != binary {
		return fix
	}
	return fmt.Sprintf("it is in %s: add --tools-dir %s; or %s", madeTools, madeTools, fix)
}

// stateDir says whether sessions can be kept.
func (d *doctor) stateDir() {
	dir := d.cfg.StateDir
	existing := nearest(dir)
	if !writable(existing) {
		d.line("state", false, dir+" cannot be written")
		d.fix("choose another one with --state-dir")
		return
	}
	facts := []string{dir}
	if existing != dir {
		facts = append(facts, "will be made")
	} else if st, err := os.Stat(dir); err == nil && st.Mode().Perm()&0o077 != 0 {
		d.line("state", false, fmt.Sprintf("%s has mode %o, others can look into it", dir, st.Mode().Perm()))
		if owned(st) {
			d.fix("chmod 700 " + dir)
		} else {
			d.fix("choose another one with --state-dir")
		}
	}
	if held(filepath.Join(dir, "lock")) {
		facts = append(facts, "a server is using it")
	}
	free, err := freeBytes(existing)
	good := err != nil || free >= uint64(d.cfg.Limits.MinFreeDisk)
	if err == nil {
		facts = append(facts, fmt.Sprintf("%s free", human(free)))
	}
	if !good {
		facts = append(facts, "below limits.min_free_disk, so no input is accepted")
	}
	d.line("state", good, facts...)
}

// nearest is the directory itself, else the nearest above it that is there.
func nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == "/" || dir == "." {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// held says whether another process holds the lock file.
func held(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // gives the lock back
	return flock(f) != nil
}

func (d *doctor) memory() {
	free, ok := availableBytes()
	if !ok {
		return
	}
	if free < uint64(d.cfg.Limits.MinAvailableMemory) {
		d.line("memory", false, human(free)+" available, below limits.min_available_memory, so turns wait for one another")
		return
	}
	d.line("memory", true, human(free)+" available")
}

func (d *doctor) port() {
	ln, err := net.Listen("tcp", d.cfg.Listen)
	if err != nil {
		d.line("listen", false, d.cfg.Listen+" cannot be listened on: "+err.Error())
		d.fix("a server may be running already; else choose another port with --listen")
		return
	}
	_ = ln.Close()
	d.line("listen", true, d.cfg.Listen+" is free")
}

// groups says which control groups the turns of a server get.
func (d *doctor) groups(g *process.Cgroups, err error) {
	if err != nil {
		d.line("cgroups", true, "not used", err.Error())
		return
	}
	memory, pids := g.Limited()
	level := "a group for each turn, ended as a whole"
	switch {
	case memory && pids:
		level += "; it holds the limits of memory and processes"
	case memory:
		level += "; it holds the limit of memory"
	case pids:
		level += "; it holds the limit of processes"
	default:
		level += "; without the controllers memory and pids, unless the server is alone in its group and these are delegated to it"
	}
	d.line("cgroups", true, level)
}

// isolation says which levels this machine has, and why not.
func (d *doctor) isolation(host *actors.Host, m *isolation.Machine) {
	for _, l := range isolation.Levels() {
		mark, text := "ok", m.Holds(l)
		if why := host.Lacks(l); why != "" {
			mark, text = "--", "not on this machine: "+why
		}
		d.marked("isolation", mark, l.String()+": "+text)
	}
}

// level says how far a CLI is kept away; false when it will not be run.
func (d *doctor) level(r actors.Runtime) bool {
	if r.IsolationLacks != "" {
		d.more("isolation " + r.Isolation + "; NOT RUN: " + r.IsolationLacks)
		return false
	}
	d.more("isolation " + r.Isolation)
	return true
}

func (d *doctor) access() {
	switch {
	case len(d.cfg.Auth.Tokens) > 0:
		d.line("access", true, fmt.Sprintf("%d token(s)", len(d.cfg.Auth.Tokens)))
	case d.cfg.Auth.AllowAnonymous && !local(d.cfg):
		d.line("access", false, "auth.allow_anonymous: whoever reaches "+d.cfg.Listen+" is admin")
	default:
		d.line("access", true, "no token; only this machine can connect")
	}
	if len(d.cfg.Groups) == 0 {
		d.line("groups", false, "the group agents is off; every route of it answers 404")
	}
}

// human writes bytes for people.
func human(n uint64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
