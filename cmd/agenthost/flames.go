package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/agenthost/agenthost/bench/measure"
	benchreport "github.com/agenthost/agenthost/bench/report"
)

// flameOf is a piece of work whose server is profiled for a report.
type flameOf struct {
	name, title    string
	scenario, kase string
	reps           int
}

// flamed are the works that a full report has flame graphs of; a scenario that misses a
// goal names the one of it.
var flamed = []flameOf{
	{"turn", "CPU of the server: turns of ten messages, 16 at a time (Agents wire)", "turn", "c=16", 3},
	{"delta", "CPU of the server: deltas of 200 B, one turn at full speed (Agents wire)", "rate", "deltas 200", 8},
	{"fan", "CPU of the server: one turn to 32 readers (Agents wire)", "fan", "32 readers", 4},
	{"latency", "CPU of the server: 16 turns at a moderate rate (Agents wire)", "latency", "turns=16", 2},
	{"sessions", "CPU of the server: sessions made by 64 clients (Agents wire)", "create", "10000 sessions", 1},
}

// flames measures the work again with a profile in the server, and draws each that ran
// into dir. A graph that could not be drawn is a note: it needs the go command.
func flames(ctx context.Context, o measure.Options, r *benchreport.Result, dir, self string) []benchreport.Picture {
	var out []benchreport.Picture
	for _, f := range flamed {
		if !slices.ContainsFunc(r.Cells, func(c benchreport.Cell) bool { return c.Scenario == f.scenario && c.Case == f.kase }) {
			continue
		}
		svg, err := drawn(ctx, o, f, self)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.name+".svg"), svg, 0o644)
		}
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("no flame graph of %s: %v", f.name, err))
			continue
		}
		if r.Flames == nil {
			r.Flames = map[string]string{}
		}
		r.Flames[f.scenario] = f.name + ".svg"
		out = append(out, benchreport.Picture{Name: f.title, SVG: svg})
	}
	return out
}

func drawn(ctx context.Context, o measure.Options, f flameOf, self string) ([]byte, error) {
	profile, err := os.MkdirTemp("", "bench-profile")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(profile) }()
	o.Run, o.Cases, o.Subjects, o.Reps = []string{f.scenario}, []string{f.kase}, []string{"agents"}, f.reps
	o.ServerEnv = append(slices.Clone(o.ServerEnv), "AGENTHOST_PROFILE="+profile)
	if _, err := measure.Run(ctx, o); err != nil {
		return nil, err
	}
	return draw(ctx, filepath.Join(profile, "cpu.pprof"), f.title, self)
}

// flame draws a server's profile beside it.
func flame(ctx context.Context, dir, self string) error {
	svg, err := draw(ctx, filepath.Join(dir, "cpu.pprof"), "CPU of the server", self)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "cpu.svg"), svg, 0o644)
}

// draw draws a profile with the help of the go command.
func draw(ctx context.Context, profile, title, self string) ([]byte, error) {
	text, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-traces", self, profile).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go tool pprof: %w", err)
	}
	var svg bytes.Buffer
	err = benchreport.Flame(&svg, title, bytes.NewReader(text))
	return svg.Bytes(), err
}
