package redact

import (
	"strings"
	"unsafe"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// Set is the secrets to look for: values in all their forms, and what is shaped like
// a token (but see Values). A nil Set is valid and finds nothing.
//
// It looks for all of them in one pass. A window of three bytes moves over the text
// by what the two bytes at its end allow (Wu and Manber's method), so most of a text
// is left behind two bytes at a time; only where a window is the beginning of
// something is that looked at byte by byte, in a tree of all forms.
//
// A Set never changes and may be shared.
type Set struct {
	nodes  []node
	roots  [256]int32    // the nodes of first bytes, 0 for none
	first  [256]bool     // the bytes that something begins with
	shift  [1 << 16]byte // how far the window may move, by its last two bytes
	shapes bool
}

// node is one byte of a form, below the bytes before it.
type node struct {
	child, next int32 // its first child, its next sibling; 0 for none
	char        byte
	end         bool // a form ends here
}

const window = 3

// New makes a Set of values, and of what is shaped like a token. Space around a value
// does not count, and values of fewer than six characters are left out: they would be
// found everywhere.
func New(values ...string) *Set {
	s := Values(values...)
	if s == nil {
		s = empty()
	}
	s.shapes = true
	for _, begin := range shapeBegins {
		s.look(begin)
	}
	return s
}

// Values makes a Set that knows the values alone, for what must stay as it is but for
// them. It is nil when none counts.
func Values(values ...string) *Set {
	forms := map[string]bool{}
	for _, v := range values {
		addForms(forms, v)
	}
	if len(forms) == 0 {
		return nil
	}
	s := empty()
	for f := range forms {
		s.add(f)
		s.look(f)
	}
	return s
}

func empty() *Set {
	s := &Set{nodes: make([]node, 1)}
	for i := range s.shift {
		s.shift[i] = window - 1
	}
	return s
}

// add puts a form into the tree.
func (s *Set) add(form string) {
	n := s.roots[form[0]]
	if n == 0 {
		n = s.grow(form[0], 0)
		s.roots[form[0]] = n
	}
	for i := 1; i < len(form); i++ {
		c := s.child(n, form[i])
		if c == 0 {
			c = s.grow(form[i], s.nodes[n].child)
			s.nodes[n].child = c
		}
		n = c
	}
	s.nodes[n].end = true
}

func (s *Set) grow(c byte, next int32) int32 {
	s.nodes = append(s.nodes, node{char: c, next: next})
	return int32(len(s.nodes) - 1)
}

func (s *Set) child(n int32, c byte) int32 {
	n = s.nodes[n].child
	for n != 0 && s.nodes[n].char != c {
		n = s.nodes[n].next
	}
	return n
}

// look makes the window stop at what begins so.
func (s *Set) look(begin string) {
	s.first[begin[0]] = true
	p := pair(begin[0], begin[1])
	s.shift[p] = min(s.shift[p], 1)
	s.shift[pair(begin[1], begin[2])] = 0
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// Bytes gives p without the secrets: p itself, and no allocation, if it has none,
// else a new slice.
func (s *Set) Bytes(p []byte) []byte {
	if s == nil || len(p) == 0 {
		return p
	}
	said, _, clean := s.scan(unsafe.String(unsafe.SliceData(p), len(p)), noByte, true, s.shapes)
	if clean {
		return p
	}
	return []byte(said)
}

// String gives text without the secrets, text itself if it has none.
func (s *Set) String(text string) string {
	if s == nil {
		return text
	}
	said, _, _ := s.scan(text, noByte, true, s.shapes)
	return said
}

// Known gives text without the values: what only looks like a token stays.
func (s *Set) Known(text string) string {
	if s == nil {
		return text
	}
	said, _, _ := s.scan(text, noByte, true, false)
	return said
}

// noByte is what stands before the beginning of a text.
const noByte = -1

// scan redacts a text that comes behind the byte prev. One that is not whole is
// redacted up to cut only, from where it depends on what follows. clean says that
// nothing was redacted: said is then text[:cut] itself.
func (s *Set) scan(text string, prev int, whole, shapes bool) (said string, cut int, clean bool) {
	var out strings.Builder
	from := 0 // what is in out already, or stands for it
	clean = true
	for at := window; at <= len(text); {
		if skip := s.shift[pair(text[at-2], text[at-1])]; skip > 0 {
			at += int(skip)
			continue
		}
		i := at - window
		if !s.first[text[i]] {
			at++
			continue
		}
		end, open := s.begins(text, i, prev, shapes)
		if open && !whole {
			return s.joined(&out, text[from:i], clean), i, clean
		}
		if end == i {
			at++
			continue
		}
		if clean {
			clean = false
			out.Grow(len(text) + len(Mark))
		}
		out.WriteString(text[from:i])
		out.WriteString(Mark)
		from, at = end, end+window
	}
	cut = len(text)
	if !whole {
		for i := max(from, len(text)-window+1); i < cut; i++ { // what is shorter than the window
			if s.first[text[i]] {
				if _, open := s.begins(text, i, prev, shapes); open {
					cut = i
				}
			}
		}
	}
	return s.joined(&out, text[from:cut], clean), cut, clean
}

func (s *Set) joined(out *strings.Builder, rest string, clean bool) string {
	if clean {
		return rest // from the beginning
	}
	out.WriteString(rest)
	return out.String()
}
