package actors

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agenthost/agenthost/actors/event"
)

// rooms are the directories that the host keeps for itself in its state directory.
var rooms = []string{"turns", "runners", "workspaces", "homes", "files", "artifacts"}

// openState makes the state directory and reads its identity, which marks the
// processes that belong to it.
func (h *Host) openState() error {
	dir := h.cfg.stateDir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("agenthost: make the state directory: %w", err)
	}
	for _, sub := range rooms {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return fmt.Errorf("agenthost: make the state directory: %w", err)
		}
	}
	name := filepath.Join(dir, "id")
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		b = []byte(event.NewID().Hex())
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("agenthost: identity of the state directory: %w", err)
	}
	id, ok := event.ParseHex(string(b))
	if !ok {
		return fmt.Errorf("agenthost: %s does not hold an identity; remove it to have a new one made", name)
	}
	h.stateID = id.Hex()
	return h.clearTurns()
}

// clearTurns removes the private files of turns and runners that an earlier run left.
func (h *Host) clearTurns() error {
	for _, room := range []string{"turns", "runners"} {
		dir := filepath.Join(h.cfg.stateDir, room)
		left, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("agenthost: files of former turns: %w", err)
		}
		for _, e := range left {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("agenthost: files of former turns: %w", err)
			}
		}
	}
	return nil
}
