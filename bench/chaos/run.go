package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
	"github.com/agenthost/agenthost/bench/chaos/faultplan"
	"github.com/agenthost/agenthost/bench/chaos/judge"
	"github.com/agenthost/agenthost/bench/chaos/observer"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
	"github.com/agenthost/agenthost/bench/hostproc"
)

// Verbs of the program, hidden ones, that a run starts it with.
const (
	ObserverVerb = "chaos-observer"
	CLIVerb      = "chaos-cli"
)

// Config of a run.
type Config struct {
	Program  string // agenthost, which is server, observer and CLIs
	Seed     uint64
	Profile  string
	Duration time.Duration // no cycle begins after it
	Dir      string        // for everything; must be empty
	Version  string
	Machine  string
	Progress io.Writer
}

// Promises about the server, besides those of package judge.
const (
	Serves  = "the server serves, and ends only when it must"
	NoTrace = "nothing outlives its turn"
	Flat    = "the server holds no more than before"
)

// conductor is a run.
type conductor struct {
	Config
	stage   *stage
	host    *hostproc.Host
	plan    faultplan.Plan // of the healthy server, with its boot
	boots   int
	report  *Report
	orders  io.Writer            // to the observer
	answers <-chan observer.Done // from it
	nap     string
	warden  bool // it was killed in this cycle
	held    bool // report.First is set
}

// Run tortures a server. The error is about the run itself; broken promises are in the
// report.
func Run(ctx context.Context, cfg Config) (report *Report, err error) {
	c := &conductor{Config: cfg, stage: &stage{dir: cfg.Dir}, nap: fmt.Sprint(7_000_000 + os.Getpid())}
	c.report = &Report{
		Seed: cfg.Seed, Profile: cfg.Profile, Version: cfg.Version, Machine: cfg.Machine,
		Faults: map[schedule.FaultKind]int{}, Skipped: schedule.Skipped, Broken: []judge.Broken{},
	}
	began := time.Now()
	defer func() {
		if stop := recover(); stop != nil {
			h, ok := stop.(halt)
			if !ok {
				panic(stop)
			}
			c.broke(Serves, "server", "%s", string(h))
		}
		c.report.Took = time.Since(began)
		c.report.Schedule = schedule.Plan{Seed: cfg.Seed}.Text(c.report.Cycles)
		if c.host != nil {
			err = errors.Join(err, os.WriteFile(filepath.Join(cfg.Dir, "server.log"), []byte(c.host.Log()), 0o600))
		}
		c.stage.end()
		report = c.report
	}()
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	for n := 0; n < 2 || time.Since(began) < cfg.Duration; n++ {
		if err := c.cycle(ctx, schedule.Plan{Seed: cfg.Seed}.Cycle(n)); err != nil {
			return nil, err
		}
		c.report.Cycles = n + 1
		if len(c.report.Broken) > 0 {
			return nil, nil
		}
	}
	c.atRest(true)
	c.host.Stop()
	c.took(NoTrace)
	return nil, nil
}

func (c *conductor) broke(promise, where, format string, args ...any) {
	c.report.Broken = append(c.report.Broken, judge.Broken{Promise: promise, Where: where, Detail: fmt.Sprintf(format, args...)})
}

// took makes broken promises of what hostproc complained about.
func (c *conductor) took(promise string) {
	for _, text := range c.stage.took() {
		c.broke(promise, "server", "%s", text)
	}
}

func (c *conductor) planFile() string { return filepath.Join(c.Dir, "plan") }

// open writes the CLIs and starts the server and the observer.
func (c *conductor) open(ctx context.Context) error {
	c.plan.Boot = "boot-0"
	if err := errors.Join(os.MkdirAll(filepath.Join(c.Dir, "cli"), 0o700), c.plan.Write(c.planFile())); err != nil {
		return err
	}
	adapters := map[string]any{}
	for _, name := range programs {
		if err := os.WriteFile(c.cli(name), []byte(c.script(name)), 0o755); err != nil {
			return err
		}
	}
	for adapter, name := range map[string]string{schedule.Shared: "codex", schedule.Bound: "claude"} {
		adapters[adapter] = map[string]any{"binary": c.cli(name), "home": "private", "driver": "persistent", "passthrough_env": []string{"FAKE_LOG"}}
	}
	adapters[schedule.Exec] = map[string]any{
		"adapter": "command", "passthrough_env": []string{"FAKE_LOG"}, "output": map[string]any{"format": "jsonl-claude"},
		"command": []string{c.cli(schedule.Exec), "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages", "--permission-mode", "bypassPermissions"},
		"resume":  map[string]any{"args": []string{"--resume", "{session_id}"}},
	}
	c.host = hostproc.Start(c.stage, hostproc.Options{
		Bin:      &hostproc.Binaries{Server: c.Program},
		Args:     []string{"--fault-plan", c.planFile()},
		Env:      []string{"FAKE_LOG=" + filepath.Join(c.Dir, evidence.RunsFile)},
		Adapters: adapters,
		Config: map[string]any{"limits": map[string]any{
			"max_concurrent_turns": 6, "passivate_after": "1s", "runner_idle": "1s", "linger": "300ms",
			"interrupt_grace": "500ms", "terminate_grace": "300ms", "drain_timeout": "2s",
			"idle_timeout": "30s", "turn_timeout": "60s", "min_free_disk": "16MiB", "min_available_memory": "16MiB",
		}},
	})
	if err := c.started(); err != nil {
		return err
	}
	return c.observe(ctx)
}

