package layout

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestDependenciesPage holds docs/dependencies.md to go.mod: every direct module with its
// version, nothing else, and every cell filled.
func TestDependenciesPage(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\t?([a-z0-9./-]+\.[a-z]+/[^ ]+|pgregory\.net/rapid|go\.uber\.org/[^ ]+) (v[^ \n]+)$`).FindAllStringSubmatch(string(mod), -1) {
		want[m[1]] = m[2]
	}
	if len(want) < 10 {
		t.Fatalf("only %d direct modules found", len(want))
	}
	seen := map[string]bool{}
	for line := range strings.SplitSeq(string(page), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || !strings.Contains(cells[1], "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		module := strings.Trim(cells[1], "`")
		seen[module] = true
		switch {
		case want[module] == "":
			t.Errorf("%s is no direct dependency", module)
		case want[module] != cells[2]:
			t.Errorf("%s: the version is %s, not %s", module, want[module], cells[2])
		}
		for _, cell := range cells[3:7] {
			if cell == "" {
				t.Errorf("%s: a cell is empty", module)
			}
		}
	}
	for module := range want {
		if !seen[module] {
			t.Errorf("%s is not on the page: say why it is there, and what it may reach", module)
		}
	}
}
