package redact

import (
	"slices"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// Set is the secrets to look for. A nil Set is valid and finds nothing.
//
// It looks for all forms in one pass (Wu and Manber's method): a window as long as
// the shortest form moves over the text by what the two bytes at its end allow,
// which with keys of ordinary length is most of the window.
type Set struct {
	forms   []string // longest first
	window  int      // length of the shortest form, at most 255
	longest int
	shift   [1 << 16]uint8     // by the last two bytes of the window
	ends    map[uint16][]int32 // where shift is 0: the forms that may be there
	first   [256]bool          // first bytes of forms
}

// New makes a Set of values. Space around a value does not count, and values of
// fewer than six characters are left out: they would be found everywhere. It is nil
// if none is left.
func New(values ...string) *Set {
	forms := map[string]bool{}
	for _, v := range values {
		addForms(forms, v)
	}
	if len(forms) == 0 {
		return nil
	}
	s := &Set{ends: map[uint16][]int32{}}
	for f := range forms {
		s.forms = append(s.forms, f)
	}
	slices.SortFunc(s.forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	s.longest = len(s.forms[0])
	s.window = min(len(s.forms[len(s.forms)-1]), 255)
	for i := range s.shift {
		s.shift[i] = uint8(s.window - 1)
	}
	for i, f := range s.forms {
		s.first[f[0]] = true
		for end := 2; end <= s.window; end++ {
			pair := uint16(f[end-2])<<8 | uint16(f[end-1])
			s.shift[pair] = min(s.shift[pair], uint8(s.window-end))
			if end == s.window {
				s.ends[pair] = append(s.ends[pair], int32(i))
			}
		}
	}
	return s
}

// Bytes gives p without the secrets: p itself, and no allocation, if it has none,
// else a new slice.
func (s *Set) Bytes(p []byte) []byte {
	start, end := find(s, p, 0)
	if start < 0 {
		return p
	}
	out := make([]byte, 0, len(p))
	from := 0
	for start >= 0 {
		out = append(append(out, p[from:start]...), Mark...)
		from = end
		start, end = find(s, p, from)
	}
	return append(out, p[from:]...)
}

// String gives text without the secrets, text itself if it has none.
func (s *Set) String(text string) string {
	start, end := find(s, text, 0)
	if start < 0 {
		return text
	}
	var out strings.Builder
	from := 0
	for start >= 0 {
		out.WriteString(text[from:start])
		out.WriteString(Mark)
		from = end
		start, end = find(s, text, from)
	}
	out.WriteString(text[from:])
	return out.String()
}

// find gives the first form in text[from:], the longest of those that begin there;
// -1 if there is none.
func find[T string | []byte](s *Set, text T, from int) (start, end int) {
	if s == nil {
		return -1, -1
	}
	for at := from + s.window; at <= len(text); {
		pair := uint16(text[at-2])<<8 | uint16(text[at-1])
		if skip := s.shift[pair]; skip > 0 {
			at += int(skip)
			continue
		}
		start := at - s.window
		for _, i := range s.ends[pair] { // longest first
			if f := s.forms[i]; begins(text[start:], f) {
				return start, start + len(f)
			}
		}
		at++
	}
	return -1, -1
}

func begins[T string | []byte](text T, form string) bool {
	if len(text) < len(form) {
		return false
	}
	for i := range len(form) {
		if text[i] != form[i] {
			return false
		}
	}
	return true
}
