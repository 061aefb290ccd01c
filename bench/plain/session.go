package plain

import (
	"encoding/json"
	"strconv"
	"sync"
)

// entry is one event of a session: its number and its frame as sent.
type entry struct{ frame []byte }

// session is a list of events and a queue of prompts.
type session struct {
	mu      sync.Mutex
	id      string
	entries []entry
	more    chan struct{} // closed when there are more; nil while nobody waits
	queue   []prompt
	active  bool
	native  string // the CLI's own session id
	cancel  func()
}

type prompt struct {
	turn string
	text string
}

// body is what an event says.
type body struct {
	Seq    int    `json:"seq"`
	Type   string `json:"type"`
	Turn   string `json:"turn"`
	Text   string `json:"text,omitempty"`
	Status string `json:"status,omitempty"`
}

// add appends an event and wakes the readers.
func (s *session) add(b body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Seq = len(s.entries) + 1
	data, err := json.Marshal(b)
	if err != nil {
		return // strings and numbers only: cannot fail
	}
	frame := make([]byte, 0, len(data)+len(b.Type)+40)
	frame = append(append(append(frame, "id: "...), strconv.Itoa(b.Seq)...), "\nevent: "...)
	frame = append(append(append(append(frame, b.Type...), "\ndata: "...), data...), "\n\n"...)
	s.entries = append(s.entries, entry{frame})
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
}

// after returns the frames behind event n, or a channel that is closed when there
// are some.
func (s *session) after(n int) ([]entry, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < len(s.entries) {
		return s.entries[n:len(s.entries):len(s.entries)], nil
	}
	if s.more == nil {
		s.more = make(chan struct{})
	}
	return nil, s.more
}
