package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/agenthost/agenthost/bench/drive"
	"github.com/agenthost/agenthost/bench/floor"
	"github.com/agenthost/agenthost/bench/hostproc"
	"github.com/agenthost/agenthost/bench/measure"
	"github.com/agenthost/agenthost/bench/plain"
	benchreport "github.com/agenthost/agenthost/bench/report"
	"github.com/agenthost/agenthost/fakes/acp"
	"github.com/agenthost/agenthost/fakes/appserver"
)

type benchVerbs struct {
	Run     benchVerb   `cmd:"" default:"withargs" help:"Measure this program beside bare processes and a plain host."`
	Compare compareVerb `cmd:"" help:"Show two results side by side."`
}

type benchVerb struct {
	Quick    bool     `help:"What fits in 90 seconds (the default)."`
	Full     bool     `help:"Everything; about 20 minutes."`
	Only     []string `name:"run" placeholder:"NAME" help:"Only these scenarios."`
	Cases    []string `name:"case" placeholder:"NAME" help:"Only these cases of the scenarios."`
	Subjects []string `placeholder:"NAME" help:"Only these subjects: spawn, copy, plain, plain-again, responses, agents, embedded."`
	Before   string   `placeholder:"FILE" type:"existingfile" help:"Also measure that build of the server, as responses-before and agents-before; the table has the ratio to it."`
	Reps     int      `help:"Repetitions of each case; 0 is 3, and 7 with --full."`
	Fake     string   `placeholder:"FILE" help:"The stand-in CLI; default: fake beside this program, else built by go."`
	Peers    []string `name:"peer" sep:"none" placeholder:"NAME=DRIVER:TARGET" help:"Also measure that host, in the scenarios that it has: sandbox-agent:PROGRAM, which is started, or responses:URL or agents:URL, which runs already and has the stand-in as its CLI; with ,model=NAME and ,pid=N behind it."`
	Out      string   `placeholder:"DIR" help:"Also write bench.json, bench.svg, bench.html and bench.md there, and flame graphs with --full if the go command is installed."`
	Profile  string   `placeholder:"DIR" help:"Have the server write its profiles there, and a flame graph if the go command is installed, of the last scenario that ran; for --run with one name and --subjects with one wire."`
	Silent   bool     `help:"Do not tell what is being measured, or how a load goes."`

	Load loadFlags `embed:"" group:"load"`
}

// Help says what --help adds.
func (*benchVerb) Help() string {
	return "Servers, floors and a plain host run as processes of their own, with a stand-in CLI; nothing outside this machine is used. " +
		"Figures are compared only within one repetition, as ratios.\n\n" +
		"With --target it plays users of a running host instead and says what they waited; see docs/sizing.md.\n\n" +
		"Exit codes: 0 all gates hold, 1 a gate fails in two of three tries, 2 something could not be measured."
}

// Run measures, judges and shows.
func (v *benchVerb) Run(c *console) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if v.Load.Target != "" {
		return v.Load.play(ctx, c, v)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fake, err := v.fake(self)
	if err != nil {
		return exit(exitUsage, err)
	}
	o := measure.Options{Self: self, Fake: fake, Full: v.Full, Run: v.Only, Cases: v.Cases, Subjects: v.Subjects, Reps: v.Reps, Out: c.err, Version: version, Commit: commit}
	o.Peers = measure.InstalledPeers()
	for _, text := range v.Peers {
		p, perr := measure.ParsePeer(text)
		if perr != nil {
			return exit(exitUsage, perr)
		}
		o.Peers = append(o.Peers, p)
	}
	if !v.Full && len(v.Peers) == 0 {
		o.Peers = nil // a quick run has no time for them
	}
	if v.Profile != "" {
		if v.Profile, err = filepath.Abs(v.Profile); err != nil {
			return err
		}
		o.ServerEnv = []string{"AGENTHOST_PROFILE=" + v.Profile}
	}
	if v.Before != "" {
		if o.Before, err = filepath.Abs(v.Before); err != nil {
			return err
		}
	}
	if v.Silent {
		o.Out = nil
	}
	r, err := measure.Run(ctx, o)
	if r == nil {
		return exit(exitUsage, err)
	}
	goals := benchreport.Shown(!v.Full)
	for _, p := range o.Peers {
		goals = append(goals, benchreport.Peers(p.Name)...)
	}
	var pictures []benchreport.Picture
	if v.Out != "" {
		if merr := os.MkdirAll(v.Out, 0o755); merr != nil {
			return merr
		}
		if v.Full {
			pictures = flames(ctx, o, r, v.Out, self)
		}
	}
	verdicts := benchreport.Judge(r, goals)
	if v.Profile != "" {
		if ferr := flame(ctx, v.Profile, self); ferr != nil {
			_, _ = fmt.Fprintln(c.err, "no flame graph was drawn:", ferr)
		}
	}
	if terr := benchreport.Table(c.out, r, verdicts); terr != nil {
		return terr
	}
	if gerr := benchreport.GrowthTable(c.out, benchreport.Growths(r, "agents")); gerr != nil {
		return gerr
	}
	if werr := v.write(r, verdicts, pictures); werr != nil {
		return werr
	}
	if err != nil {
		return exit(exitUsage, fmt.Errorf("not everything was measured: %w", err))
	}
	fails := benchreport.Fails(verdicts)
	if len(fails) > 0 {
		if fails, err = again(ctx, &o, goals, fails); err != nil {
			return exit(exitUsage, err)
		}
	}
	if len(fails) > 0 {
		return exit(exitFailed, fmt.Errorf("%d gates fail, the first: %s, %s, %s", len(fails), fails[0].Name, fails[0].In, fails[0].Subject))
	}
	return nil
}

