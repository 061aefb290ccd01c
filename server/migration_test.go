package server

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestMigrationPageNamesEveryOldOperation holds the page's table of routes to the
// routes: each operation of existing deployments once, and whether it is built.
func TestMigrationPageNamesEveryOldOperation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Host: &fakeHost{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(t.Context()) }()
	said := map[string]string{}
	name := regexp.MustCompile("`([a-z_]+)`")
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			continue
		}
		is := strings.TrimSpace(cells[2])
		if is != "same" && is != "501" {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(cells[1], -1) {
			if said[m[1]] != "" {
				t.Errorf("%s stands there twice", m[1])
			}
			said[m[1]] = is
		}
	}
	old := 0
	for _, row := range s.table {
		if row.old == "" {
			continue
		}
		old++
		want := "same"
		if row.handler == nil {
			want = "501"
		}
		if said[row.old] != want {
			t.Errorf("the page says of %s %q; it is %s", row.old, said[row.old], want)
		}
	}
	if old < 60 {
		t.Errorf("only %d old operations found", old)
	}
}
