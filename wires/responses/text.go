package responses

import (
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string, escaped like the object encoder does:
// HTML characters and the line separators that some readers split at become
// \u escapes, invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte { return appendQuoted(dst, s, true) }

// appendPlain is appendString without the HTML escapes, for JSON inside of JSON.
func appendPlain(dst []byte, s string) []byte { return appendQuoted(dst, s, false) }

func appendQuoted(dst []byte, s string, html bool) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && (!html || c != '<' && c != '>' && c != '&') {
				i++
				continue
			}
			dst = append(dst, s[from:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[from:i]...)
			switch r {
			case '\u2028':
				dst = append(dst, `\u2028`...)
			case '\u2029':
				dst = append(dst, `\u2029`...)
			default:
				dst = append(dst, `\ufffd`...)
			}
			i += n
			from = i
			continue
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

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