// fake is the stand-in: the one beside this program, or one that go builds.
func (v *benchVerb) fake(self string) (string, error) {
	if v.Fake != "" {
		return filepath.Abs(v.Fake)
	}
	beside := filepath.Join(filepath.Dir(self), "fake")
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	bin, err := hostproc.Build()
	if err != nil {
		return "", fmt.Errorf("no stand-in CLI: there is none beside this program, and none could be built (%w); name one with --fake", err)
	}
	return bin.Fake, nil
}

// againReps are those of a try again of a full run, whose cases are long.
const againReps = 2

// again measures what missed a gate up to twice more, and keeps what missed it twice.
func again(ctx context.Context, o *measure.Options, goals []benchreport.Goal, fails []benchreport.Verdict) ([]benchreport.Verdict, error) {
	type key struct{ name, in, subject string }
	missed := map[key]int{}
	var lasting []benchreport.Verdict
	for try := 1; try <= 3 && len(fails) > 0; try++ {
		if try > 1 {
			next := *o
			next.Run, next.Cases, next.Subjects = []string{"fsync"}, []string{"append"}, []string{"fsync", "spawn", "plain", benchreport.Control}
			if o.Full {
				next.Reps = againReps
			}
			for _, f := range fails {
				next.Run, next.Cases, next.Subjects = append(next.Run, f.Scenario), append(next.Cases, f.In), append(next.Subjects, f.Subject)
			}
			r, err := measure.Run(ctx, next)
			if err != nil {
				return nil, fmt.Errorf("what missed a guard could not be measured again: %w", err)
			}
			fails = benchreport.Fails(benchreport.Judge(r, goals))
		}
		for _, f := range fails {
			k := key{f.Name, f.In, f.Subject}
			if missed[k]++; missed[k] == 2 {
				lasting = append(lasting, f)
			}
		}
	}
	return lasting, nil
}

func (v *benchVerb) write(r *benchreport.Result, verdicts []benchreport.Verdict, pictures []benchreport.Picture) error {
	if v.Out == "" {
		return nil
	}
	if err := os.MkdirAll(v.Out, 0o755); err != nil {
		return err
	}
	for name, write := range map[string]func(io.Writer) error{
		"bench.json": func(w io.Writer) error { return benchreport.JSON(w, r) },
		"bench.svg":  func(w io.Writer) error { return benchreport.Chart(w, r) },
		"bench.md":   func(w io.Writer) error { return benchreport.Markdown(w, r, verdicts) },
		"bench.html": func(w io.Writer) error { return benchreport.Page(w, r, verdicts, pictures...) },
	} {
		if name == "bench.md" && len(verdicts) == 0 {
			continue // users of a host were played, and nothing is judged
		}
		f, err := os.Create(filepath.Join(v.Out, name))
		if err != nil {
			return err
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

type compareVerb struct {
	First  string `arg:"" type:"existingfile" help:"bench.json of a run."`
	Second string `arg:"" type:"existingfile" help:"bench.json of another."`
}

// Run compares two results.
func (v *compareVerb) Run(c *console) error {
	a, err := readResult(v.First)
	if err != nil {
		return err
	}
	b, err := readResult(v.Second)
	if err != nil {
		return err
	}
	return benchreport.Compare(c.out, a, b, terminal(c.out))
}

func readResult(file string) (*benchreport.Result, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	r, err := benchreport.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// appServer is a stand-in of codex app-server.
func appServer(_ []string, in io.Reader, out, errs io.Writer) int {
	return partCode(errs, appserver.Serve(appserver.Options{Home: os.Getenv("CODEX_HOME"), Log: os.Getenv("FAKE_LOG")}, in, out))
}

// acpAgent is an agent for hosts that speak the Agent Client Protocol.
func acpAgent(_ []string, in io.Reader, out, errs io.Writer) int {
	home, err := os.MkdirTemp("", "bench-acp")
	if err == nil {
		err = (&acp.Agent{Home: home, Modes: []string{"yolo"}, Log: os.Getenv("FAKE_LOG"), End: drive.ACPEnd}).Serve(in, out)
		_ = os.RemoveAll(home)
	}
	return partCode(errs, err)
}

// partCode is the exit code of a part.
func partCode(errs io.Writer, err error) int {
	if err != nil {
		return fail(errs, exitFailed, err)
	}
	return 0
}

// benchPart is this program as a subject of its own bench.
func benchPart(args []string) int {
	parts := map[string]func([]string, io.Reader, io.Writer, io.Writer) int{"plain": plain.Main, "copy": floor.Main, "embedded": embedded, measure.ServerPart: appServer, measure.AgentPart: acpAgent}
	if len(args) > 0 && parts[args[0]] != nil {
		return parts[args[0]](args[1:], os.Stdin, os.Stdout, os.Stderr)
	}
	fmt.Fprintln(os.Stderr, "agenthost", measure.PartVerb, "is only for agenthost bench")
	return exitUsage
}
