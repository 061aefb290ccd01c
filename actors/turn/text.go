package turn

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// valid is s with invalid UTF-8 replaced; s itself when there is none.
func valid(s string) string {
	if utf8.ValidString(s) { // the usual case, many times faster
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// splitAt is the largest place <= n at which s (valid UTF-8) may be cut between
// characters.
func splitAt(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// bounded is s cut to limit with the rest's size named; limit 0 is none. lost
// counts bytes dropped before.
func bounded(s string, limit int, lost int64) string {
	if limit > 0 && len(s) > limit {
		at := splitAt(s, limit)
		lost += int64(len(s) - at)
		s = s[:at]
	}
	if lost == 0 {
		return s
	}
	return fmt.Sprintf("%s\n[%d bytes dropped]", s, lost)
}
