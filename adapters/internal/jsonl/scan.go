package jsonl

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Scanner reads the lines that come by the thousand, in one pass and without
// reflection: compact JSON of well-known shape. Whatever else it meets (space between
// tokens, an escape in a name, a fraction, text that is not UTF-8) stops it for good,
// and the line is left to Object and Decode, which know all of JSON. What it does
// read is what they would read.
type Scanner struct {
	line []byte
	at   int
	ok   bool
	seen uint
	room []byte // of unescaped texts
}

// Begin starts with a line and enters its object.
func (s *Scanner) Begin(line []byte) {
	s.line, s.at, s.ok, s.seen, s.room = line, 0, true, 0, s.room[:0]
	s.expect('{')
}

// Ended reports whether all was read, to the end of the line.
func (s *Scanner) Ended() bool { return s.ok && s.at == len(s.line) }

// Once notes that a field, a bit, is there. A line that has it twice is left to
// others.
func (s *Scanner) Once(field uint) {
	if s.seen&field != 0 {
		s.ok = false
	}
	s.seen |= field
}

// Saw reports whether all the fields were noted.
func (s *Scanner) Saw(fields uint) bool { return s.seen&fields == fields }

// IsText says that the next value is a string.
func (s *Scanner) IsText() bool { return s.next() == '"' }

// IsNull says that the next value is null, if it is anything.
func (s *Scanner) IsNull() bool { return s.next() == 'n' }

// IsFalse says that the next value is false, if it is anything.
func (s *Scanner) IsFalse() bool { return s.next() == 'f' }

// Leave leaves the line to others.
func (s *Scanner) Leave() { s.ok = false }

func (s *Scanner) expect(c byte) {
	if s.at >= len(s.line) || s.line[s.at] != c {
		s.ok = false
		return
	}
	s.at++
}

func (s *Scanner) next() byte {
	if s.at < len(s.line) {
		return s.line[s.at]
	}
	return 0
}

// Key is the next name of the object that was entered; false at the object's end,
// which is passed, and when the line is left to others. first says that it is the
// object's first.
func (s *Scanner) Key(first bool) (key []byte, ok bool) {
	if !s.ok {
		return nil, false
	}
	if s.next() == '}' {
		s.at++
		return nil, false
	}
	if !first {
		s.expect(',')
	}
	key = s.Word()
	s.expect(':')
	return key, s.ok
}

// Enter goes into the object that is the next value.
func (s *Scanner) Enter() bool {
	s.expect('{')
	return s.ok
}

// Word is a string without escapes; it shares the line's memory.
func (s *Scanner) Word() []byte {
	text, plain := s.quoted()
	if !plain {
		s.ok = false
	}
	return text
}

// WordOrSkip is Word for a string, nil for another scalar.
func (s *Scanner) WordOrSkip() []byte {
	if s.next() == '"' {
		return s.Word()
	}
	s.Skip()
	return nil
}

// Chunk is a piece of text, valid until the next Begin; empty for another scalar.
func (s *Scanner) Chunk() Chunk {
	if s.next() != '"' {
		s.Skip()
		return Chunk{}
	}
	text, plain := s.quoted()
	if s.ok && !plain {
		text = s.unescape(text)
	}
	return Chunk{shared: text}
}

// Text is Chunk as a string of its own.
func (s *Scanner) Text() string { return string(s.Chunk().shared) }

// Skip passes a scalar.
func (s *Scanner) Skip() {
	switch c := s.next(); {
	case c == '"':
		if text, plain := s.quoted(); !plain && s.ok {
			s.unescape(text) // for what it refuses
		}
	case c == 'n':
		s.literal("null")
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	default:
		s.Integer()
	}
}

func (s *Scanner) literal(word string) {
	if len(s.line)-s.at < len(word) || string(s.line[s.at:s.at+len(word)]) != word {
		s.ok = false
		return
	}
	s.at += len(word)
}

// Integer is one of so few digits that every reader takes it. What is none leaves the
// line to others.
func (s *Scanner) Integer() (n int64) {
	negative := s.next() == '-'
	if negative {
		s.at++
	}
	from := s.at
	for s.at < len(s.line) && s.line[s.at] >= '0' && s.line[s.at] <= '9' {
		n = n*10 + int64(s.line[s.at]-'0')
		s.at++
	}
	if n := s.at - from; n == 0 || n > 15 || n > 1 && s.line[from] == '0' {
		s.ok = false
	}
	if c := s.next(); c != ',' && c != '}' {
		s.ok = false
	}
	if negative {
		return -n
	}
	return n
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special has the highest bit set in the first byte of x that is a quote, a
// backslash, a control character or no ASCII; bits above that one mean nothing.
func special(x uint64) uint64 {
	quote, back := x^'"'*ones, x^'\\'*ones
	return ((quote-ones)&^quote | (back-ones)&^back | (x-' '*ones)&^x | x) & highs
}

// quoted passes a string and gives what is between its quotes; plain says that it
// holds no escape.
func (s *Scanner) quoted() (text []byte, plain bool) {
	s.expect('"')
	if !s.ok {
		return nil, false
	}
	line, from, at := s.line, s.at, s.at
	plain = true
	ascii := true
	for {
		for at+8 <= len(line) {
			hit := special(binary.LittleEndian.Uint64(line[at:]))
			if hit != 0 {
				at += bits.TrailingZeros64(hit) >> 3
				break
			}
			at += 8
		}
		if at >= len(line) {
			s.ok = false
			return nil, false
		}
		switch c := line[at]; {
		case c == '"':
			text = line[from:at]
			s.at = at + 1
			if !ascii && !utf8.Valid(text) {
				s.ok = false
			}
			return text, plain
		case c == '\\':
			plain = false
			at += 2
		case c < ' ':
			s.ok = false
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
			for at++; at < len(line) && line[at] >= utf8.RuneSelf; {
				at++
			}
		default:
			at++ // of the last few bytes
		}
	}
}

// unescape gives a text without its escapes. Those of surrogates, which come in
// pairs or wrongly, are left to others.
func (s *Scanner) unescape(text []byte) []byte {
	from := len(s.room)
	b := s.room
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			break
		}
		b = append(b, text[:i]...)
		text = text[i:] // quoted saw to it that something follows
		taken := 2
		switch c := text[1]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'u':
			unit, ok := codeUnit(text)
			if !ok || unit >= 0xd800 && unit <= 0xdfff {
				s.ok = false
				return nil
			}
			b = utf8.AppendRune(b, rune(unit))
			taken = 6
		default:
			s.ok = false
			return nil
		}
		text = text[taken:]
	}
	b = append(b, text...)
	s.room = b
	return b[from:len(b):len(b)]
}
