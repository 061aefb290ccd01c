package redact

// minFold is how many bytes of a value must stand together before a line break may
// come between the next two; maxFold is how many bytes such a break may have.
const (
	minFold = 4
	maxFold = 4
)

// begins looks at what begins at text[i]: end is where the longest secret ends, i if
// there is none; open says that what follows the text may make it one, or a longer
// one. prev is the byte before text.
func (s *Set) begins(text string, i, prev int, shapes bool) (end int, open bool) {
	end, open = s.walk(text, i)
	if !shapes {
		return end, open
	}
	if i > 0 {
		prev = int(text[i-1])
	}
	shapeEnd, shapeOpen := shaped(text, i, prev)
	return max(end, shapeEnd), open || shapeOpen
}

// walk goes down the tree of forms. A value that was folded over lines is the value:
// line breaks between its bytes do not count.
func (s *Set) walk(text string, i int) (end int, open bool) {
	end = i
	n := s.roots[text[i]]
	if n == 0 {
		return end, false
	}
	for j, depth := i+1, 1; ; depth++ {
		if s.nodes[n].end {
			end = j
		}
		if s.nodes[n].child == 0 {
			return end, false
		}
		if j == len(text) {
			return end, true
		}
		next := s.child(n, text[j])
		if next == 0 && depth >= minFold {
			if j = folded(text, j); j == len(text) {
				return end, true
			}
			next = s.child(n, text[j])
		}
		if next == 0 {
			return end, false
		}
		n = next
		j++
	}
}

// folded is where the text goes on behind a line break at j, the length of the text
// when it may go on behind its end; j when there is no break, or too long a one.
func folded(text string, j int) int {
	k := j
	for k < len(text) && k-j < maxFold {
		switch c := text[k]; {
		case c == '\n' || c == '\r':
			k++
			continue
		case c == '\\' && k+1 == len(text):
			return k + 1
		case c == '\\' && (text[k+1] == 'n' || text[k+1] == 'r'): // inside a JSON string
			k += 2
			continue
		}
		return k
	}
	return k
}
