package actors_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
)

// versioned is a script whose program tells its version.
type versioned struct{ script }

func (versioned) VersionArgs() []string { return []string{"--version"} }

// program writes a CLI that says its version and notes each time that it is asked.
func program(t *testing.T, path, asked, version string, at time.Time) {
	t.Helper()
	text := fmt.Sprintf("#!/bin/sh\necho asked >>%s\necho 'tool %s'\necho more\n", asked, version)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestVersionIsAskedOncePerInstalledProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool, asked := filepath.Join(dir, "tool"), filepath.Join(dir, "asked")
	h, err := actors.New(actors.WithStateDir(t.TempDir()), actors.WithRuntime(actors.RuntimeConfig{Adapter: versioned{script{binary: tool}}}))
	if err != nil {
		t.Fatal(err)
	}
	reported := func(ctx context.Context) string { return h.Runtimes(ctx)[0].Version }
	times := func() int {
		notes, err := os.ReadFile(asked)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(notes), "asked")
	}

	if r := h.Runtimes(t.Context())[0]; r.Installed || r.Version != "" {
		t.Errorf("nothing is installed: %+v", r)
	}
	then := time.Unix(1_700_000_000, 0)
	program(t, tool, asked, "1.0", then)
	for range 3 {
		if v := reported(t.Context()); v != "tool 1.0" {
			t.Errorf("version %q", v)
		}
	}
	if n := times(); n != 1 {
		t.Errorf("asked %d times", n)
	}

	// An upgrade in place.
	program(t, tool, asked, "1.1", then.Add(time.Second))
	if v := reported(t.Context()); v != "tool 1.1" || times() != 2 {
		t.Errorf("after an upgrade: %q, asked %d times", v, times())
	}
	// One that is put in the old one's place and has its time and size.
	next := filepath.Join(dir, "next")
	program(t, next, asked, "1.2", then.Add(time.Second))
	if err := os.Rename(next, tool); err != nil {
		t.Fatal(err)
	}
	if v := reported(t.Context()); v != "tool 1.2" || times() != 3 {
		t.Errorf("after a switch: %q, asked %d times", v, times())
	}

	// A caller who leaves while the program is asked spoils nothing for the next.
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	program(t, tool, asked, "1.3", then.Add(2*time.Second))
	if v := reported(gone); v != "" {
		t.Errorf("a caller who has left was told %q", v)
	}
	if v := reported(t.Context()); v != "tool 1.3" {
		t.Errorf("the next caller: %q", v)
	}
	if err := os.Remove(tool); err != nil {
		t.Fatal(err)
	}
	if r := h.Runtimes(t.Context())[0]; r.Installed || r.Version != "" {
		t.Errorf("removed: %+v", r)
	}
}
