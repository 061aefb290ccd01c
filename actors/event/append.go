package event

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// simple says that an item has no field that appendItem does not know.
func simple(it *Item) bool {
	return it != nil && it.Parts == nil && it.Changes == nil && it.Raw == nil && !it.Approved && !it.Instructs &&
		it.Query == "" && it.URL == "" && it.Prompt == "" && it.Call.IsZero() && it.Parent.IsZero()
}

// appendItem appends a simple item, byte for byte as json.Marshal writes it.
func appendItem(dst []byte, it *Item) []byte {
	dst = append(dst, `{"id":"`...)
	if !it.ID.IsZero() {
		dst = it.ID.AppendHex(dst)
	}
	dst = strconv.AppendUint(append(dst, `","type":`...), uint64(it.Type), 10)
	dst = strconv.AppendUint(append(dst, `,"status":`...), uint64(it.Status), 10)
	if it.User {
		dst = append(dst, `,"user":true`...)
	}
	if it.Phase != 0 {
		dst = strconv.AppendUint(append(dst, `,"phase":`...), uint64(it.Phase), 10)
	}
	dst = appendField(dst, `,"text":`, it.Text)
	dst = appendField(dst, `,"command":`, it.Command)
	dst = appendField(dst, `,"cwd":`, it.Cwd)
	dst = appendField(dst, `,"output":`, it.Output)
	if it.ExitCode != nil {
		dst = strconv.AppendInt(append(dst, `,"exit_code":`...), int64(*it.ExitCode), 10)
	}
	if it.Millis != 0 {
		dst = strconv.AppendInt(append(dst, `,"millis":`...), it.Millis, 10)
	}
	dst = appendField(dst, `,"server":`, it.Server)
	dst = appendField(dst, `,"tool":`, it.Tool)
	dst = appendField(dst, `,"arguments":`, it.Arguments)
	dst = appendField(dst, `,"error":`, it.Error)
	return append(dst, '}')
}

func appendField(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendText(append(dst, name...), text)
}

// appendText appends a JSON string as json.Marshal writes it.
func appendText(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := asItIs(s); i < len(s); {
		c, n := s[i], 1
		var mark string
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && n == 1:
				mark = `\ufffd`
			case r == '\u2028':
				mark = `\u2028`
			case r == '\u2029':
				mark = `\u2029`
			}
		case c == '"':
			mark = `\"`
		case c == '\\':
			mark = `\\`
		case c == '\n':
			mark = `\n`
		case c == '\r':
			mark = `\r`
		case c == '\t':
			mark = `\t`
		case c == '\b':
			mark = `\b`
		case c == '\f':
			mark = `\f`
		case c < ' ', c == '<', c == '>', c == '&':
			dst = append(dst, s[from:i]...)
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			from = i + 1
		}
		if mark != "" {
			dst = append(append(dst, s[from:i]...), mark...)
			from = i + n
		}
		i += n
		i += asItIs(s[i:])
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// asItIs is a number of bytes at the beginning of s that need no escape, eight at a
// time.
func asItIs(s string) int {
	at := 0
	for ; at+8 <= len(s); at += 8 {
		x := eight(s, at)
		back := x ^ '\\'*ones
		amp, angle := (x|0x04*ones)^'&'*ones, (x|0x02*ones)^'>'*ones // " and &, < and >
		// In the first byte that is none the highest bit is set; bits above it mean
		// nothing.
		hit := ((x-' '*ones)&^x | (back-ones)&^back | (amp-ones)&^amp | (angle-ones)&^angle | x) & highs
		if hit != 0 {
			return at + bits.TrailingZeros64(hit)>>3
		}
	}
	return at
}

// eight are the eight bytes at s[i], the first of them lowest.
func eight(s string, i int) uint64 {
	t := s[i : i+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// sized appends what body appends, with its length before it.
func sized(dst []byte, body func([]byte) []byte) []byte {
	at := len(dst)
	dst = body(append(dst, make([]byte, binary.MaxVarintLen64)...))
	text := dst[at+binary.MaxVarintLen64:]
	n := binary.PutUvarint(dst[at:], uint64(len(text)))
	copy(dst[at+n:], text)
	return dst[:at+n+len(text)]
}
