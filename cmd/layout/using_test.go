package layout

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The bodies in docs/using.md are JSON, so that they can be copied as they stand.
func TestExamplesOfUseAreJSON(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/using.md")
	if err != nil {
		t.Fatal(err)
	}
	bodies := regexp.MustCompile(`(?s)\npost /\S+ '(.*?)'`).FindAllSubmatch(b, -1)
	if len(bodies) < 15 {
		t.Errorf("%d bodies", len(bodies))
	}
	for _, body := range bodies {
		if !json.Valid(body[1]) {
			t.Errorf("no JSON: %s", body[1])
		}
	}
	if n := strings.Count(string(b), "\n"); n > 200 {
		t.Errorf("%d lines", n)
	}
}
