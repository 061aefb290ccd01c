package standin

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// runLog tells when a turn really ran: one append a line, so that the lines of
// many processes do not mix.
type runLog struct{ file, tag string }

// tagOf is the word behind "tag:" in a prompt, "-" without one.
func tagOf(prompt string) string {
	_, rest, ok := strings.Cut(prompt, "tag:")
	if !ok {
		return "-"
	}
	if f := strings.FieldsFunc(rest, func(r rune) bool { return r <= ' ' || r == ']' || r == ',' }); len(f) > 0 {
		return f[0]
	}
	return "-"
}

// note appends a line about ourselves.
func (l runLog) note(what string) { l.add(what, os.Getpid()) }

// add appends a line. A log that cannot be written says so on stderr by its
// absence of lines: a stand-in must not fail for it.
func (l runLog) add(what string, pid int) {
	if l.file == "" {
		return
	}
	f, err := os.OpenFile(l.file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return
	}
	b := append([]byte(l.tag), ' ')
	b = append(append(b, what...), ' ')
	b = append(strconv.AppendInt(b, time.Now().UnixNano(), 10), ' ')
	b = append(strconv.AppendInt(b, int64(pid), 10), '\n')
	_, _ = f.Write(b)
	_ = f.Close()
}

// Note appends a line about a run of this process, as Main does, for stand-ins of
// other packages.
func Note(file, prompt, what string) { runLog{file, tagOf(prompt)}.note(what) }
