package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors/archive"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

type storeVerbs struct {
	Dump    dumpVerb    `cmd:"" help:"Print a session's events as JSON lines. Works beside a running server."`
	Check   checkVerb   `cmd:"" help:"Read everything and say what is damaged: exit code 0 or 1. Works beside a running server."`
	Repair  repairVerb  `cmd:"" help:"Keep a copy of the store, make it sound again and say what was lost. Not beside a server."`
	Compact compactVerb `cmd:"" help:"Give free space inside the store back to the disk. Not beside a server."`
	Export  exportVerb  `cmd:"" help:"Write the sessions that are at rest, and the saved agents, as JSON lines. Works beside a running server."`
	Import  importVerb  `cmd:"" help:"Put in the sessions of an export, or of a sessions.json of the reference server. Not beside a server."`
}

// storeExists says whose fault it is when there is nothing to look at.
func storeExists(dir string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return exit(exitFailed, err)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return exit(exitFailed, fmt.Errorf("the state directory %s does not exist; name the server's with --state-dir or --config", dir))
	}
	return exit(exitFailed, fmt.Errorf("%s holds no sessions; name the server's state directory with --state-dir or --config", dir))
}

// openStored opens a directory for reading, beside its server or without one.
func openStored(dir string) (*sqlite.Store, error) {
	private() // reading may make files beside the store
	s, err := sqlite.OpenReadOnly(dir)
	if err != nil {
		return nil, storeExists(dir, err)
	}
	return s, nil
}

// printJSON prints v as one line.
func printJSON(c *console, v any) error {
	b, err := jsoniter.ConfigCompatibleWithStandardLibrary.Marshal(v)
	if err != nil {
		return exit(exitFailed, err)
	}
	say(c.out, "%s", b)
	return nil
}

type checkVerb struct {
	JSON bool `name:"json" help:"Print the report as one JSON object."`
	settings
}

// Run prints the report.
func (v *checkVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	private()
	r, err := sqlite.Check(ctx, cfg.StateDir)
	if err != nil {
		return storeExists(cfg.StateDir, err)
	}
	if v.JSON {
		err = printJSON(c, r)
	} else {
		report(c, r)
	}
	if err == nil && !r.Sound() {
		err = exit(exitFailed, nil)
	}
	return err
}

// report prints a check for people.
func report(c *console, r *sqlite.Report) {
	for _, f := range r.Findings {
		say(c.out, "damaged: %s", f)
	}
	say(c.out, "%d sessions, %d turns, %d events, %d checkpoints, %d records in %d bytes", r.Sessions, r.Turns, r.Events, r.Checkpoints, r.Records, r.Bytes)
	if r.Sound() {
		say(c.out, "OK")
	} else {
		say(c.out, "%d problems; damaged sessions answer session_quarantined and the others are served. To repair: stop the server and run agenthost store repair", len(r.Findings))
	}
}

type repairVerb struct {
	JSON bool `name:"json" help:"Print what was done as one JSON object."`
	settings
}

// Run repairs and prints what was lost.
func (v *repairVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	private()
	done, err := sqlite.Repair(ctx, cfg.StateDir, sqlite.Options{Logger: logger(c, cfg.Log)}, archive.Refold)
	if err != nil {
		return storeExists(cfg.StateDir, err)
	}
	if v.JSON {
		err = printJSON(c, done)
	} else {
		for _, f := range done.Mended {
			say(c.out, "mended: %s", f)
		}
		for _, f := range done.Lost {
			say(c.out, "lost: %s", f)
		}
		say(c.out, "the store from before is kept in %s", done.Copy)
		report(c, done.After)
	}
	if err == nil && !done.After.Sound() {
		err = exit(exitFailed, nil)
	}
	return err
}

type compactVerb struct {
	settings
}

// Run prints the sizes.
func (v *compactVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	private()
	before, after, err := sqlite.Compact(cfg.StateDir)
	if err != nil {
		return storeExists(cfg.StateDir, err)
	}
	say(c.out, "%d bytes before, %d now", before, after)
	return nil
}
