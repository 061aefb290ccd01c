package acp

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A turn of events says each in order, then its end, and notes that it ran.
func TestEventsAreNumbered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := &Agent{Home: dir, Modes: []string{"yolo"}, Log: filepath.Join(dir, "runs"), End: "the end"}
	var out bytes.Buffer
	a.out = &out
	if !events(a, &session{id: "s"}, "[[events: 3 60 1000 16]] tag:t7") || events(a, &session{id: "s"}, "hello") {
		t.Error("not played, or played without the directive")
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[2], " seq:2 xx") || !strings.Contains(lines[3], "the end") {
		t.Errorf("%q", lines)
	}
	if text, err := os.ReadFile(a.Log); err != nil || !strings.Contains(string(text), "t7 start") || !strings.Contains(string(text), "t7 end") {
		t.Errorf("%q, %v", text, err)
	}
}