// started tells the observer where the server is.
func (c *conductor) started() error {
	c.report.Starts++
	file := filepath.Join(c.Dir, observer.URLFile)
	return errors.Join(os.WriteFile(file+".new", []byte(c.host.URL), 0o600), os.Rename(file+".new", file))
}

func (c *conductor) cli(name string) string { return filepath.Join(c.Dir, "cli", name) }

// programs are the CLIs that the server is given.
var programs = []string{schedule.Exec, "codex", "claude"}

// script runs a stand-in. That of a program which has no home of its own keeps its
// sessions beside it, and is told that its prompt may be run by root.
func (c *conductor) script(name string) string {
	start := "#!/bin/sh\n"
	if name == schedule.Exec {
		start += "export IS_SANDBOX=1 CLAUDE_CONFIG_DIR='" + strings.ReplaceAll(c.cli("home"), "'", `'\''`) + "'\n"
	}
	return start + "exec '" + strings.ReplaceAll(c.Program, "'", `'\''`) + "' " + CLIVerb + " " + name + ` "$@"` + "\n"
}

// observe starts the observer; it ends when its orders do.
func (c *conductor) observe(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.Program, ObserverVerb, c.Dir)
	errs, err := os.Create(filepath.Join(c.Dir, "observer.err"))
	if err != nil {
		return err
	}
	cmd.Stderr = errs
	orders, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answers := make(chan observer.Done)
	go func() { // ends with the observer
		defer close(answers)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var d observer.Done
			if json.Unmarshal(lines.Bytes(), &d) == nil {
				answers <- d
			}
		}
	}()
	c.orders, c.answers = orders, answers
	c.stage.Cleanup(func() {
		_ = orders.Close()
		_ = cmd.Process.Kill()
		for range answers { // its output has ended, or nobody asks any more
		}
		_ = cmd.Wait() // killed, as asked
		_ = errs.Close()
	})
	return nil
}

// cycleLimit is how long a cycle may take to come to rest.
const cycleLimit = 5 * time.Minute

func (c *conductor) cycle(ctx context.Context, cycle schedule.Cycle) error {
	began := time.Now()
	b, err := json.Marshal(observer.Order{Cycle: cycle, Nap: c.nap})
	if err != nil {
		return err
	}
	if _, err := c.orders.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("the observer is gone: %w", err)
	}
	c.warden = false
	for _, f := range cycle.Faults {
		if err := c.wait(ctx, time.Until(began.Add(f.At))); err != nil {
			return err
		}
		if err := c.inject(ctx, f); err != nil {
			return err
		}
		c.took(Serves)
	}
	select {
	case _, ok := <-c.answers:
		if !ok {
			return errors.New("the observer ended; see observer.err")
		}
	case <-c.host.Done():
		c.broke(Serves, "server", "it ended by itself with exit code %d: %s", c.host.ExitCode(), c.host.LogTail())
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(cycleLimit):
		c.broke(judge.ComesToRest, fmt.Sprintf("cycle %d", cycle.Number), "it does not come to rest within %s", cycleLimit)
		return nil
	}
	c.atRest(false)
	if err := c.judge(cycle); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Progress, "cycle %d in %s: %s\n", cycle.Number, time.Since(began).Round(time.Millisecond), names(cycle.Faults))
	return err
}

func names(faults []schedule.Fault) string {
	if len(faults) == 0 {
		return "no fault"
	}
	var list []string
	for _, f := range faults {
		list = append(list, string(f.Kind))
	}
	return strings.Join(list, ", ")
}

// judge asks package judge about a cycle.
func (c *conductor) judge(cycle schedule.Cycle) error {
	records, err := evidence.Records(c.Dir, cycle.Number)
	if err != nil {
		return err
	}
	runs, err := evidence.Runs(c.Dir)
	if err != nil {
		return err
	}
	k := &judge.Case{Cycle: cycle, Records: records, Runs: runs, Read: func(file string) ([]byte, error) {
		return os.ReadFile(filepath.Join(c.Dir, file))
	}}
	broken, figures := k.Judge()
	c.report.Broken = append(c.report.Broken, broken...)
	c.report.count(figures)
	return nil
}

// wait sleeps, unless the run is over.
func (c *conductor) wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
