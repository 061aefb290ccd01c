package argv

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
)

// MaxArg is the longest single argument that Linux hands to a program
// (MAX_ARG_STRLEN without the terminating NUL).
const MaxArg = 128<<10 - 1

// Check refuses arguments that no system call would take, before it fails with
// words that name nothing.
func Check(args []string) error {
	for i, a := range args {
		if len(a) > MaxArg {
			return event.Fail(event.InvalidRequest, fmt.Sprintf("argument %d of the command line would have %d bytes; at most %d are possible", i+1, len(a), MaxArg))
		}
		if strings.IndexByte(a, 0) >= 0 {
			return event.Fail(event.InvalidRequest, fmt.Sprintf("argument %d of the command line contains a NUL character", i+1))
		}
	}
	return nil
}

// Fits refuses a text that is to become part of one argument and is too long for
// it, or holds what an argument cannot.
func Fits(param, text string, overhead int) error {
	if len(text)+overhead > MaxArg {
		return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("%s has %d bytes; this CLI takes it on the command line, where at most %d fit", param, len(text), MaxArg-overhead))
	}
	if strings.IndexByte(text, 0) >= 0 {
		return event.FailParam(event.InvalidRequest, param, param+" contains a NUL character")
	}
	return nil
}

// Word refuses a value that follows an option and could be read as one itself.
func Word(param, value string) error {
	if strings.HasPrefix(value, "-") {
		return event.FailParam(event.InvalidRequest, param, fmt.Sprintf("%s %q must not begin with '-'", param, value))
	}
	return Fits(param, value, 0)
}

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// UUID reports whether s has a UUID's form.
func UUID(s string) bool { return uuid.MatchString(s) }

// Sorted gives a map's keys in order, so that equal requests give equal command
// lines.
func Sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Vault moves secret values into the environment under names of its own.
type Vault struct {
	Env    []string
	Values []string
}

// Put keeps value and returns the variable's name. The word SECRET in it makes
// CLIs that filter the environment of their tool shells drop it.
func (v *Vault) Put(value string) string {
	name := fmt.Sprintf("AGENT_MCP_SECRET_%d", len(v.Values)+1)
	v.PutAs(name, value)
	return name
}

// PutAs keeps value under a given name.
func (v *Vault) PutAs(name, value string) {
	v.Env = append(v.Env, name+"="+value)
	v.Values = append(v.Values, value)
}

// Empty reports whether a prompt has no text: a CLI would read on, or refuse with
// words of its own.
func Empty(prompt string) bool { return strings.TrimSpace(prompt) == "" }
