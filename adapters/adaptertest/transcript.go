package adaptertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
)

// Transcript is one recorded run.
type Transcript struct {
	Name  string
	Lines [][]byte // without line ends
	Exit  agent.Exit
	// Native and Carry are what the run was resumed with.
	Native string
	Carry  []byte
}

// Load reads NAME.jsonl and, if it is there, NAME.json.
func Load(path string) (*Transcript, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(path, filepath.Ext(path))
	t := &Transcript{Name: filepath.Base(base), Lines: Lines(data)}
	about, err := os.ReadFile(base + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	var m struct {
		Exit   int             `json:"exit"`
		Signal string          `json:"signal"`
		Stderr string          `json:"stderr"`
		Native string          `json:"native"`
		Carry  json.RawMessage `json:"carry"`
	}
	if err := json.Unmarshal(about, &m); err != nil {
		return nil, err
	}
	t.Exit = agent.Exit{Code: m.Exit, Signal: m.Signal, Stderr: m.Stderr}
	t.Native, t.Carry = m.Native, m.Carry
	return t, nil
}

// Lines splits output as the engine does: at LF, the last line with or without one.
func Lines(data []byte) [][]byte {
	if len(data) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}
