package server

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestPolicyPageListsEveryOperation makes the table of docs/policy.md of the routes;
// with -update it is rewritten.
func TestPolicyPageListsEveryOperation(t *testing.T) {
	t.Parallel()
	const page, from, to = "../docs/policy.md", "<!-- operations -->\n", "<!-- end of operations -->\n"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), from)
	_, after, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the operations", page)
	}
	var table strings.Builder
	table.WriteString("| operation | id in documents of existing deployments | route |\n|---|---|---|\n")
	for _, o := range Operations() {
		if !o.Gated {
			continue
		}
		old, built := "", ""
		if o.Old != "" {
			old = "`" + o.Old + "`"
		}
		if !o.Built {
			built = " (501)"
		}
		fmt.Fprintf(&table, "| `%s` | %s | `%s %s`%s |\n", o.ID, old, o.Method, o.Path, built)
	}
	want := before + from + table.String() + to + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(b) != want {
		t.Errorf("%s is not what the routes say; run go test ./server -run %s -update", page, t.Name())
	}
}
