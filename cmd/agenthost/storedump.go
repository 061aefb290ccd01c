package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

type dumpVerb struct {
	ID string `arg:"" help:"The session's id (agsess_..., conv_...), that of one of its turns (turn_..., resp_...), or the 32 digits of either."`
	settings
}

// Run prints the journal.
func (v *dumpVerb) Run(c *console) error {
	id, turn, err := dumped(v.ID)
	if err != nil {
		return exit(exitUsage, err)
	}
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
	err = dump(ctx, c, s, id, turn)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%s has no session or turn %s", cfg.StateDir, v.ID)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return exit(exitFailed, err)
	}
	return nil
}

// dumped reads an id; turn says that it may be a turn's.
func dumped(text string) (id event.ID, turn bool, err error) {
	if id, ok := event.Parse(text, event.PrefixSession, event.PrefixConversation); ok {
		return id, false, nil
	}
	if id, ok := event.Parse(text, event.PrefixTurn, event.PrefixResponse); ok {
		return id, true, nil
	}
	if id, ok := event.ParseHex(text); ok {
		return id, true, nil
	}
	prefixes := []string{event.PrefixSession, event.PrefixConversation, event.PrefixTurn, event.PrefixResponse}
	return id, false, fmt.Errorf("%q is no id of a session or turn; it is one of %s and 32 digits", text, strings.Join(prefixes, ", "))
}

// dump prints the session id, or the one that the turn id belongs to.
func dump(ctx context.Context, c *console, s store.Store, id event.ID, turn bool) error {
	if turn {
		t, err := s.Turn(ctx, "", id)
		switch {
		case err == nil:
			id = t.Session
		case !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("look up turn %s: %w", id, err)
		}
	}
	return store.Dump(ctx, s, id, c.out)
}
