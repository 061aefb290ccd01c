package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/cmd/config"
)

type adapterVerbs struct {
	Certify adapterCertifyVerb `cmd:"" help:"Test an installed CLI by both drivers against a scripted model, and have driver auto take the persistent one for it."`

	Try adapterTryVerb `cmd:"" help:"Run a declared adapter once and show what became of each line that its program printed."`
}

type adapterTryVerb struct {
	File    string   `arg:"" name:"config" help:"Configuration file with the definition: an entry of agents with adapter: command."`
	Prompt  []string `arg:"" optional:"" help:"What to ask, behind --. Without it, it is read from standard input."`
	Name    string   `short:"n" placeholder:"NAME" help:"Which adapter of the file, if it declares several."`
	Model   string   `short:"m" placeholder:"NAME" help:"Model to name to the program."`
	Resume  string   `placeholder:"ID" help:"The program's own id of a conversation to go on with: what a later turn would do."`
	Workdir string   `short:"C" placeholder:"DIR" help:"Directory the program works in. Default: the current one."`
}

// Help says what --help adds.
func (*adapterTryVerb) Help() string {
	return "For writing a definition: agenthost adapter try agenthost.yaml -- say hello\n\n" +
		"Shown are the program and its arguments, how it gets the prompt, the names (never the values) of the variables in its environment, " +
		"each line that it prints and, indented, the facts it became, then the items, the verdict and the exit as a caller would be told them, " +
		"and the arguments of the next turn. A line that no rule of the definition matches is shown as unknown: a path in the definition is then wrong, or not needed.\n\n" +
		"The program runs once, as a turn of a server would run it, without a server and with nothing stored; Ctrl-C cancels it.\n\n" +
		"Exit codes: 0 completed, 1 refused, 2 wrong use or definition, 3 the turn failed, 130 cancelled."
}

// Run plays one turn.
func (v *adapterTryVerb) Run(c *console) error {
	cfg, name, err := v.definition(c)
	if err != nil {
		return err
	}
	prompt, _, err := (&runVerb{Prompt: v.Prompt}).prompt(c.in)
	if err != nil {
		return exit(exitUsage, err)
	}
	workdir, err := directory(v.Workdir)
	if err != nil {
		return exit(exitUsage, err)
	}
	// The rest of the file is of no matter here.
	cfg.Agents.Runtimes = map[string]*config.Runtime{name: cfg.Agents.Runtimes[name]}
	cfg.Agents.Default = name
	cfg.Agents.Runtimes[name].Home = "inherit" // a private one would stay behind
	runtimes, err := mount(cfg, true)
	if err != nil {
		return exit(exitUsage, err)
	}
	p := &trial{out: c.out, passthrough: runtimes[0].Passthrough, exit: cfg.Agents.Runtimes[name].Exit}
	runtimes[0].Adapter = &tried{Adapter: runtimes[0].Adapter, trial: p, native: v.Resume}
	return v.play(c, cfg, runtimes, p, prompt, workdir)
}

// definition finds the adapter that is meant.
func (v *adapterTryVerb) definition(c *console) (cfg *config.Config, name string, err error) {
	src := config.Here(v.File, nil)
	src.Aliases = aliases()
	cfg, warnings, err := config.Load(src)
	if err != nil {
		return nil, "", exit(exitUsage, err)
	}
	for _, w := range warnings {
		say(c.err, "warning: %s", w)
	}
	var declared []string
	for n, r := range cfg.Agents.Runtimes {
		if r.Adapter == "command" {
			declared = append(declared, n)
		}
	}
	sort.Strings(declared)
	switch {
	case len(declared) == 0:
		err = fmt.Errorf("%s declares no adapter; write agents: {mytool: {adapter: command, command: [mytool]}}", v.File)
	case v.Name == "" && len(declared) > 1:
		err = fmt.Errorf("%s declares %s; choose one with --name", v.File, strings.Join(declared, ", "))
	case v.Name == "":
		return cfg, declared[0], nil
	case cfg.Agents.Runtimes[v.Name] == nil || cfg.Agents.Runtimes[v.Name].Adapter != "command":
		err = fmt.Errorf("%s declares no adapter %q; it has %s", v.File, v.Name, strings.Join(declared, ", "))
	default:
		return cfg, v.Name, nil
	}
	return nil, "", exit(exitUsage, err)
}

// play runs the turn in a host of its own and tells its end.
func (v *adapterTryVerb) play(c *console, cfg *config.Config, runtimes []actors.RuntimeConfig, p *trial, prompt, workdir string) error {
	ctx := context.Background()
	interrupted := make(chan os.Signal, 2)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	host, stop, err := throwaway(ctx, cfg, slog.New(slog.DiscardHandler), runtimes)
	if err != nil {
		return exit(exitFailed, err)
	}
	run := &runVerb{Model: v.Model}
	posted, err := run.post(ctx, host, workdir, prompt)
	if err != nil {
		return exit(exitFailed, errors.Join(refusal(err), stop()))
	}
	quiet := &console{in: c.in, out: io.Discard, err: io.Discard}
	end, err := run.follow(ctx, quiet, host, posted, interrupted)
	var turn *fold.Turn
	if err == nil {
		turn, err = host.Turn(ctx, terminalOwner, posted.Turns[0].ID)
	}
	// Only now is the program's output at its end, however soon the verdict came.
	if err = errors.Join(err, stop()); err != nil {
		return exit(exitFailed, err)
	}
	p.end(end, turn.Items)
	return verdict(end.Outcome, end.Failure)
}

