package drift

import (
	"fmt"
	"strings"
	"unicode"
)

// tokens splits TypeScript declarations: names with their dots, strings with
// their quotes, and single punctuation marks. Comments are gone.
func tokens(src string) []string {
	var out []string
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case unicode.IsSpace(rune(c)):
			i++
		case strings.HasPrefix(src[i:], "//"):
			i += until(src[i:], "\n")
		case strings.HasPrefix(src[i:], "/*"):
			i += until(src[i:], "*/")
		case c == '\'' || c == '"' || c == '`':
			n := 1
			for i+n < len(src) && src[i+n] != c {
				if src[i+n] == '\\' {
					n++
				}
				n++
			}
			n = min(n+1, len(src)-i)
			out = append(out, src[i:i+n])
			i += n
		case strings.HasPrefix(src[i:], "=>"):
			out = append(out, "=>")
			i += 2
		case strings.HasPrefix(src[i:], "..."):
			out = append(out, "...")
			i += 3
		case inName(c):
			n := 1
			for i+n < len(src) && (inName(src[i+n]) || src[i+n] == '.') {
				n++
			}
			out = append(out, src[i:i+n])
			i += n
		default:
			out = append(out, src[i:i+1])
			i++
		}
	}
	return out
}

func inName(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// until is how far src goes to the end of mark.
func until(src, mark string) int {
	if n := strings.Index(src, mark); n >= 0 {
		return n + len(mark)
	}
	return len(src)
}

// reader reads tokens one after the other.
type reader struct {
	file string
	list []string
	at   int
}

func (r *reader) peek() string {
	if r.at < len(r.list) {
		return r.list[r.at]
	}
	return ""
}

func (r *reader) next() string {
	t := r.peek()
	r.at++
	return t
}

// take reads t if it comes next.
func (r *reader) take(t string) bool {
	if r.peek() != t {
		return false
	}
	r.at++
	return true
}

func (r *reader) want(t string) error {
	if r.take(t) {
		return nil
	}
	from := max(0, r.at-5)
	return fmt.Errorf("%s: %q, want %q, in %s", r.file, r.peek(), t, strings.Join(r.list[from:min(r.at+5, len(r.list))], " "))
}

var closing = map[string]string{"{": "}", "(": ")", "[": "]", "<": ">"}

// skip reads over a balanced group that begins with open.
func (r *reader) skip(open string) {
	end, depth := closing[open], 0
	for r.at < len(r.list) {
		switch r.next() {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return
			}
		}
	}
}
