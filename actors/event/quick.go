package event

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// readItem reads the body of an event about an item.
func readItem(body string) (*Item, error) {
	if it, ok := quickItem(body); ok {
		return it, nil
	}
	it := new(Item)
	return it, json.Unmarshal([]byte(body), it)
}

// quickItem reads an item as the encoder writes most: its long texts are looked
// through by the machine's own search, not byte by byte. What it reads is what
// json.Unmarshal would; everything else is left to that.
func quickItem(body string) (*Item, bool) {
	q := quick{text: body, ok: true}
	it := new(Item)
	q.expect('{')
	for first := true; q.ok && !q.skip('}'); first = false {
		if !first {
			q.expect(',')
		}
		key := q.word()
		q.expect(':')
		q.field(it, key)
	}
	return it, q.ok && q.at == len(body)
}

func (q *quick) field(it *Item, key string) {
	switch key {
	case "id":
		q.id(&it.ID)
	case "type":
		it.Type = ItemType(q.small())
	case "status":
		it.Status = Status(q.small())
	case "phase":
		it.Phase = Phase(q.small())
	case "user":
		it.User = q.yes()
	case "text":
		it.Text = q.string()
	case "command":
		it.Command = q.string()
	case "cwd":
		it.Cwd = q.string()
	case "output":
		it.Output = q.string()
	case "exit_code":
		n := int(q.small())
		it.ExitCode = &n
	case "millis":
		it.Millis = q.number()
	case "server":
		it.Server = q.string()
	case "tool":
		it.Tool = q.string()
	case "arguments":
		it.Arguments = q.string()
	case "error":
		it.Error = q.string()
	default:
		q.ok = false
	}
}

// quick goes through compact JSON. What it does not know makes it not ok, for good.
type quick struct {
	text string
	at   int
	ok   bool
}

func (q *quick) skip(c byte) bool {
	if q.at < len(q.text) && q.text[q.at] == c {
		q.at++
		return true
	}
	return false
}

func (q *quick) expect(c byte) {
	if !q.skip(c) {
		q.ok = false
	}
}

// word is a string without escapes; it shares the text's memory.
func (q *quick) word() string {
	q.expect('"')
	if !q.ok {
		return ""
	}
	rest := q.text[q.at:]
	end := strings.IndexByte(rest, '"')
	if end < 0 || !plain(rest[:end]) || strings.IndexByte(rest[:end], '\\') >= 0 {
		q.ok = false
		return ""
	}
	q.at += end + 1
	return rest[:end]
}

func (q *quick) id(to *ID) {
	word := q.word()
	if word == "" {
		*to = ID{}
		return
	}
	got, ok := ParseHex(word)
	q.ok = q.ok && ok
	*to = got
}

// small is a number of one byte.
func (q *quick) small() uint8 {
	n := q.number()
	if n > 255 {
		q.ok = false
	}
	return uint8(n)
}

// number is one of so few digits that every reader takes it, and not negative.
func (q *quick) number() (n int64) {
	from := q.at
	for q.at < len(q.text) && '0' <= q.text[q.at] && q.text[q.at] <= '9' && q.at-from <= 15 {
		n = n*10 + int64(q.text[q.at]-'0')
		q.at++
	}
	if d := q.at - from; d == 0 || d > 15 || d > 1 && q.text[from] == '0' {
		q.ok = false
	}
	return n
}

func (q *quick) yes() bool {
	if !strings.HasPrefix(q.text[q.at:], "true") {
		q.ok = false
		return false
	}
	q.at += len("true")
	return true
}

// string is a string of its own memory.
func (q *quick) string() string {
	q.expect('"')
	if !q.ok {
		return ""
	}
	rest := q.text[q.at:]
	end := strings.IndexByte(rest, '"')
	if end < 0 {
		q.ok = false
		return ""
	}
	at := strings.IndexByte(rest[:end], '\\')
	if at < 0 {
		q.at += end + 1
		q.ok = plain(rest[:end])
		return strings.Clone(rest[:end])
	}
	b := make([]byte, 0, end+end/16)
	from := 0
	for at >= 0 {
		if !plain(rest[from : from+at]) {
			q.ok = false
			return ""
		}
		b = append(b, rest[from:from+at]...)
		from += at
		var n int
		if b, n = unescaped(b, rest[from:]); n == 0 {
			q.ok = false
			return ""
		}
		if from += n; from > end { // the quote was an escaped one
			next := strings.IndexByte(rest[from:], '"')
			if next < 0 {
				q.ok = false
				return ""
			}
			end = from + next
		}
		at = strings.IndexByte(rest[from:end], '\\')
	}
	q.ok = plain(rest[from:end])
	q.at += end + 1
	return string(append(b, rest[from:end]...))
}

// unescaped appends what the escape that s begins with stands for, and gives its
// length: 0 for one that is left to others, such as those of surrogates.
func unescaped(b []byte, s string) ([]byte, int) {
	if len(s) < 2 {
		return b, 0
	}
	switch c := s[1]; c {
	case '"', '\\', '/':
		return append(b, c), 2
	case 'n':
		return append(b, '\n'), 2
	case 't':
		return append(b, '\t'), 2
	case 'r':
		return append(b, '\r'), 2
	case 'b':
		return append(b, '\b'), 2
	case 'f':
		return append(b, '\f'), 2
	case 'u':
		var unit [2]byte
		if len(s) < 6 {
			return b, 0
		}
		if _, err := hex.Decode(unit[:], []byte(s[2:6])); err != nil || unit[0]&0xf8 == 0xd8 {
			return b, 0
		}
		return utf8.AppendRune(b, rune(unit[0])<<8|rune(unit[1])), 6
	}
	return b, 0
}

// plain says that s has no control characters and is UTF-8: a reader takes it as it is.
func plain(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if x := eight(s, i); (x-' '*ones)&^x&highs != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i] < ' ' {
			return false
		}
	}
	return utf8.ValidString(s)
}
