package fold

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agenthost/agenthost/actors/spec"
)

// AtRest reports whether nothing is queued, running or on its way; only such a state has a
// checkpoint (doc.go says why).
func (s *State) AtRest() bool { return s.session.Open == 0 }

type checkpoint struct {
	Session  *Session      `json:"session"`
	Settings *spec.Session `json:"settings"`
	Posted   *posted       `json:"posted,omitempty"`
}

// Checkpoint is the stored form of a state at rest, JSON of a few hundred bytes
// and the settings, and what was posted for the next turn to be told. It is an error for a state with open turns, or without a
// session.
func (s *State) Checkpoint() ([]byte, error) {
	if !s.AtRest() {
		return nil, fmt.Errorf("fold: checkpoint of session %s with open turns", s.session.ID)
	}
	if s.session.Settings == nil {
		return nil, errors.New("fold: checkpoint of no session")
	}
	c := checkpoint{Session: &s.session, Settings: s.session.Settings}
	if !s.posted.empty() {
		c.Posted = &s.posted
	}
	return json.Marshal(c)
}

// Restore reads a checkpoint: a state equal to the one that Checkpoint was asked
// of, ready for the event after Session().Head. Bytes that are no checkpoint are
// an error.
func Restore(b []byte) (*State, error) {
	s := New()
	c := checkpoint{Session: &s.session}
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fmt.Errorf("fold: checkpoint: %w", err)
	}
	if c.Session == nil || c.Settings == nil || s.session.Head < 1 || s.session.Open != 0 {
		return nil, fmt.Errorf("fold: not a checkpoint of a session at rest (session %s)", s.session.ID)
	}
	s.session.Settings = c.Settings
	if c.Posted != nil {
		s.posted = *c.Posted
	}
	return s, nil
}
