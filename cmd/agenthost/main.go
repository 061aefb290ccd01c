package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/bench/chaos"
	"github.com/agenthost/agenthost/bench/measure"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/cmd/warden"
)

// Exit codes.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitTurn      = 3
	exitStore     = 74
	exitCancelled = 130
)

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] { // hidden ones, before anything else: they are to stay small
		case warden.Verb:
			os.Exit(warden.Main(os.Args[2:]))
		case isolation.Verb:
			os.Exit(isolation.Main(os.Args[2:]))
		case chaos.CLIVerb:
			os.Exit(chaos.CLI(os.Args[2:]))
		case chaos.ObserverVerb:
			os.Exit(chaos.Observe(os.Args[2:]))
		case measure.PartVerb:
			os.Exit(benchPart(os.Args[2:]))
		}
	}
	os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// console is where a verb reads and writes.
type console struct {
	in       io.Reader
	out, err io.Writer
}

type verbs struct {
	Serve       serveVerb       `cmd:"" help:"Serve the Responses and Agents wires until SIGTERM or SIGINT."`
	Run         runVerb         `cmd:"" help:"Ask a coding agent one thing and print its answer."`
	Doctor      doctorVerb      `cmd:"" help:"Say what works on this machine, what is missing, and how to fix it."`
	Install     installVerb     `cmd:"" help:"Install the CLI of a coding agent, or list what can be installed."`
	Config      configVerbs     `cmd:"" help:"Look at the configuration."`
	Policy      policyVerbs     `cmd:"" help:"Check the policy, or say which statement decides on an operation and why."`
	CheckConfig configCheckVerb `cmd:"" hidden:"" help:"Same as config check."`
	Healthcheck healthVerb      `cmd:"" help:"Ask a running server whether it is alive: exit code 0 or 1."`
	Adapter     adapterVerbs    `cmd:"" help:"Write an adapter of your own, or test an installed CLI."`
	Store       storeVerbs      `cmd:"" help:"Look at stored sessions, check, repair and compact the store, and move sessions between stores."`
	Audit       auditVerbs      `cmd:"" help:"Read the book of security-relevant acts."`
	Bench       benchVerbs      `cmd:"" help:"Measure this program beside bare processes and a plain host, compare results, or load a running host."`
	Chaos       chaosVerb       `cmd:"" help:"Torture a server of this program for a while and say which promises it broke."`
	Version     versionVerb     `cmd:"" help:"Print version, commit and platform."`
	Help        helpVerb        `cmd:"" help:"Explain a verb, as its --help does: help serve."`
}

// exitError ends the program with a code. Its text may be empty.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// Unwrap gives the reason.
func (e *exitError) Unwrap() error { return e.err }

func exit(code int, err error) error { return &exitError{code, err} }

// Main is the program without the process: it returns the exit code.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	var v verbs
	v.plugSettings()
	code := -1
	parser, err := kong.New(&v,
		kong.Name("agenthost"),
		kong.Description("agenthost hosts coding-agent CLIs (Codex, Claude Code and others) and serves them on the OpenAI Responses and Agents wires."),
		kong.Writers(out, errs),
		kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{{Key: "load", Title: "Playing users of a running host:"}, {Key: "settings", Title: "Settings, each also a key of the file and a variable AGENTHOST_...:"}}),
		kong.Bind(&console{in: in, out: out, err: errs}),
	)
	if err != nil {
		return fail(errs, exitFailed, err)
	}
	args = asked(args)
	ctx, err := parser.Parse(args)
	if code >= 0 { // --help has answered
		return code
	}
	if err != nil {
		var pe *kong.ParseError
		hint := "agenthost"
		if errors.As(err, &pe) && pe.Context.Command() != "" {
			hint += " " + pe.Context.Command()
		}
		return fail(errs, exitUsage, fmt.Errorf("%w (see %s --help)", err, hint))
	}
	if err := ctx.Run(); err != nil {
		var e *exitError
		if errors.As(err, &e) {
			return fail(errs, e.code, e.err)
		}
		return fail(errs, exitFailed, err)
	}
	return 0
}

// asked makes `help VERB` and no verb at all what --help says, and --version the verb.
func asked(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "--version": // a flag of this name belongs to install
		return []string{"version"}
	case args[0] == "help" && (len(args) == 1 || args[1] != "--help"):
		return append(args[1:len(args):len(args)], "--help")
	}
	return args
}

// helpVerb is there to be listed; asked has replaced it before it could run.
type helpVerb struct {
	Verb []string `arg:"" optional:"" help:"What to explain."`
}

// Run is not reached.
func (helpVerb) Run() error { return nil }

func fail(w io.Writer, code int, err error) int {
	var problems config.Problems
	switch {
	case err == nil:
	case errors.As(err, &problems):
		for _, p := range problems {
			_, _ = fmt.Fprintln(w, p)
		}
	default:
		_, _ = fmt.Fprintln(w, "agenthost:", err)
	}
	return code
}

// say prints to a console; a closed terminal is not worth an error.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
