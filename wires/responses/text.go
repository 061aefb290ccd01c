package responses

import (
	"strconv"
	"unicode/utf8"

	"github.com/agenthost/agenthost/wires/jsontext"
)

// appendString appends s as a JSON string, escaped like the object encoder does:
// HTML characters and the line separators that some readers split at become
// \u escapes, invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte { return jsontext.Append(dst, s, true) }

// appendPlain is appendString without the HTML escapes, for JSON inside of JSON.
func appendPlain(dst []byte, s string) []byte { return jsontext.Append(dst, s, false) }

// encodedLen bounds how long appendString makes s.
func encodedLen(s string) int {
	n := 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			n += 2
		case c < ' ' || c == '<' || c == '>' || c == '&':
			n += 6
		case c >= utf8.RuneSelf:
			n += 2 // three bytes make six at most: U+2028; a lone bad byte makes six, too rare to matter
		default:
			n++
		}
	}
	return n
}

// head is s cut to at most n bytes on a character boundary.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tail is the end of s, at most n bytes, from a character boundary.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// maxOutput bounds a tool's output on this wire in its encoded form, which is up
// to six times the text (limits.max_item_bytes bounds that).
const maxOutput = 4 << 20

// fitting is a tool's output as this wire shows it.
func fitting(s string) string {
	if len(s) <= maxOutput/6 || encodedLen(s) <= maxOutput {
		return s
	}
	kept := head(s, maxOutput/6)
	return kept + "\n[" + strconv.Itoa(len(s)-len(kept)) + " bytes dropped]"
}
