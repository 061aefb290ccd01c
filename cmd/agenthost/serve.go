package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/crash"
	"github.com/agenthost/agenthost/actors/policy"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/redact"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server"
	"github.com/agenthost/agenthost/server/audit"
	"github.com/agenthost/agenthost/wires/responses"
)

type serveVerb struct {
	Host string `placeholder:"ADDRESS" help:"Address part of --listen."`
	Port *int   `placeholder:"PORT" help:"Port part of --listen."`
	// Profile is for who makes the program faster.
	Profile string `env:"AGENTHOST_PROFILE" placeholder:"DIR" help:"Write cpu.pprof and heap.pprof there at the end."`
	// FaultPlan is for chaos runs; see seams.
	FaultPlan string `placeholder:"FILE" hidden:"" help:"Let the disk fail and the clock jump as FILE says: for tests only."`
	// Dumpable is for who debugs or measures it; see process.Conceal.
	Dumpable bool `env:"AGENTHOST_DUMPABLE" hidden:"" help:"Let other processes of this user read the server's memory and environment."`
	settings
}

// Run serves until a signal.
func (v *serveVerb) Run(c *console) (err error) {
	var seen error
	if !v.Dumpable {
		seen = process.Conceal() // before it knows of any secret but those of its environment
	}
	endProfile, err := startProfile(v.Profile)
	if err != nil {
		return exit(exitFailed, err)
	}
	defer func() { err = errors.Join(err, endProfile()) }()
	cfg, warnings, err := v.load(v.listenFlag())
	if err != nil {
		return err
	}
	hidden := redact.NewLive(values(cfg.Auth.Tokens)...) // the host tells it of every secret that it learns of
	defer crash.Install(func(text string) string { return hidden.Set().String(text) }, c.err)()
	defer crash.Guard()
	log := slog.New(redact.Handler(logger(c, cfg.Log).Handler(), hidden))
	for _, w := range warnings {
		log.Warn("configuration", "text", w)
	}
	if seen != nil {
		log.Warn("weaker guarantee: agents may read the server's environment", "error", seen)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)
	reloads := make(chan os.Signal, 1)
	signal.Notify(reloads, hangUp...)
	defer signal.Stop(reloads)

	ln, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return exit(exitFailed, fmt.Errorf("listen on %s: %w; another program may use the port: choose one with --port, 0 for a free one", cfg.Listen, err))
	}
	defer func() { _ = ln.Close() }()
	certificate, unwatch, err := openCertificate(cfg, log)
	if err != nil {
		return exit(exitFailed, err)
	}
	defer unwatch()
	runtimes, err := mount(cfg, local(cfg))
	if err != nil {
		return exit(exitFailed, err)
	}
	hidden.Add(secretsOf(cfg, runtimes)...)
	seams, err := openSeams(v.FaultPlan, log)
	if err != nil {
		return exit(exitUsage, err)
	}
	defer seams.close()
	guards, guarded := guard(log, true, secretFiles(cfg)...)
	defer guards.end()
	roster, err := rosterOf(cfg)
	if err != nil {
		return exit(exitUsage, err)
	}
	host, err := openHost(cfg, log, runtimes, seams, append(guarded, actors.WithHidden(hidden), actors.WithPolicy(roster), actors.WithShares(shares(cfg, roster)))...)
	if err != nil {
		return exit(exitFailed, err)
	}
	start, cancel := context.WithTimeout(context.Background(), time.Minute)
	err = host.Start(start)
	cancel()
	if err != nil {
		return exit(exitFailed, errors.Join(err, host.Stop(context.Background())))
	}
	book, err := openAudit(cfg, log)
	if err != nil {
		return exit(exitFailed, errors.Join(err, host.Stop(context.Background())))
	}
	defer func() { err = errors.Join(err, book.Close()) }()
	conf := serverConfig(cfg, log, host, roster, book)
	conf.Certificate = certificate
	srv, err := server.New(conf)
	if err != nil {
		return exit(exitFailed, errors.Join(err, host.Stop(context.Background())))
	}
	if w := plainKeys(runtimes); w != "" {
		log.Warn("secrets", "text", w)
	}
	if w := missingWorkspace(cfg); w != "" {
		log.Warn("workspace", "text", w)
	}
	announce(log, cfg, host, ln)

	served := make(chan error, 1)
	go func() {
		defer crash.Guard()
		served <- srv.Serve(ln)
	}()
	reaper := reapOrphans()
	defer reaper()
	book.Add(audit.Record{Operation: audit.OpStart, Detail: posture(cfg)})
	defer book.Add(audit.Record{Operation: audit.OpStop})
	running := *cfg // which the reloader changes
	reloading := (&reloader{
		load: func() (*config.Config, []string, error) { return v.load(v.listenFlag()) },
		apply: func(next *config.Config) error {
			p, err := compiled(next)
			if err != nil {
				return err
			}
			host.Hide(values(next.Auth.Tokens)...) // before any of them is taken
			if err := srv.Rekey(principals(next.Auth.Tokens), p); err != nil {
				return err
			}
			host.Reshare(shares(next, roster)) // by the policy that is in force now
			return nil
		},
		book: book, log: log, cfg: &running,
	}).start(reloads)
	defer reloading()

	select {
	case sig := <-signals:
		log.Info("stopping; a second signal ends at once", "signal", sig.String(), "drain_timeout", cfg.Limits.DrainTimeout)
	case err = <-served:
		served <- err
		log.Error("the listener failed", "error", err)
	case <-host.StoreFatal():
		log.Error("the store cannot keep its promises; stopping", "error", host.StoreErr())
		cfg.Limits.DrainTimeout = 0
	}
	go secondSignal(signals, log)
	err = errors.Join(err, stop(srv, host, cfg.Limits.DrainTimeout), <-served)
	if host.StoreErr() != nil {
		return exit(exitStore, host.StoreErr())
	}
	if err != nil {
		return exit(exitFailed, err)
	}
	log.Info("stopped")
	return nil
}

