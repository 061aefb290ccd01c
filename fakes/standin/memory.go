package standin

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agenthost/agenthost/fakes/mind"
)

// memory is a session as a stand-in keeps it: a file of lines, each a word and a
// quoted text. It lies under the home of the CLI, so that a session is lost with
// its home, as with the real CLIs.
type memory struct {
	file string
	talk []mind.Message
	// responses is how many model responses the session has had.
	responses int
	faults    map[string]int
}

var speakers = map[string]mind.Who{"user": mind.User, "model": mind.Model, "tool": mind.Tool}

func sessionFile(home, id string) string { return filepath.Join(home, "standin-sessions", id) }

// recall opens a session's memory; ok is false if there is none.
func recall(home, id string) (m *memory, ok bool) {
	m = &memory{file: sessionFile(home, id), faults: map[string]int{}}
	b, err := os.ReadFile(m.file)
	if err != nil {
		return m, false
	}
	for line := range strings.Lines(string(b)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		text, err := strconv.Unquote(rest)
		if err != nil {
			continue // a line torn by a kill
		}
		switch {
		case word == "response":
			m.responses++
		case word == "fault":
			m.faults[text]++
		case speakers[word] != 0:
			m.talk = append(m.talk, mind.Message{From: speakers[word], Text: text})
		}
	}
	return m, true
}

// note keeps a line. Without a file the session is forgotten.
func (m *memory) note(word, text string) {
	switch word {
	case "response":
		m.responses++
	case "fault":
		m.faults[text]++
	default:
		m.talk = append(m.talk, mind.Message{From: speakers[word], Text: text})
	}
	if m.file == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(m.file), 0o700); err != nil {
		return
	}
	f, err := os.OpenFile(m.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	b := append([]byte(word), ' ')
	_, _ = f.Write(append(strconv.AppendQuote(b, text), '\n'))
	_ = f.Close()
}

// uuid makes an id that parses as a UUID: version 7 begins with the time, as
// Codex's do; else it is a version 4.
func uuid(version byte) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	if version == 7 {
		ms := uint64(time.Now().UnixMilli())
		for i := range 6 {
			b[i] = byte(ms >> (40 - 8*i))
		}
	}
	b[6], b[8] = version<<4|b[6]&15, 0x80|b[8]&0x3f
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 36)
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
