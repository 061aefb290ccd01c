package redact

// Stream redacts a text that comes in pieces. What it gives, joined, is what
// Set.String gives for the whole; it holds back only an end that may be the
// beginning of a secret.
// The stream of a nil Set passes everything on.
type Stream struct {
	set  *Set
	held string
	prev int // the byte before held
}

// Stream makes one for one text.
func (s *Set) Stream() *Stream { return &Stream{set: s, prev: noByte} }

// Write takes the next piece and gives what can be said now, perhaps nothing. A
// piece that has nothing to do with a secret is given back as it is.
func (t *Stream) Write(piece string) string {
	if t.set == nil || piece == "" {
		return piece
	}
	text := piece
	if t.held != "" {
		text = t.held + piece
	}
	said, cut, _ := t.set.scan(text, t.prev, false, t.set.shapes)
	if cut > 0 {
		t.prev = int(text[cut-1])
	}
	t.held = text[cut:]
	return said
}

// Held is what was held back, as it came. It may hold the beginning of a secret.
func (t *Stream) Held() string { return t.held }

// Flush gives what was held back; the text has ended.
func (t *Stream) Flush() string {
	held, prev := t.held, t.prev
	t.held, t.prev = "", noByte
	if held == "" {
		return ""
	}
	said, _, _ := t.set.scan(held, prev, true, t.set.shapes)
	return said
}
