package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/agenthost/agenthost/bench/load"
	"github.com/agenthost/agenthost/bench/measure"
	benchreport "github.com/agenthost/agenthost/bench/report"
)

// loadFlags are those of a bench that plays users of a running host.
type loadFlags struct {
	Target      string        `group:"load" placeholder:"URL" help:"The running host; without it this program measures itself."`
	Wire        string        `group:"load" enum:"responses,agents" default:"responses" help:"responses or agents."`
	Token       string        `group:"load" placeholder:"@NAME" help:"@NAME takes the token from the variable NAME. The token itself works and can be read by every user of this machine."`
	TokenEnv    string        `group:"load" placeholder:"NAME" help:"The variable that has the token."`
	TokenFile   string        `group:"load" placeholder:"FILE" type:"existingfile" help:"The file that has the token."`
	Model       string        `group:"load" default:"codex" help:"What turns ask for: an agent, an adapter or a model."`
	Prompt      string        `group:"load" default:"Reply with the single word: ok" help:"What users say."`
	Sessions    int           `group:"load" default:"8" help:"Users: conversations at once."`
	Rate        float64       `group:"load" help:"Turns due a second, whatever the host does; 0: each user asks when answered."`
	Duration    time.Duration `group:"load" default:"30s" help:"How long turns are begun."`
	Think       time.Duration `group:"load" help:"Without a rate: how long a user thinks about an answer."`
	New         float64       `group:"load" default:"0.1" help:"Share of turns in a new session."`
	Cancel      float64       `group:"load" default:"0" help:"Share of turns that are cancelled."`
	CancelAfter time.Duration `group:"load" default:"500ms" help:"How long after they were handed in."`
	Poll        float64       `group:"load" default:"0" help:"Share of turns that are asked for again and again instead of streamed."`
	Timeout     time.Duration `group:"load" default:"10m" help:"How long a turn may take."`
	Retry       bool          `group:"load" help:"Wait as long as Retry-After says and ask again."`
	Seed        uint64        `group:"load" default:"1" help:"The same seed plays the same mix."`
	MaxErrors   float64       `group:"load" default:"0" placeholder:"PERCENT" help:"Exit code 1 when more turns fail."`
	MaxP99      time.Duration `group:"load" name:"max-p99" placeholder:"TIME" help:"Exit code 1 when the 99th percentile of the wait is longer."`
}

// secret is the token, from where it is kept.
func (f *loadFlags) secret(errs io.Writer) (string, error) {
	ways := 0
	for _, v := range []string{f.Token, f.TokenEnv, f.TokenFile} {
		if v != "" {
			ways++
		}
	}
	if ways > 1 {
		return "", errors.New("give one of --token, --token-env and --token-file")
	}
	name := f.TokenEnv
	if ref, ok := strings.CutPrefix(f.Token, "@"); ok {
		name = ref
	}
	switch {
	case name != "":
		token := os.Getenv(name)
		if token == "" {
			return "", fmt.Errorf("the variable %s, which is to have the token, is empty", name)
		}
		return token, nil
	case f.TokenFile != "":
		b, err := os.ReadFile(f.TokenFile)
		if err != nil {
			return "", fmt.Errorf("the token: %w", err)
		}
		return strings.TrimSpace(string(b)), nil
	case f.Token != "":
		say(errs, "warning: every user of this machine can read the arguments of a program, and so this token; use --token-env or --token-file")
	}
	return f.Token, nil
}

// play loads the host and shows what came of it.
func (f *loadFlags) play(ctx context.Context, c *console, v *benchVerb) error {
	token, err := f.secret(c.err)
	if err != nil {
		return exit(exitUsage, err)
	}
	o := load.Options{
		Target: strings.TrimSuffix(f.Target, "/"), Wire: f.Wire, Token: token, Model: f.Model, Prompt: f.Prompt, Sessions: f.Sessions,
		Rate: f.Rate, Duration: f.Duration, Think: f.Think, New: f.New, Cancel: f.Cancel, CancelAfter: f.CancelAfter, Poll: f.Poll,
		Timeout: f.Timeout, Retry: f.Retry, Seed: f.Seed,
	}
	here, end := measure.Machine(), func() {}
	if !v.Silent {
		o.Every, o.Show, end = display(c.err)
	}
	r, err := load.Run(ctx, o)
	end()
	if err != nil {
		return exit(exitUsage, err)
	}
	r.Version, r.Commit, r.Machine = version, commit, here
	r.Machine.LoadAfter = measure.Machine().LoadBefore
	if err := load.Table(c.out, r); err != nil {
		return err
	}
	if err := v.write(r, nil, nil); err != nil {
		return err
	}
	return f.judge(r)
}

func (f *loadFlags) judge(r *benchreport.Result) error {
	var done, failed, p99 float64
	for _, c := range r.Cells {
		if c.Scenario != "load" || c.Case == "all" {
			continue
		}
		done, failed = done+c.Reps[0]["turns"], failed+c.Reps[0]["failed"]
		p99 = max(p99, c.Reps[0]["wait_p99_ms"])
	}
	if c := r.Cell("load", "all", f.Wire); c != nil {
		p99 = c.Reps[0]["wait_p99_ms"]
	}
	switch percent := 100 * failed / max(done+failed, 1); {
	case done+failed == 0:
		return exit(exitUsage, errors.New("no turn was played"))
	case percent > f.MaxErrors:
		return exit(exitFailed, fmt.Errorf("%.2f %% of the turns failed, %v are allowed", percent, f.MaxErrors))
	case f.MaxP99 > 0 && p99 > float64(f.MaxP99)/float64(time.Millisecond):
		return exit(exitFailed, fmt.Errorf("the 99th percentile of the wait is %.0f ms, %s is allowed", p99, f.MaxP99))
	}
	return nil
}

// terminal says whether a person looks at w, and it understands escapes.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// display shows progress: one line that changes on a terminal, else a line every ten
// seconds.
func display(w io.Writer) (every time.Duration, show func(load.Progress), end func()) {
	before, after, every := "", "\n", 10*time.Second
	end = func() {}
	if terminal(w) {
		before, after, every = "\r\x1b[K", "", time.Second
		end = func() { _, _ = io.WriteString(w, "\n") }
	}
	last, lastAt := 0, time.Duration(0)
	return every, func(p load.Progress) {
		rate := float64(p.Done-last) / max((p.Elapsed-lastAt).Seconds(), 1e-9)
		last, lastAt = p.Done, p.Elapsed
		_, _ = fmt.Fprintf(w, "%s%4.0f s  %d done  %.1f/s  %d running  %d late  %d failed  %d retried  wait p50 %s  p99 %s%s", before, p.Elapsed.Seconds(), p.Done, rate,
			p.Busy, p.Late, p.Failed, p.Retried, p.P50.Round(100*time.Microsecond), p.P99.Round(100*time.Microsecond), after)
	}, end
}
