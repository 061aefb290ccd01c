package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/bench/chaos"
)

type chaosVerb struct {
	Profile  string         `default:"short" enum:"short,long" help:"How long it takes: short is 50 s, long 10 minutes."`
	Seed     *uint64        `placeholder:"N" help:"Of the schedule; the same seed repeats it. One is chosen and told if there is none."`
	Duration *time.Duration `placeholder:"TIME" help:"Another time than the profile's: 20s, 1h."`
	JSON     bool           `name:"json" help:"Print the report as JSON."`
	Dir      string         `placeholder:"DIR" help:"Directory for everything, new or empty; a temporary one by default, which stays only as evidence of a broken promise."`
}

var chaosProfiles = map[string]time.Duration{"short": 50 * time.Second, "long": 10 * time.Minute}

// Help is what stands below the one-line help.
func (chaosVerb) Help() string {
	return "It starts a server of its own with stand-in CLIs, sends it work on both wires, and kills, stops, drains and starves it, its CLIs and its disk. " +
		"Whether a promise was broken is judged from what the callers saw and what the CLIs say they ran. Exit code 1 says that one was; the evidence stays. " +
		"It needs no key, no network, no root, and no CLI."
}

// Run tortures a server of this program.
func (v *chaosVerb) Run(c *console) error {
	self, err := os.Executable()
	if err != nil {
		return exit(exitFailed, err)
	}
	cfg := chaos.Config{Program: self, Profile: v.Profile, Duration: chaosProfiles[v.Profile], Dir: v.Dir, Version: about(), Machine: machine(), Progress: c.err}
	if v.Seed != nil {
		cfg.Seed = *v.Seed
	} else {
		cfg.Seed = uint64(rand.Uint32())
	}
	if v.Duration != nil {
		cfg.Duration = *v.Duration
	}
	if cfg.Dir, err = emptyDir(v.Dir); err != nil {
		return exit(exitUsage, err)
	}
	say(c.err, "chaos: seed %d for %s, in %s", cfg.Seed, cfg.Duration, cfg.Dir)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := chaos.Run(ctx, cfg)
	switch {
	case err == nil && len(report.Broken) == 0 && v.Dir == "":
		err = os.RemoveAll(cfg.Dir)
	case v.Dir != "" || err == nil:
		report.Evidence = cfg.Dir
	}
	if err != nil {
		return exit(exitFailed, fmt.Errorf("the run could not go on (in %s): %w", cfg.Dir, err))
	}
	if v.JSON {
		b, err := jsoniter.ConfigCompatibleWithStandardLibrary.MarshalIndent(report, "", "  ")
		if err != nil {
			return exit(exitFailed, err)
		}
		say(c.out, "%s", b)
	} else if err := report.Write(c.out); err != nil {
		return exit(exitFailed, err)
	}
	if len(report.Broken) > 0 {
		return exit(exitFailed, nil)
	}
	return nil
}

// emptyDir makes the run's directory.
func emptyDir(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "agenthost-chaos-")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	list, err := os.ReadDir(dir)
	if err == nil && len(list) > 0 {
		err = errors.New("the directory " + dir + " is not empty: choose another")
	}
	return dir, err
}

// machine says in general words where a run was made.
func machine() string {
	text := fmt.Sprintf("%d cores", runtime.NumCPU())
	if free, ok := availableBytes(); ok {
		text += fmt.Sprintf(", %d GiB of memory free", free>>30)
	}
	return text
}
