package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/archive"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/sqlite"
	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server"
)

type exportVerb struct {
	Output string `short:"o" placeholder:"FILE" help:"Write to a new file instead of standard output."`
	settings
}

// Run writes the export.
func (v *exportVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	s, err := openStored(cfg.StateDir)
	if err != nil {
		return err
	}
	done, err := v.write(ctx, c, s)
	if err = errors.Join(err, s.Close()); err != nil {
		return exit(exitFailed, err)
	}
	for _, l := range done.LeftOut {
		say(c.err, "left out: %s: %s", l.Session, l.Why)
	}
	say(c.err, "%s exported, %d sessions left out; files and artifacts are not in an export", counted(done.ExportCounts), len(done.LeftOut))
	if len(done.LeftOut) > 0 {
		return exit(exitFailed, nil)
	}
	return nil
}

// write puts the export where it belongs.
func (v *exportVerb) write(ctx context.Context, c *console, s store.Store) (*store.Exported, error) {
	if v.Output == "" {
		return store.Export(ctx, s, actors.ExportedKinds(), c.out)
	}
	f, err := os.OpenFile(v.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	done, err := store.Export(ctx, s, actors.ExportedKinds(), f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(v.Output)) // ours, and not whole
	}
	return done, nil
}

type importVerb struct {
	From  string `arg:"" placeholder:"FILE" help:"An export, or a sessions.json of the reference server; - is standard input."`
	Owner string `placeholder:"ID" help:"Principal that the sessions of a sessions.json belong to; needed when there is more than one."`
	settings
}

// Run puts the sessions in.
func (v *importVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	in := c.in
	if v.From != "-" {
		f, err := os.Open(v.From)
		if err != nil {
			return exit(exitFailed, err)
		}
		defer func() { _ = f.Close() }() // read only
		in = f
	}
	private()
	s, err := sqlite.Open(cfg.StateDir, sqlite.Options{Logger: logger(c, cfg.Log), MinFreeDisk: uint64(cfg.Limits.MinFreeDisk)})
	if err != nil {
		return exit(exitFailed, err)
	}
	done, err := v.read(ctx, cfg, s, in)
	if err = errors.Join(err, s.Close()); err != nil {
		return exit(exitFailed, fmt.Errorf("import %s: %w; what was put in before stays, and the import can be repeated", v.From, err))
	}
	say(c.out, "%s imported; %s were there already", counted(done.ExportCounts), counted(done.There))
	return nil
}

// read tells the two kinds of files apart.
func (v *importVerb) read(ctx context.Context, cfg *config.Config, s store.Store, in io.Reader) (*store.Imported, error) {
	from := bufio.NewReader(in)
	beginning, err := from.Peek(64)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if store.IsExport(beginning) {
		return store.Import(ctx, s, from)
	}
	owner, err := v.owner(cfg)
	if err != nil {
		return nil, err
	}
	return archive.ImportReference(ctx, s, owner, from)
}

// owner is who the reference server's sessions belong to; it kept no owners.
func (v *importVerb) owner(cfg *config.Config) (string, error) {
	tokens := cfg.Auth.Tokens
	switch {
	case v.Owner != "":
		for _, t := range tokens {
			if t.ID == v.Owner {
				return v.Owner, nil
			}
		}
		if len(tokens) > 0 {
			return "", fmt.Errorf("--owner %s: no token of the configuration has this id", v.Owner)
		}
		return v.Owner, nil
	case len(tokens) == 0:
		return server.Anonymous, nil
	case len(principals(tokens)) == 1: // it may have several
		return tokens[0].ID, nil
	default:
		return "", errors.New("a sessions.json does not say whose its sessions are, and the configuration has several principals: name one with --owner")
	}
}

func counted(n store.ExportCounts) string {
	return fmt.Sprintf("%d sessions with %d turns and %d events, and %d records", n.Sessions, n.Turns, n.Events, n.Records)
}
