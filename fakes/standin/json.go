package standin

import (
	"strconv"
	"unicode/utf8"
)

// quoted appends s as a JSON string.
func quoted(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && (r != utf8.RuneError || n > 1) {
			i += n
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			if c < ' ' {
				b = append(b, `\u00`...)
				b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
			} else {
				b = append(b, `\ufffd`...)
			}
		}
		i += n
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// put appends parts: strings as they are, ints in decimal, str values quoted.
func put(b []byte, parts ...any) []byte {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case int:
			b = strconv.AppendInt(b, int64(p), 10)
		case str:
			b = quoted(b, string(p))
		}
	}
	return b
}

// str is a text that put writes as a JSON string.
type str string
