package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/cmd/certify"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/fakes/mcp"
	"github.com/agenthost/agenthost/fakes/provider"
)

type adapterCertifyVerb struct {
	Name string `arg:"" help:"Adapter whose installed CLI is tested: codex, ..."`
	settings
}

// Help says what --help adds.
func (*adapterCertifyVerb) Help() string {
	return "Plays a conversation with the installed CLI by both drivers, one process a turn and the long-lived one, against a scripted model on this machine: no key and no network is needed, and the CLI's own state is not touched. " +
		"When every case passes, version and program are kept in the state directory, and driver auto takes the long-lived one for exactly this program from the next start of the server on.\n\n" +
		"Exit codes: 0 certified, 1 a case failed or the CLI cannot be run, 2 wrong use."
}

// caseLimit is for one case; a CLI that retries a provider takes its time.
const caseLimit = 3 * time.Minute

// Run tests and certifies.
func (v *adapterCertifyVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return exit(exitUsage, errors.Unwrap(err))
	}
	name := v.Name
	if real, ok := aliases()[name]; ok {
		name = real
	}
	b := own(name)
	if b == nil || cfg.Agents.Runtimes[name] == nil {
		return exit(exitUsage, fmt.Errorf("there is no built-in adapter %q", v.Name))
	}
	if _, ok := b.adapter.(agent.Persistent); !ok {
		return exit(exitUsage, fmt.Errorf("adapter %s has one driver, exec: there is nothing to certify", name))
	}
	if _, only := b.adapter.(agent.Only); only {
		return exit(exitUsage, fmt.Errorf("adapter %s has one driver, persistent: there is nothing to certify", name))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	t := &examination{c: c, cfg: cfg, name: name}
	if err := t.prepare(); err != nil {
		return exit(exitFailed, errors.Join(err, t.close()))
	}
	passed := true
	var program actors.Runtime
	for _, driver := range []actors.Driver{actors.DriverExec, actors.DriverPersistent} {
		ok, run, err := t.play(ctx, driver)
		if err != nil {
			return exit(exitFailed, errors.Join(err, t.close()))
		}
		passed, program = passed && ok, run
	}
	if err := t.close(); err != nil {
		return exit(exitFailed, err)
	}
	if !passed {
		return exit(exitFailed, errors.New("not certified: a case failed"))
	}
	cert, err := actors.CertificateOf(program.Path, program.Version)
	if err == nil {
		err = actors.Certify(cfg.StateDir, name, cert)
	}
	if err != nil {
		return exit(exitFailed, fmt.Errorf("the certificate cannot be kept: %w", err))
	}
	say(c.out, "certified: %s (%s); driver auto takes the long-lived one for it from the next start of the server on", program.Version, program.Path)
	return nil
}

// examination is what both drivers are tested with.
type examination struct {
	c        *console
	cfg      *config.Config
	name     string
	dir      string
	provider *provider.Server
	url      string
	tools    *mcp.Server
	toolsURL string
}

const scriptedKey = "sk-scripted-certify"

func (t *examination) prepare() (err error) {
	if err := os.MkdirAll(t.cfg.StateDir, 0o700); err != nil {
		return err
	}
	// Not below the temporary directory, which is odd to some CLIs.
	if t.dir, err = os.MkdirTemp(t.cfg.StateDir, "certify-"); err != nil {
		return err
	}
	t.provider = provider.New(provider.Script{Key: scriptedKey})
	if t.url, err = t.provider.Start(); err != nil {
		return err
	}
	t.tools = &mcp.Server{}
	t.toolsURL, err = t.tools.Start()
	return err
}

func (t *examination) close() (err error) {
	if t.provider != nil {
		err = t.provider.Close()
	}
	if t.toolsURL != "" {
		err = errors.Join(err, t.tools.Close())
	}
	if t.dir != "" {
		err = errors.Join(err, os.RemoveAll(t.dir))
	}
	return err
}

// play tests one driver.
func (t *examination) play(ctx context.Context, driver actors.Driver) (passed bool, run actors.Runtime, err error) {
	cfg := *t.cfg
	cfg.Agents.Default, cfg.Environments.Workspace = t.name, filepath.Join(t.dir, "workspace-"+string(driver))
	if err := os.MkdirAll(cfg.Environments.Workspace, 0o700); err != nil {
		return false, run, err
	}
	rc := runtimeConfig(own(t.name).adapter, cfg.Agents.Runtimes[t.name], false)
	rc.Driver, rc.Home, rc.Passthrough = driver, actors.HomePrivate, nil
	rc.LLM.BaseURL, rc.LLM.APIKey = t.url+"/v1", scriptedKey
	log := slog.New(slog.DiscardHandler)
	guards, guarded := guard(log, false)
	defer guards.end()
	h, err := actors.New(append(options(&cfg, log, filepath.Join(t.dir, string(driver)), []actors.RuntimeConfig{rc}), guarded...)...)
	if err != nil {
		return false, run, err
	}
	if err := h.Start(ctx); err != nil {
		return false, run, err
	}
	defer func() {
		now, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		err = errors.Join(err, h.Stop(now))
	}()
	if run = h.Runtimes(ctx)[0]; !run.Installed {
		return false, run, fmt.Errorf("%s is not installed; %s", t.name, strings.TrimSpace(rc.Remedy))
	}
	say(t.c.out, "%s, driver %s", run.Version, driver)
	x := &certify.Examiner{Host: h, Adapter: t.name, Caps: run.Capabilities, Workspace: cfg.Environments.Workspace, MCP: t.toolsURL, Limit: caseLimit}
	return x.Examine(ctx, t.told), run, ctx.Err()
}

func (t *examination) told(r certify.Result) {
	switch {
	case r.Lacking:
		say(t.c.out, "  --  %s: not with this driver", r.Case)
	case r.Err != nil:
		say(t.c.out, "  !!  %s: %v", r.Case, r.Err)
	default:
		say(t.c.out, "  ok  %s (%s)", r.Case, r.Took.Round(time.Millisecond))
	}
}