// streamsTimeout bounds how long readers get for their last events, and open
// requests for their answers.
const streamsTimeout = 5 * time.Second

// stop ends the server in the order that loses nothing.
func stop(srv *server.Server, host *actors.Host, drain time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	srv.Refuse()            // new requests are answered 503
	turns := host.Stop(ctx) // no new turns; running ones end, or are ended; last events; journal flushed; actors gone
	last, cancel := context.WithTimeout(context.Background(), streamsTimeout)
	defer cancel()
	streams := srv.EndStreams(last) // readers get what is pending
	listener := srv.Close(last)     // open answers go out, then the listener closes
	return errors.Join(turns, streams, listener)
}

// secondSignal ends the program at once. It lives until the program ends.
func secondSignal(signals <-chan os.Signal, log *slog.Logger) {
	defer crash.Guard()
	if sig, ok := <-signals; ok {
		log.Warn("ended at once; the warden ends what still runs", "signal", sig.String())
		os.Exit(exitFailed)
	}
}

// reapEvery is how long a dead process that nobody's turn sweeps up stays: in a
// container each one that somebody runs beside the server. A look reads one short file
// unless there is one.
const reapEvery = 2 * time.Second

// reapOrphans keeps dead adopted processes from piling up while nothing runs.
// The result ends it.
func reapOrphans() (end func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer crash.Guard()
		defer close(done)
		t := time.NewTicker(reapEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				process.ReapOrphans()
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// listenFlag makes --host and --port the key listen.
func (v *serveVerb) listenFlag() map[string]string {
	if v.Host == "" && v.Port == nil {
		return nil
	}
	host, port, err := net.SplitHostPort(or(v.given()["listen"], "127.0.0.1:9000"))
	if err != nil {
		host, port = "127.0.0.1", "9000"
	}
	if v.Host != "" {
		host = v.Host
	}
	if v.Port != nil {
		port = strconv.Itoa(*v.Port)
	}
	return map[string]string{"listen": net.JoinHostPort(host, port)}
}

// local says that only this machine reaches the server.
func local(cfg *config.Config) bool {
	host, _, err := net.SplitHostPort(cfg.Listen)
	return err == nil && config.Loopback(host)
}

func serverConfig(cfg *config.Config, log *slog.Logger, host *actors.Host, roster *policy.Roster, book *audit.Log) server.Config {
	out := server.Config{
		Host: server.Engine(host), AllowAnonymous: cfg.Auth.AllowAnonymous, Groups: cfg.Groups,
		Hosted: cfg.Environments.Hosted == "local", MaxBody: int(cfg.Limits.MaxBodyBytes),
		MaxConnections: cfg.Limits.MaxConnections, RequestsPerMinute: cfg.Limits.PrincipalRate,
		Heartbeat: cfg.Stream.Heartbeat, WriteTimeout: cfg.Stream.WriteTimeout,
		AllowInstall: cfg.AllowInstall, Policy: roster,
		MaxAddressConnections: cfg.Limits.MaxAddressConns, AddressRequestsPerMinute: cfg.Limits.AddressRate,
		Hosts: lowered(cfg.Web.Hosts), Origins: cfg.Web.Origins,
		CancelWait: cfg.Limits.InterruptGrace + cfg.Limits.TerminateGrace + 2*time.Second,
		Version:    version, Logger: log, Install: map[string][][]string{},
		Principals: principals(cfg.Auth.Tokens), Audit: book,
	}
	for _, r := range host.Runtimes(context.Background()) {
		out.Adapters = append(out.Adapters, responses.Adapter{Name: r.Name, Aliases: r.Aliases, Images: r.Capabilities.Images})
		if b := own(r.Name); b != nil && b.install != nil {
			out.Install[r.Name] = [][]string{b.install}
		}
	}
	return out
}

// unsigned warns when none of the installed CLIs has a credential that can be seen.
func unsigned(log *slog.Logger, cfg *config.Config, list []actors.Runtime) {
	var without []actors.Runtime
	for _, r := range list {
		switch {
		case !r.Installed:
		case credentialOf(cfg, r) != "":
			return
		default:
			without = append(without, r)
		}
	}
	if len(without) == 0 {
		return
	}
	lines := make([]string, len(without))
	for i, r := range without {
		lines[i] = r.Name + ": " + signInLine(cfg, r)
	}
	log.Warn(noCredential, "fix", strings.Join(lines, " | "))
}

// announce logs what a person wants to see at a start.
func announce(log *slog.Logger, cfg *config.Config, host *actors.Host, ln net.Listener) {
	for _, r := range host.Runtimes(context.Background()) {
		switch {
		case r.Installed:
			log.Info("agent", "adapter", r.Name, "path", r.Path, "version", r.Version, "driver", r.Driver, "home", string(r.Home), "permissions", string(r.Permissions), "default", r.Default)
		case r.Capabilities.Experimental: // nobody expects it
		default:
			log.Warn("agent is not installed", "adapter", r.Name, "binary", r.Binary, "fix", orTools(fix(r.Name, r.Binary), r.Binary))
		}
	}
	unsigned(log, cfg, host.Runtimes(context.Background()))
	for _, g := range host.Guarantees() {
		log.Debug("guarantee", "text", g)
	}
	log.Info("listening", "url", scheme(cfg)+ln.Addr().String(), "state_dir", cfg.StateDir, "config", or(cfg.File, "none"), "tokens", len(cfg.Auth.Tokens), "version", version, "pid", os.Getpid())
}
