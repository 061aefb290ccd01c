package mind

import (
	_ "embed"
	"strings"
)

//go:embed doc.go
var doc string

// Help lists the directives for people, one a line, as the package's documentation
// does.
func Help() string {
	var b strings.Builder
	for line := range strings.Lines(doc) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			b.WriteString(text)
		}
	}
	return b.String()
}
