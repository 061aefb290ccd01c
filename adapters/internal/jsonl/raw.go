package jsonl

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Args is a tool's arguments as the CLI wrote them: numbers digit for digit,
// duplicate keys, order. Only lone surrogate escapes, which strict readers refuse,
// become \ufffd. Anything that is no valid JSON becomes a JSON string; nothing
// becomes {}.
func Args(raw []byte) string {
	if raw = bytes.TrimSpace(raw); Null(raw) {
		return "{}"
	}
	if !json.Valid(raw) {
		quoted, err := json.Marshal(strings.ToValidUTF8(string(raw), "\uFFFD"))
		if err != nil {
			return "{}"
		}
		return string(quoted)
	}
	return pairSurrogates(string(raw))
}

// Null reports whether a value is absent or null.
func Null(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

// pairSurrogates replaces \u escapes of half a surrogate pair. s is valid JSON, so
// every backslash in it starts an escape of a string.
func pairSurrogates(s string) string {
	if !strings.Contains(s, `\ud`) && !strings.Contains(s, `\uD`) {
		return s
	}
	b := []byte(s)
	for i := 0; i+1 < len(b); {
		if b[i] != '\\' {
			i++
			continue
		}
		unit, ok := codeUnit(b[i:])
		switch {
		case !ok:
			i += 2
		case unit < 0xd800 || unit > 0xdfff:
			i += 6
		default:
			low, paired := codeUnit(b[i+6:])
			if unit < 0xdc00 && paired && low >= 0xdc00 && low <= 0xdfff {
				i += 12
				continue
			}
			copy(b[i:], `\ufffd`)
			i += 6
		}
	}
	return string(b)
}

// codeUnit reads the \uXXXX that p begins with.
func codeUnit(p []byte) (uint64, bool) {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p[2:6]), 16, 16)
	return n, err == nil
}
