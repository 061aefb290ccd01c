package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/adapters"
)

type installVerb struct {
	Agent   string `arg:"" optional:"" help:"Adapter whose CLI to install. Without it, list what can be installed."`
	Version string `placeholder:"VERSION" help:"Version to install. Default: the newest that there is a manifest of."`
	settings
}

// Help says what --help adds.
func (*installVerb) Help() string {
	return "The CLI goes into tools_dir, where it is found before PATH; a running server uses it from its next turn on. " +
		"npm (or pip) is run as it is found on PATH, with its own configuration, and what it fetches is compared with the checksums of this program's manifest. " +
		"Install scripts of packages are not run. While another installation of the same CLI runs, this one waits. " +
		"A version that a turn still uses is kept until the turn has ended.\n\nExit codes: 0 installed, 1 failed, 2 wrong use, 130 interrupted."
}

// Run lists, or installs and shows the progress.
func (v *installVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	runtimes, err := mount(cfg, local(cfg))
	if err != nil {
		return exit(exitFailed, err)
	}
	if v.Agent == "" {
		if v.Version != "" {
			return exit(exitUsage, errors.New("--version needs the name of an adapter"))
		}
		host, err := actors.New(options(cfg, slog.New(slog.DiscardHandler), cfg.StateDir, runtimes)...)
		if err != nil {
			return exit(exitFailed, err)
		}
		listInstallable(c, host)
		return nil
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	for i := range runtimes {
		runtimes[i].Home = actors.HomeInherit // nothing is run in a home of its own
	}
	host, stop, err := throwaway(ctx, cfg, slog.New(slog.DiscardHandler), runtimes)
	if err != nil {
		return exit(exitFailed, err)
	}
	err = v.install(ctx, c, host)
	if stopErr := stop(); err == nil && stopErr != nil {
		err = exit(exitFailed, stopErr)
	}
	return err
}

func (v *installVerb) install(ctx context.Context, c *console, host *actors.Host) error {
	if _, err := host.Install(ctx, v.Agent, v.Version); err != nil {
		return exit(exitUsage, refusal(err))
	}
	said := 0
	done, err := host.AwaitInstall(ctx, v.Agent, func(i *actors.Install) {
		for ; said < len(i.Progress); said++ {
			say(c.err, "%s", i.Progress[said].Text)
		}
	})
	switch {
	case ctx.Err() != nil:
		return exit(exitCancelled, errors.New("interrupted; nothing was installed"))
	case err != nil:
		return exit(exitFailed, refusal(err))
	case done.Failure != nil:
		return exit(exitFailed, errors.New(done.Failure.Message))
	}
	say(c.out, "%s %s: %s", done.Adapter, done.Version, done.Path)
	return nil
}

// listInstallable prints a line for each adapter that something can be installed
// for.
func listInstallable(c *console, host *actors.Host) {
	for _, r := range host.Runtimes(context.Background()) {
		if len(r.Installable) == 0 {
			continue
		}
		have := "not installed"
		if r.Installed {
			have = "installed: " + or(r.Version, "version unknown") + ", " + r.Path
		}
		say(c.out, "%-14s %-20s %s", r.Name, strings.Join(r.Installable, ", "), have)
	}
}

// installLine is the command that installs an adapter's CLI, "" where none does.
func installLine(b *builtInAdapter) string {
	if list, err := adapters.Manifests(b.adapter.Name()); err != nil || len(list) == 0 {
		return ""
	}
	return "agenthost install " + b.adapter.Name()
}
