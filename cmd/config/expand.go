package config

import (
	"regexp"
	"strings"
)

// variable matches $${ (an escaped one), ${NAME} and ${NAME:-default}.
var variable = regexp.MustCompile(`\$?\$\{([^}]*)\}?`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand fills ${NAME} and ${NAME:-default} in text. bad names the first
// reference that cannot be filled, and why.
func expand(text string, env func(string) (string, bool)) (out, bad, why string) {
	if !strings.Contains(text, "${") {
		return text, "", ""
	}
	out = variable.ReplaceAllStringFunc(text, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		body, closed := strings.CutSuffix(ref[2:], "}")
		name, fallback, hasFallback := strings.Cut(body, ":-")
		if !closed || !variableName.MatchString(name) {
			if bad == "" {
				bad, why = ref, "is no variable reference"
			}
			return ref
		}
		if v, ok := env(name); ok && (v != "" || !hasFallback) {
			return v
		}
		if hasFallback {
			return fallback
		}
		if bad == "" {
			bad, why = ref, "is not set"
		}
		return ref
	})
	return out, bad, why
}

// wholeVariable is the NAME of a text that is exactly ${NAME}.
func wholeVariable(text string) (string, bool) {
	name, ok := strings.CutPrefix(text, "${")
	if !ok {
		return "", false
	}
	name, ok = strings.CutSuffix(name, "}")
	return name, ok && variableName.MatchString(name)
}
