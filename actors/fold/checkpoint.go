package fold

import (
	"encoding/json"
	"fmt"

	"github.com/agenthost/agenthost/actors/spec"
)

// AtRest reports whether nothing is queued or running; only such a state has a
// checkpoint, which is then small.
func (s *State) AtRest() bool { return len(s.open) == 0 }

type checkpoint struct {
	Session  *Session      `json:"session"`
	Settings *spec.Session `json:"settings"`
}

// Checkpoint is the stored form of a state at rest.
func (s *State) Checkpoint() ([]byte, error) {
	if !s.AtRest() {
		return nil, fmt.Errorf("fold: checkpoint of session %s with open turns", s.session.ID)
	}
	return json.Marshal(checkpoint{&s.session, s.session.Settings})
}

// Restore reads a checkpoint.
func Restore(b []byte) (*State, error) {
	s := New()
	c := checkpoint{Session: &s.session}
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("fold: checkpoint: %w", err)
	}
	if c.Settings == nil {
		return nil, fmt.Errorf("fold: checkpoint of session %s has no settings", s.session.ID)
	}
	s.session.Settings = c.Settings
	return s, nil
}
