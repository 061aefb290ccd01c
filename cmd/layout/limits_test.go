package layout

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const (
	limitsPage        = "../../docs/limits.md"
	configurationPage = "../../docs/configuration.md"
)

// TestLimitsPage holds docs/limits.md to the configuration: every key of limits stands
// there once, with its default, and no other; each row names a test that there is.
func TestLimitsPage(t *testing.T) {
	t.Parallel()
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	defaults := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(limits\\.[a-z_]+)` \\| `[A-Z_]+` \\| `([^`]*)` \\|").FindAllStringSubmatch(read(configurationPage), -1) {
		defaults[m[1]] = m[2]
	}
	if len(defaults) < 50 {
		t.Fatalf("%d keys of limits in %s", len(defaults), configurationPage)
	}
	tests, seen := testNames(t), map[string]bool{}
	for line := range strings.SplitSeq(read(limitsPage), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.Contains(cells[2], "`limits.") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		key := strings.Trim(cells[2], "`")
		switch want, known := defaults[key]; {
		case !known:
			t.Errorf("%s is no key", key)
		case seen[key]:
			t.Errorf("%s stands there twice", key)
		case cells[3] != want:
			t.Errorf("%s: the default is %s, not %s", key, want, cells[3])
		}
		seen[key] = true
		if cells[1] == "" || cells[4] == "" || !tests[cells[5]] {
			t.Errorf("%s: %q is no test, or nothing is said of the bound", key, cells[5])
		}
	}
	for key := range defaults {
		if !seen[key] {
			t.Errorf("%s is missing", key)
		}
	}
}
