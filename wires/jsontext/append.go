package jsontext

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

const hexDigits = "0123456789abcdef"

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain is the number of bytes at the beginning of s that are written as they are:
// ASCII, eight at a time. Most texts are little else.
func plain(s string, html bool) int {
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // is not written to
	at := 0
	for ; at+8 <= len(b); at += 8 {
		x := binary.LittleEndian.Uint64(b[at:])
		// In the first byte that is one of these the highest bit of hit is set; bits
		// above it mean nothing.
		back := x ^ '\\'*ones
		hit := (x-' '*ones)&^x | (back-ones)&^back | x
		if html {
			amp, angle := (x|0x04*ones)^'&'*ones, (x|0x02*ones)^'>'*ones // " and &, < and >
			hit |= (amp-ones)&^amp | (angle-ones)&^angle
		} else {
			quote := x ^ '"'*ones
			hit |= (quote - ones) &^ quote
		}
		if hit &= highs; hit != 0 {
			return at + bits.TrailingZeros64(hit)>>3
		}
	}
	return at
}

// Append appends s as a JSON string that holds no line break of any kind, so it
// fits into one SSE data line: control characters, U+2028 and U+2029 are escaped,
// bytes that are not UTF-8 become U+FFFD. With html, < > & are escaped too, as the
// object encoder does.
func Append(dst []byte, s string, html bool) []byte {
	dst = append(dst, '"')
	from := 0
	checked, valid := false, false
	for i := plain(s, html); i < len(s); {
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
			i += plain(s[i:], html)
			continue
		}
		if !checked {
			checked, valid = true, utf8.ValidString(s[i:])
		}
		if valid && (c != 0xe2 || s[i+1] != 0x80) { // in no case a line separator
			for i++; i < len(s) && s[i] >= utf8.RuneSelf && s[i] != 0xe2; {
				i++
			}
			i += plain(s[i:], html)
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
