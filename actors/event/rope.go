package event

import "strings"

// Rope is a text that grows by pieces. It copies each once, into blocks that stay
// where they are: a text that is appended to in one place is copied whole whenever it
// outgrows it. The zero value is ready.
type Rope struct {
	blocks [][]byte
	length int
}

const (
	firstBlock = 256
	lastBlock  = 64 << 10
)

// Len is the length so far.
func (r *Rope) Len() int { return r.length }

// WriteString adds a piece.
func (r *Rope) WriteString(s string) {
	r.length += len(s)
	if n := len(r.blocks); n > 0 {
		last := &r.blocks[n-1]
		room := min(cap(*last)-len(*last), len(s))
		*last = append(*last, s[:room]...)
		s = s[room:]
	}
	if s == "" {
		return
	}
	block := make([]byte, 0, max(len(s), min(max(r.length, firstBlock), lastBlock)))
	r.blocks = append(r.blocks, append(block, s...))
}

// String is the pieces joined.
func (r *Rope) String() string {
	if len(r.blocks) == 1 {
		return string(r.blocks[0])
	}
	var b strings.Builder
	b.Grow(r.length)
	for _, block := range r.blocks {
		b.Write(block)
	}
	return b.String()
}

// CutFrom is what s has behind the text; false when s does not begin with it.
func (r *Rope) CutFrom(s string) (rest string, ok bool) {
	for _, block := range r.blocks {
		if len(s) < len(block) || s[:len(block)] != string(block) {
			return "", false
		}
		s = s[len(block):]
	}
	return s, true
}

// Reset forgets the text.
func (r *Rope) Reset() { *r = Rope{} }
