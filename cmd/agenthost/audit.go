package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/agenthost/agenthost/cmd/config"
	"github.com/agenthost/agenthost/server/audit"
)

// openAudit opens the book of a server, nil when there is to be none.
func openAudit(cfg *config.Config, log *slog.Logger) (*audit.Log, error) {
	if !cfg.Audit.Enabled {
		return nil, nil
	}
	return audit.Open(audit.Options{File: cfg.AuditFile(), MaxBytes: int64(cfg.Audit.MaxBytes), MaxFiles: cfg.Audit.MaxFiles, Log: log})
}

// posture is what a server starts with, for the book.
func posture(cfg *config.Config) string {
	text := fmt.Sprintf("version %s on %s with %d tokens", version, cfg.Listen, len(cfg.Auth.Tokens))
	for _, is := range []struct {
		so   bool
		what string
	}{
		{len(cfg.Auth.Tokens) == 0, "; everyone is let in"},
		{cfg.LockDefinitions, "; writes of saved agents are refused"},
		{cfg.AllowInstall, "; callers may install CLIs"},
		{cfg.PrivateURLs, "; MCP servers of callers may be in this network"},
	} {
		if is.so {
			text += is.what
		}
	}
	return text
}

type auditVerbs struct {
	Export auditExportVerb `cmd:"" help:"Print records as JSON lines, the oldest first. Works beside a running server."`
}

type auditExportVerb struct {
	Principal string `placeholder:"ID" help:"Only what this principal did, and what was done with what it owns."`
	Since     string `placeholder:"TIME" help:"Only from then on: 2026-12-31T18:00:00Z, or 2026-12-31 for the beginning of that day in UTC."`
	Until     string `placeholder:"TIME" help:"Only before then."`
	settings
}

// Run prints the records.
func (v *auditExportVerb) Run(c *console) error {
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	since, err := moment("--since", v.Since)
	if err != nil {
		return err
	}
	until, err := moment("--until", v.Until)
	if err != nil {
		return err
	}
	_, broken, err := audit.Export(c.out, cfg.AuditFile(), func(r *audit.Record) bool {
		return (v.Principal == "" || r.Concerns(v.Principal)) &&
			(since.IsZero() || !r.Time.Before(since)) && (until.IsZero() || r.Time.Before(until))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return exit(exitFailed, fmt.Errorf("there is no audit at %s; name the server's state directory with --state-dir or --config", cfg.AuditFile()))
	}
	if err != nil {
		return exit(exitFailed, err)
	}
	if broken > 0 {
		say(c.err, "agenthost: %d line(s) are no record and were left out", broken)
	}
	return nil
}

// moment reads a time of a flag.
func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := config.ParseMoment(text)
	if err != nil {
		return at, exit(exitUsage, fmt.Errorf("%s %s: is no time; write 2026-12-31T18:00:00Z or 2026-12-31", flag, text))
	}
	return at, nil
}