// trial prints what happens. Its parts come from different goroutines of the host.
type trial struct {
	mu          sync.Mutex
	out         io.Writer
	passthrough []string
	exit        config.Exit
	lines       int
	native      string                     // the program's own id of the conversation
	next        func(native string) string // the arguments of the next turn
}

func (p *trial) say(what, format string, args ...any) {
	say(p.out, "%-10s "+format, append([]any{what}, args...)...)
}

// started shows how the program is run.
func (p *trial) started(r *agent.Request, inv *agent.Invocation, next func(native string) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = next
	p.say("program", "%s", r.Binary)
	p.say("arguments", "%s", words(inv.Args))
	if len(inv.Stdin) > 0 {
		p.say("stdin", "%s", shown(string(inv.Stdin)))
	} else {
		p.say("stdin", "empty")
	}
	p.say("environ", "%s", strings.Join(actors.EnvNames(os.Environ(), p.passthrough, inv), " "))
	if inv.ExitIsVerdict {
		p.say("success", "is exit status %s: the definition names no last line", statuses(p.exit.Success))
	}
	if len(p.exit.Failures) > 0 {
		p.say("failure", "is exit status %s", failures(p.exit.Failures))
	}
}

// statuses are those of success.
func statuses(list []int) string {
	if list == nil {
		return "0"
	}
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " or ")
}

// failures are statuses with their codes.
func failures(codes map[string]string) string {
	words := make([]string, 0, len(codes))
	for status, code := range codes {
		words = append(words, status+": "+code)
	}
	sort.Strings(words)
	return strings.Join(words, ", ")
}

// words are arguments as they are, quoted where a reader could not tell them apart.
func words(args []string) string {
	if len(args) == 0 {
		return "none"
	}
	list := make([]string, len(args))
	for i, a := range args {
		list[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' }) {
			list[i] = strconv.Quote(a)
		}
	}
	return strings.Join(list, " ")
}

// longest is the longest line that is shown whole.
const longest = 2000

// shown is a text on one line.
func shown(text string) string {
	more := ""
	if len(text) > longest {
		more = fmt.Sprintf(" (%d bytes)", len(text))
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		text = strconv.Quote(text)
	}
	return text + more
}

// told shows a line, or the exit, and its facts.
func (p *trial) told(line []byte, exited *agent.Exit, facts []agent.Fact) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if exited != nil {
		p.say("exit", "%s", status(exited))
		if exited.Stderr != "" {
			for l := range strings.Lines(exited.Stderr) {
				p.say("stderr", "%s", shown(strings.TrimSuffix(l, "\n")))
			}
		}
	} else {
		p.lines++
		p.say(fmt.Sprintf("line %d", p.lines), "%s", shown(string(line)))
		if len(facts) == 0 {
			p.say("", "  nothing")
		}
	}
	for _, f := range facts {
		if f.Kind == agent.FactSession {
			p.native = f.Text
		}
		p.say("", "  %s", f)
	}
}

func status(e *agent.Exit) string {
	if e.Signal != "" {
		return "signal " + e.Signal
	}
	return fmt.Sprintf("status %d", e.Code)
}

// end shows what a caller is told.
func (p *trial) end(end *event.End, items []*event.Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, it := range items {
		p.say("item", "%s", strings.TrimPrefix(agent.Fact{Kind: agent.FactDone, Item: it}.String(), "done "))
	}
	p.say("verdict", "%s", end.Outcome)
	if f := end.Failure; f != nil {
		p.say("failure", "%s: %s", f.Code, f.Message)
	}
	if p.next != nil {
		p.say("next turn", "%s", p.next(p.native))
	}
}

// tried is an adapter that shows what it is asked and what it answers.
type tried struct {
	agent.Adapter
	trial  *trial
	native string
}

// resumed is the request of a later turn, if one was asked for.
func (a *tried) resumed(r *agent.Request) *agent.Request {
	if a.native == "" {
		return r
	}
	own := *r
	own.Native = a.native
	return &own
}

// Validate is the adapter's.
func (a *tried) Validate(r *agent.Request) error { return a.Adapter.Validate(a.resumed(r)) }

// Invocation is the adapter's, shown.
func (a *tried) Invocation(r *agent.Request) (*agent.Invocation, error) {
	r = a.resumed(r)
	inv, err := a.Adapter.Invocation(r)
	if err != nil {
		return nil, err
	}
	a.trial.started(r, inv, func(native string) string {
		if !a.Capabilities().Resume {
			return "begins anew: the definition has neither resume.args nor resume.argv"
		}
		if native == "" {
			return "begins anew: the program told no session id"
		}
		own := *r
		own.Native = native
		inv, err := a.Adapter.Invocation(&own)
		if err != nil {
			return "is refused: " + refusal(err).Error()
		}
		return words(inv.Args)
	})
	return inv, nil
}

// NewParser is the adapter's, shown.
func (a *tried) NewParser(r *agent.Request) agent.Parser {
	return &triedParser{a.Adapter.NewParser(a.resumed(r)), a.trial}
}

type triedParser struct {
	agent.Parser
	trial *trial
}

// Feed reads one line.
func (p *triedParser) Feed(line []byte, out *agent.Batch) {
	before := len(out.Facts)
	p.Parser.Feed(line, out)
	p.trial.told(line, nil, out.Facts[before:])
}

// Close reads the end.
func (p *triedParser) Close(e agent.Exit, out *agent.Batch) {
	before := len(out.Facts)
	p.Parser.Close(e, out)
	p.trial.told(nil, &e, out.Facts[before:])
}
