package policy

import (
	"regexp"
	"strings"
)

// Verb is the end of an adapter's own operations, agents.<adapter>.<verb>.
type Verb uint8

// The verbs: what starts a CLI, what feeds one, and what changes the installed one.
const (
	Start Verb = iota
	Feed
	Install
	Certify
	verbs
)

var verbNames = [verbs]string{"sessions.create", "sessions.send_event", "install", "certify"}

// String is the end of the operation's id.
func (v Verb) String() string { return verbNames[v] }

// Operation is the id of a verb of an adapter.
func (v Verb) Operation(adapter string) string { return "agents." + adapter + "." + v.String() }

// runs are the operations of routes that start or feed a CLI.
var runs = []string{"agents.sessions.create", "agents.sessions.send_event", "responses.create", "agents.automations.invoke"}

var operationPattern = regexp.MustCompile(`^[a-z0-9_*-]+(\.[a-z0-9_*-]+)*$`)

// ValidPattern reports whether s can be a pattern of operations: words with dots
// between them, "*" in a word for any part of it, and "**" at the end for whatever
// follows. "*" alone is everything too.
func ValidPattern(s string) bool {
	if s == "*" || s == "**" {
		return true
	}
	return len(s) <= 200 && operationPattern.MatchString(s) && !strings.Contains(strings.TrimSuffix(s, ".**"), "**")
}

// Matches reports whether the pattern takes the operation.
func Matches(pattern, operation string) bool {
	if pattern == "*" || pattern == "**" {
		return true
	}
	for {
		p, restP, moreP := strings.Cut(pattern, ".")
		if p == "**" {
			return true
		}
		o, restO, moreO := strings.Cut(operation, ".")
		if !glob(p, o) || moreP != moreO {
			return false
		}
		if !moreP {
			return true
		}
		pattern, operation = restP, restO
	}
}

// glob matches s with a pattern in which "*" is any text.
func glob(pattern, s string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for {
		next, more, again := strings.Cut(rest, "*")
		if !again {
			return strings.HasSuffix(s, next)
		}
		at := strings.Index(s, next)
		if at < 0 {
			return false
		}
		s, rest = s[at+len(next):], more
	}
}

func anyMatches(patterns []string, operation string) bool {
	for _, p := range patterns {
		if Matches(p, operation) {
			return true
		}
	}
	return false
}

// Everyone is the principal pattern that names all.
const Everyone = "*"

// rolePrefix begins the pattern of who has a role.
const rolePrefix = "role:"

var principalPattern = regexp.MustCompile(`^(\*|(role:)?[A-Za-z0-9._-]{1,64})$`)

func names(patterns []string, id string, roles []string) bool {
	for _, p := range patterns {
		if p == Everyone || p == id {
			return true
		}
		if role, is := strings.CutPrefix(p, rolePrefix); is {
			for _, r := range roles {
				if r == role {
					return true
				}
			}
		}
	}
	return false
}
