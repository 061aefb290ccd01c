package jsonl

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/agent"
)

const (
	// maxDepth is the deepest nesting that is looked at. Real lines have less than
	// twenty levels; the decoder itself would go on to ten thousand.
	maxDepth = 1000
	// maxUnknown bounds what Unknown keeps of a line.
	maxUnknown = 16 << 10
)

var bom = []byte("\xef\xbb\xbf")

// Object finds the JSON object that a line is, without what terminals and editors
// put around it. ok is false for everything else: noise, other JSON values, cut or
// too deep objects that can be told without decoding. The result is valid UTF-8
// and may share line's memory.
func Object(line []byte) (obj []byte, ok bool) {
	obj = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), bom))
	if bytes.IndexByte(obj, esc) >= 0 {
		obj = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(StripEscapes(obj)), bom))
	}
	if len(obj) < 2 || obj[0] != '{' || obj[len(obj)-1] != '}' || tooDeep(obj) {
		return nil, false
	}
	if !utf8.Valid(obj) {
		obj = bytes.ToValidUTF8(obj, []byte("\uFFFD"))
	}
	return obj, true
}

// tooDeep reports whether obj nests deeper than maxDepth. Counting brackets first
// settles it for nearly every line at the speed of memory.
func tooDeep(obj []byte) bool {
	if bytes.Count(obj, []byte{'{'})+bytes.Count(obj, []byte{'['}) <= maxDepth {
		return false
	}
	depth, inString := 0, false
	for i := 0; i < len(obj); i++ {
		c := obj[i]
		switch {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// Blank reports whether a line holds nothing but space and terminal escapes: a
// line that says nothing and gives no fact.
func Blank(line []byte) bool {
	rest := bytes.TrimPrefix(bytes.TrimSpace(line), bom)
	if bytes.IndexByte(rest, esc) >= 0 {
		rest = StripEscapes(rest)
	}
	return len(bytes.TrimSpace(rest)) == 0
}

// Unknown keeps a line that no rule matched. A very long one keeps its beginning
// and its length; a blank one is dropped.
func Unknown(line []byte, out *agent.Batch) {
	if Blank(line) {
		return
	}
	out.Add(agent.Fact{Kind: agent.FactUnknown, Text: Clip(line, maxUnknown)})
}

// Clip is line as valid text of about limit bytes at most, what was dropped named.
func Clip(line []byte, limit int) string {
	dropped := 0
	if len(line) > limit {
		at := limit
		for at > 0 && !utf8.RuneStart(line[at]) {
			at--
		}
		dropped = len(line) - at
		line = line[:at]
	}
	text := string(bytes.ToValidUTF8(line, []byte("\uFFFD")))
	if dropped > 0 {
		text += fmt.Sprintf(" [%d bytes dropped]", dropped)
	}
	return text
}
