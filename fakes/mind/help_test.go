package mind

import (
	"strings"
	"testing"
)

// What the help shows is a directive when it is written in a prompt.
func TestHelpListsDirectives(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range strings.Lines(Help()) {
		if !strings.HasPrefix(line, "[[") {
			continue // the second line of one
		}
		n++
		if _, list := Directives(line); len(list) == 0 {
			t.Errorf("%q has the directives %v", line, list)
		}
	}
	if n < 15 {
		t.Errorf("%d directives", n)
	}
}
