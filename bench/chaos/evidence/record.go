package evidence

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// What a record tells.
const (
	Made     = "made"     // a session was made
	Accepted = "accepted" // an input was accepted
	Refused  = "refused"  // an input was refused for good
	Unknown  = "unknown"  // nobody could say whether an input was accepted
	Deleted  = "deleted"  // a session was deleted
	Segment  = "segment"  // a stream was read from a place on, up to where it broke off
	Replay   = "replay"   // a stream was read at rest, from its start
	Behind   = "behind"   // a reader did not reach the end of its stream in time
	Stuck    = "stuck"    // a session did not come to rest in time
	Odd      = "odd"      // an answer that no promise allows
)

// Record is one line of the observer's log.
type Record struct {
	At      int64  // Unix nanoseconds
	Cycle   int    // of the schedule
	What    string // one of the words above
	Session string // the schedule's name for it
	Tag     string `json:",omitempty"` // of the input
	ID      string `json:",omitempty"` // the server's
	Stream  string `json:",omitempty"` // which stream: a reader's name, an input's tag
	After   string `json:",omitempty"` // the cursor that it was read from
	File    string `json:",omitempty"` // with the bytes
	Whole   bool   `json:",omitempty"` // the stream ended, and did not break off
	Status  int    `json:",omitempty"`
	Tries   int    `json:",omitempty"`
	Text    string `json:",omitempty"`
}

// Log is an append-only log of records.
type Log struct {
	mu  sync.Mutex
	dir string
	f   *os.File
	n   int
}

const recordsFile, streamsDir = "observer.jsonl", "streams"

// OpenLog opens the log in dir for writing.
func OpenLog(dir string) (*Log, error) {
	if err := os.MkdirAll(filepath.Join(dir, streamsDir), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, recordsFile), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &Log{dir: dir, f: f}, nil
}

// Add writes a record. A log that cannot be written ends the observer: what it does
// not know would be blamed on the server.
func (l *Log) Add(r Record) {
	if r.At == 0 {
		r.At = time.Now().UnixNano()
	}
	b, err := json.Marshal(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		_, err = l.f.Write(append(b, '\n'))
	}
	if err != nil {
		panic(fmt.Errorf("the observer's log: %w", err))
	}
}

// File makes a new file for a stream and gives its name in the log's directory.
func (l *Log) File(stream string) (*os.File, string, error) {
	l.mu.Lock()
	l.n++
	name := filepath.Join(streamsDir, fmt.Sprintf("%s.%d", stream, l.n))
	l.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(l.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	return f, name, err
}

// Records reads one cycle's records.
func Records(dir string, cycle int) ([]Record, error) {
	f, err := os.Open(filepath.Join(dir, recordsFile))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []Record
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r Record
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("the observer's log: %w", err)
		}
		if r.Cycle == cycle {
			out = append(out, r)
		}
	}
	return out, in.Err()
}
