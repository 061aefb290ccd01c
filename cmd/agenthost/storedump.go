package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/sqlite"
)

type storeVerbs struct {
	Dump dumpVerb `cmd:"" help:"Print a session's events as JSON lines. Works beside a running server."`
}

type dumpVerb struct {
	Session string `arg:"" help:"The session's id: agsess_..., conv_... or the 32 digits."`
	settings
}

// Run prints the journal.
func (v *dumpVerb) Run(c *console) error {
	id, ok := event.Parse(v.Session, event.PrefixSession, event.PrefixConversation)
	if !ok {
		if id, ok = event.ParseHex(v.Session); !ok {
			return exit(exitUsage, fmt.Errorf("%q is no session id; it is agsess_ and 32 digits", v.Session))
		}
	}
	cfg, _, err := v.load(nil)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	s, err := sqlite.OpenReadOnly(cfg.StateDir)
	if err != nil {
		return exit(exitFailed, err)
	}
	err = store.Dump(ctx, s, id, c.out)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%s has no session %s", cfg.StateDir, id.With(event.PrefixSession))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return exit(exitFailed, err)
	}
	return nil
}
