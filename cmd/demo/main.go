package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
	"github.com/agenthost/agenthost/fakes/provider"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are where things are.
type options struct {
	server, fake, install, tools string
	standin                      bool
	serve                        bool
	listen                       string
	more                         []string // arguments of the server
}

func run(args []string, out, errs io.Writer) int {
	var o options
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.StringVar(&o.server, "server", "bin/agenthost", "the built server")
	fs.StringVar(&o.fake, "fake", "bin/fake", "the stand-in CLI")
	fs.StringVar(&o.install, "install", "fakes/tools/install.sh", "script that installs the pinned CLIs")
	fs.StringVar(&o.tools, "tools", "build/tools", "where it installs them")
	fs.BoolVar(&o.standin, "stand-in", false, "use the stand-in without trying to install Codex")
	fs.BoolVar(&o.serve, "serve", false, "leave the server up until Ctrl-C; what stands behind -- are arguments of \"agenthost serve\"")
	fs.StringVar(&o.listen, "listen", "", "address of the server (default a free port, with --serve 127.0.0.1:9000)")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	o.more = fs.Args()
	if o.listen == "" {
		o.listen = "127.0.0.1:0"
		if o.serve {
			o.listen = "127.0.0.1:9000"
		}
	}
	signals, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	// A write to a pipe that nobody reads would end the program on the spot and leave
	// the server running. Taken over, the write fails instead. The signal itself says
	// nothing: a broken connection sends it too.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	ctx, stop := context.WithCancelCause(signals)
	defer stop(nil)
	err := show(ctx, &o, &terminal{out: out, stop: stop})
	var gone *unread
	if errors.As(context.Cause(ctx), &gone) {
		err = gone // what failed afterwards failed because of it
	}
	if err != nil {
		_, _ = fmt.Fprintln(errs, "demo:", err)
		return 1
	}
	return 0
}

// terminal stops the demo when it can no longer be shown.
type terminal struct {
	out  io.Writer
	stop context.CancelCauseFunc
}

func (t *terminal) Write(p []byte) (int, error) {
	n, err := t.out.Write(p)
	if err != nil {
		t.stop(&unread{err})
	}
	return n, err
}

// unread says that the output has no reader any more.
type unread struct{ err error }

func (u *unread) Error() string { return "stopped, the output cannot be written: " + u.err.Error() }

// Unwrap gives the write's error.
func (u *unread) Unwrap() error { return u.err }

// show plays the two turns. Whatever it started is gone when it returns.
func show(ctx context.Context, o *options, out io.Writer) (err error) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	build := filepath.Dir(o.tools)
	if err := os.MkdirAll(build, 0o755); err != nil {
		return fmt.Errorf("make the build folder: %w", err)
	}
	// Not below the system's temporary directory: Codex does not like its home there.
	dir, err := os.MkdirTemp(build, "demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}

	codex, why, err := agent(ctx, o, dir)
	if err != nil {
		return err
	}
	say("The agent is %s.", why)
	say("The model behind it is scripted: its words are written in this repository, so no key is needed, and no network once the CLI is installed.")

	model := provider.New(provider.Script{})
	modelURL, err := model.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()

	h, err := startHost(ctx, o, codex, modelURL, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	say("The host listens on %s.\n", h.url)
	if o.serve {
		return wait(ctx, h, say)
	}

	c := &client{base: h.url, out: out}
	say("Turn 1, asked on the Responses wire: POST /v1/responses with stream: true")
	first, err := c.respond(ctx, "Please remember the colour teal. [[shell: echo hello from a real shell]]")
	if err != nil {
		return fmt.Errorf("turn 1: %w", err)
	}
	say("\nTurn 2 of the same session, asked on the Agents wire: POST and GET /v1/agents/sessions/%s/events", first.session)
	second, err := c.post(ctx, first.session, "What did I ask you to remember?")
	if err != nil {
		return fmt.Errorf("turn 2: %w", err)
	}
	if !strings.Contains(second, "teal") {
		return fmt.Errorf("turn 2 does not remember turn 1: %q", second)
	}
	say("\nBoth turns are one session of the agent: the second answer recalls the first.")
	return nil
}

// wait leaves the server to whoever asks it, until a signal.
func wait(ctx context.Context, h *host, say func(format string, args ...any)) error {
	say("Ask it for example:\n\n  curl -N %s/v1/responses -H 'Content-Type: application/json' -d '{\"model\": \"codex\", \"stream\": true, \"input\": \"[[shell: ls -la]] What is here?\"}'\n", h.url)
	say("The model says back what it hears and recalls what it is asked to remember. In a prompt it understands:\n")
	for line := range strings.Lines(mind.Help()) {
		say("  %s", strings.TrimRight(line, "\n"))
	}
	say("\nCtrl-C ends it; its sessions go with it.")
	select {
	case <-ctx.Done():
		return nil
	case <-h.ended:
		return errors.New("the server ended by itself")
	}
}

// agent finds or installs the CLI; why names it for a person.
func agent(ctx context.Context, o *options, dir string) (path, why string, err error) {
	real, err := filepath.Abs(filepath.Join(o.tools, "bin", "codex"))
	if err != nil {
		return "", "", err
	}
	reason := "asked for"
	if !o.standin {
		if reason = installed(ctx, o, real); reason == "" {
			return real, "the real Codex CLI, " + versionOf(ctx, real), nil
		}
	}
	fake, err := filepath.Abs(o.fake)
	if err != nil {
		return "", "", err
	}
	// The stand-in plays the CLI by whose name it is called.
	link := filepath.Join(dir, "codex")
	if err := os.Symlink(fake, link); err != nil {
		return "", "", fmt.Errorf("link the stand-in: %w", err)
	}
	return link, "a stand-in for Codex (" + reason + ")", nil
}

const installLimit = 4 * time.Minute

// installed makes sure that the real CLI is there; the reason why not, else "".
func installed(ctx context.Context, o *options, path string) string {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", o.install, "clis")
	cmd.WaitDelay = 5 * time.Second // what the script started may keep its output open
	cmd.Env = append(os.Environ(), "AGENTHOST_TOOLS="+filepath.Dir(filepath.Dir(path)))
	output, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err == nil:
		if _, err := os.Stat(path); err != nil {
			return "its package has no program for this machine"
		}
		return ""
	case errors.As(err, &ended) && ended.ExitCode() == 3:
		return "npm is not there to install the real one"
	default:
		lines := strings.Split(strings.TrimSpace(string(output)), "\n")
		return "the real one could not be installed: " + lines[len(lines)-1]
	}
}

func versionOf(ctx context.Context, path string) string {
	b, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "version unknown"
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return line
}
