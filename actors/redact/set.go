package redact

import (
	"math/bits"
	"strings"
	"unsafe"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// Set is the secrets to look for: values in all their forms, and what is shaped like
// a token (but see Values). A nil Set is valid and finds nothing.
//
// It looks for all of them in one pass. Whatever begins anywhere has its first two
// bytes or its second and third at an even place, so a text is left behind by one look
// at every second pair of bytes, four at a time; only where three bytes are the
// beginning of something is that looked at byte by byte, in a tree of all forms.
//
// A Set never changes and may be shared.
type Set struct {
	nodes  []node
	roots  [256]int32    // the nodes of first bytes, 0 for none
	first  [256]bool     // the bytes that something begins with
	pairs  [1 << 16]byte // where in a beginning two bytes are: heads, tails, both
	shapes bool
}

// node is one byte of a form, below the bytes before it.
type node struct {
	child, next int32 // its first child, its next sibling; 0 for none
	char        byte
	end         bool // a form ends here
}

const (
	window = 3 // bytes of a beginning that are looked at first
	tails  = 1 // the second and the third of them
	heads  = 2 // the first and the second
)

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

func empty() *Set { return &Set{nodes: make([]node, 1)} }

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

// look makes the search stop at what begins so.
func (s *Set) look(begin string) {
	s.first[begin[0]] = true
	s.pairs[pair(begin[0], begin[1])] |= heads
	s.pairs[pair(begin[1], begin[2])] |= tails
}

func pair(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }

// next is the first place from i on where something may begin, of which the whole
// window is in the text; -1 if there is none.
func (s *Set) next(text string, i int) int {
	from := i
	for ; i+8 <= len(text); i += 8 {
		w := eight(text, i)
		a, b, c, d := s.pairs[uint16(w)], s.pairs[uint16(w>>16)], s.pairs[uint16(w>>32)], s.pairs[uint16(w>>48)]
		if a|b|c|d == 0 {
			continue
		}
		// Each bit is a place, the lowest that before i.
		for at := a | b<<2 | c<<4 | d<<6; at != 0; at &= at - 1 {
			if j := i - 1 + bits.TrailingZeros8(at); j >= from && j+window <= len(text) && s.may(text, j) {
				return j
			}
		}
	}
	for i = max(i-1, from); i+window <= len(text); i++ {
		if s.may(text, i) {
			return i
		}
	}
	return -1
}

// may says that something may begin at text[i], of which the whole window is there.
func (s *Set) may(text string, i int) bool {
	return s.pairs[pair(text[i], text[i+1])]&heads != 0 && s.pairs[pair(text[i+1], text[i+2])]&tails != 0
}

// eight are the eight bytes at text[i], the first of them lowest.
func eight(text string, i int) uint64 {
	t := text[i : i+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

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
	for i := s.next(text, 0); i >= 0; {
		end, open := s.begins(text, i, prev, shapes)
		if open && !whole {
			return s.joined(&out, text[from:i], clean), i, clean
		}
		if end == i {
			i = s.next(text, i+1)
			continue
		}
		if clean {
			clean = false
			out.Grow(len(text) + len(Mark))
		}
		out.WriteString(text[from:i])
		out.WriteString(Mark)
		from = end
		i = s.next(text, end)
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
