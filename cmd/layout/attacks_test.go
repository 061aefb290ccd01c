package layout

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// attacks must have a row on the page; each is the beginning of its first cell.
var attacks = []string{
	"path and id tricks", "symlink and hard-link swaps while the server reads", "config injection through names and metadata",
	"prompts beginning with `-`", "environment smuggling", "MCP server from a caller", "base_url to an attacker", "a secret printed in pieces",
	"a token in a query string", "two sessions with different credentials on one persistent runner", "SSRF through the relay", "rebinding",
}

// TestAttacksPage holds docs/attacks.md to the tests: each attack has a row, each row an
// answer and tests, and each of these exists.
func TestAttacksPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/attacks.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, missing := testNames(t), map[string]bool{}
	for _, a := range attacks {
		missing[a] = true
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9_]+)` \\(([a-z0-9/]+)\\)")
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| attack |") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.TrimSpace(cells[1]) == "" || strings.TrimSpace(cells[2]) == "" {
			t.Errorf("a row has not three cells with words in them: %s", line)
			continue
		}
		what := strings.TrimSpace(cells[1])
		for _, a := range attacks {
			if strings.HasPrefix(what, a) {
				delete(missing, a)
			}
		}
		for _, m := range named.FindAllStringSubmatch(cells[3], -1) {
			if !tests[m[2]+" "+m[1]] {
				t.Errorf("%s: there is no %s in %s", what, m[1], m[2])
			}
		}
		if rest := strings.Trim(named.ReplaceAllString(cells[3], ""), " ,"); rest != "" || !named.MatchString(cells[3]) {
			t.Errorf("%s: %q names no test as `TestName` (folder)", what, rest)
		}
	}
	for a := range missing {
		t.Errorf("the page has no row of %q", a)
	}
}
