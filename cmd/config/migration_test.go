package config

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestMigrationPageNamesEveryOldVariable holds the page's table to what is read: each
// name once, with what becomes of it.
func TestMigrationPageNamesEveryOldVariable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for name := range abxScalars {
		want[name] = "same"
	}
	for _, name := range abxRead {
		want[name] = "same"
	}
	for name := range abxUnbuilt {
		want[name] = "refused"
	}
	for _, name := range abxElsewhere {
		want[name] = "elsewhere"
	}
	said := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(ABX_[A-Z_]+)` \\| ([a-z]+) \\|").FindAllStringSubmatch(string(text), -1) {
		if said[m[1]] != "" {
			t.Errorf("%s stands there twice", m[1])
		}
		said[m[1]] = m[2]
	}
	for name, is := range want {
		if said[name] != is {
			t.Errorf("the page says of %s %q; it is %s", name, said[name], is)
		}
	}
	for name := range said {
		if want[name] == "" {
			t.Errorf("the page has %s, which is not known", name)
		}
	}
	for _, name := range regexp.MustCompile(`ABX_[A-Z_]*[A-Z]`).FindAllString(string(text), -1) {
		if want[name] == "" && !slices.Contains([]string{"ABX_"}, name) {
			t.Errorf("the page names %s, which is not known", name)
		}
	}
	// Every key that the page sends people to is one.
	keys := map[string]bool{"auth.tokens": true, "agents.default": true, "web.hosts": true, "auth.allow_anonymous": true}
	for _, s := range Default("~", false).Scalars() {
		keys[s.Key] = true
	}
	for _, m := range regexp.MustCompile("`((?:limits|environments|auth|web)\\.[a-z_]+)(?::[^`]*)?`").FindAllStringSubmatch(string(text), -1) {
		if !keys[m[1]] && m[1] != "limits.turn_timeout_s" {
			t.Errorf("the page names the key %s, which is none", m[1])
		}
	}
}
