package redact

// Stream redacts a text that comes in pieces. What it gives, joined, is what
// Set.String gives for the whole; it holds back only an end that may be the
// beginning of a secret.
// The stream of a nil Set passes everything on.
type Stream struct {
	set  *Set
	held string
}

// Stream makes one for one text.
func (s *Set) Stream() *Stream { return &Stream{set: s} }

// Write takes the next piece and gives what can be said now, perhaps nothing.
func (t *Stream) Write(piece string) string {
	if t.set == nil {
		return piece
	}
	text := piece
	if t.held != "" {
		text = t.held + piece
	}
	cut := t.set.settled(text)
	t.held = text[cut:]
	return t.set.String(text[:cut])
}

// Flush gives what was held back; the text has ended.
func (t *Stream) Flush() string {
	held := t.held
	t.held = ""
	return t.set.String(held)
}

// settled is how much of text will be redacted the same way whatever follows.
func (s *Set) settled(text string) int {
	for from := 0; ; {
		start, end := find(s, text, from)
		if start >= 0 && end <= len(text)-s.longest {
			from = end // too far from the end to be part of something unfinished
			continue
		}
		open := s.open(text, from)
		if start < 0 || open <= start {
			return open // at or before a match: it may become a longer one
		}
		from = end
	}
}

// open is where in text[from:] a form begins that the text ends in, the length of
// text if nowhere.
func (s *Set) open(text string, from int) int {
	for i := max(from, len(text)-s.longest+1); i < len(text); i++ {
		if !s.first[text[i]] {
			continue
		}
		for _, f := range s.forms {
			if len(f) > len(text)-i && begins(f, text[i:]) {
				return i
			}
		}
	}
	return len(text)
}
