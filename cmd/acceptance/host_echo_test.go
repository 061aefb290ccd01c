package acceptance

import (
	"encoding/hex"
	"slices"
	"strings"
)

// echo is what a stand-in said of how it was called.
type echo struct {
	args       []string
	stdin, cwd string
	env        map[string]string
}

// echoed reads ARG1=hex ... STDIN=hex CWD=hex ENV=hex.
func echoed(text string) echo {
	e := echo{env: map[string]string{}}
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		b, err := hex.DecodeString(value)
		if err != nil {
			continue
		}
		switch {
		case name == "STDIN":
			e.stdin = string(b)
		case name == "CWD":
			e.cwd = string(b)
		case name == "ENV":
			for line := range strings.Lines(string(b)) {
				k, v, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
				e.env[k] = v
			}
		case strings.HasPrefix(name, "ARG"):
			e.args = append(e.args, string(b))
		}
	}
	return e
}

func (e echo) hasArg(arg string) bool { return slices.Contains(e.args, arg) }
