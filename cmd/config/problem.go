package config

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing that is wrong with the configuration.
type Problem struct {
	// Source is a file, "variable NAME" or "flag --name".
	Source string `json:"source"`
	// Line is the line of a file; 0 elsewhere.
	Line int    `json:"line,omitempty"`
	Key  string `json:"key,omitempty"`
	// Value is the bad value; never a secret.
	Value string `json:"value,omitempty"`
	// What says what is wrong, Remedy what to do.
	What   string `json:"what"`
	Remedy string `json:"remedy,omitempty"`
}

// String is the one line a person reads.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Source)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	if p.Value != "" {
		fmt.Fprintf(&b, "%q ", p.Value)
	}
	b.WriteString(p.What)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// Problems is every problem of one load; it is an error when it has any.
type Problems []Problem

// Error lists them, one a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) add(one Problem) { *p = append(*p, one) }

// sorted orders by file line; what has no line keeps its place behind them.
func (p Problems) sorted() Problems {
	sort.SliceStable(p, func(i, j int) bool {
		a, b := p[i], p[j]
		if a.Source != b.Source || a.Line == 0 || b.Line == 0 {
			return false
		}
		return a.Line < b.Line
	})
	return p
}

// nearest is the candidate closest to name, "" when none is close.
func nearest(name string, candidates []string) string {
	best, at := "", 1+max(2, len(name)/3)
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < at {
			best, at = c, d
		}
	}
	return best
}

// distance counts the edits between two words, a swap of neighbours being one.
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// didYouMean asks for the nearest of the right words, "" when none is near.
func didYouMean(name string, right []string) string {
	if n := nearest(name, right); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// suggest says which of the right words was meant.
func suggest(name string, right []string) string {
	if hint := didYouMean(name, right); hint != "" {
		return hint
	}
	return "use one of " + strings.Join(right, ", ")
}

// DidYouMean is didYouMean behind a semicolon.
func DidYouMean(name string, right []string) string {
	if hint := didYouMean(name, right); hint != "" {
		return "; " + hint
	}
	return ""
}
