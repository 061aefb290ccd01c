package jsonl

import "bytes"

const (
	esc = 0x1b
	bel = 0x07
)

// StripEscapes is p without terminal escape sequences (ECMA-48: colours, cursor
// movement, window titles, bracketed paste). p is not changed. An escape that
// nothing ends loses its introducer only, so that it cannot swallow the line.
func StripEscapes(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for len(p) > 0 {
		at := bytes.IndexByte(p, esc)
		if at < 0 {
			return append(out, p...)
		}
		out = append(out, p[:at]...)
		p = p[at+escapeLen(p[at:]):]
	}
	return out
}

// escapeLen is the length of the sequence that p, which begins with ESC, starts with.
func escapeLen(p []byte) int {
	if len(p) < 2 {
		return 1
	}
	switch c := p[1]; {
	case c == '[':
		for i := 2; i < len(p); i++ {
			if p[i] >= 0x40 && p[i] <= 0x7e {
				return i + 1
			}
			if p[i] < 0x20 || p[i] > 0x3f {
				return i
			}
		}
		return 2
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		for i := 2; i < len(p); i++ {
			if p[i] == bel {
				return i + 1
			}
			if p[i] == esc && i+1 < len(p) && p[i+1] == '\\' {
				return i + 2
			}
		}
		return 2
	case c >= 0x20 && c <= 0x2f:
		for i := 2; i < len(p); i++ {
			if p[i] < 0x20 || p[i] > 0x2f {
				return i + 1
			}
		}
		return len(p)
	case c >= 0x30 && c <= 0x7e:
		return 2
	}
	return 1
}
