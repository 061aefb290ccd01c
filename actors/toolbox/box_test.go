package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/toolbox"
)

func manifest(version string) *agent.Manifest {
	return &agent.Manifest{
		Adapter: "made", Program: "tool", Version: version, Bin: []string{"node_modules/.bin/none", "node_modules/.bin/*"},
		NPM: &agent.NPMPackage{Package: "tool", Lock: map[string]json.RawMessage{
			"node_modules/tool": []byte(`{"version":"` + version + `","integrity":"sha512-right"}`),
		}},
	}
}

// fill does what npm would do, with the checksum that it found.
func fill(t *testing.T, dir, version, integrity string) {
	t.Helper()
	bin := filepath.Join(dir, "node_modules", ".bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	note := `{"packages":{"node_modules/tool":{"version":"` + version + `","integrity":"` + integrity + `"}}}`
	for name, text := range map[string]string{filepath.Join(bin, "tool"): "#!/bin/sh\n", filepath.Join(dir, "node_modules", ".package-lock.json"): note} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func lock(t *testing.T, b *toolbox.Box) *toolbox.Lock {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l, err := b.Lock(ctx, "made", nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// install puts a version into the box and gives its program.
func install(t *testing.T, b *toolbox.Box, version string) string {
	t.Helper()
	l := lock(t, b)
	defer l.Unlock()
	s, err := l.Begin(manifest(version))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s.Dir(), version, "sha512-right")
	program, err := s.Program()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Switch(program); err != nil {
		t.Fatal(err)
	}
	return program
}

func there(path string) bool { _, err := os.Stat(path); return err == nil }

func TestSwitchLeadsToTheNewVersionAndRemovesTheOld(t *testing.T) {
	t.Parallel()
	b := toolbox.New(filepath.Join(t.TempDir(), "tools"))
	link := filepath.Join(b.Dir(), "bin", "tool")
	if got := b.Installed(manifest("1.0.0")); got != "" {
		t.Errorf("an empty box has %q", got)
	}
	one := install(t, b, "1.0.0")
	if path, _, ok := b.Program(link); !ok || path != one || b.Installed(manifest("1.0.0")) != one || b.Installed(manifest("1.0")) != "" {
		t.Errorf("%q %v %q", path, ok, b.Installed(manifest("1.0.0")))
	}
	two := install(t, b, "2.0.0")
	if path, _, ok := b.Program(link); !ok || path != two || there(one) || !there(link) || b.Installed(manifest("1.0.0")) != "" {
		t.Errorf("%q %v, the old one is there: %v", path, ok, there(one))
	}
	// The box may be moved as a whole.
	moved := toolbox.New(b.Dir() + "-moved")
	if err := os.Rename(b.Dir(), moved.Dir()); err != nil {
		t.Fatal(err)
	}
	if got := moved.Installed(manifest("2.0.0")); got == "" || !there(filepath.Join(moved.Dir(), "bin", "tool")) {
		t.Errorf("moved: %q", got)
	}
}

func TestUsedVersionIsKeptForOtherProcessesToo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tools")
	mine, other := toolbox.New(dir), toolbox.New(dir) // each has locks of its own, as two processes have
	one := install(t, mine, "1.0.0")
	first, err := mine.Use(one)
	if err != nil {
		t.Fatal(err)
	}
	second, err := mine.Use(one)
	if err != nil {
		t.Fatal(err)
	}
	install(t, other, "2.0.0")
	first()
	first() // says nothing more
	if !there(one) {
		t.Fatal("a version in use was removed")
	}
	second()
	if there(one) {
		t.Error("nobody uses it, and it is kept")
	}
	if _, err := mine.Use(one); !errors.Is(err, toolbox.ErrRemoved) {
		t.Errorf("using what is gone: %v", err)
	}
	release, err := mine.Use("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	release()
}

func TestVersionBeingInstalledIsNotRemovedByAnothersEnd(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tools")
	b, other := toolbox.New(dir), toolbox.New(dir)
	one := install(t, b, "1.0.0")
	release, err := b.Use(one)
	if err != nil {
		t.Fatal(err)
	}
	install(t, other, "2.0.0")
	l := lock(t, other)
	s, err := l.Begin(manifest("3.0.0"))
	if err != nil {
		t.Fatal(err)
	}
	release() // an installation runs: it has to clean up
	if !there(s.Dir()) || !there(one) {
		t.Errorf("a version on its way: %v, the old one: %v", there(s.Dir()), there(one))
	}
	l.Unlock() // as if killed
	install(t, b, "4.0.0")
	if there(s.Dir()) || there(one) {
		t.Error("rubbish is left")
	}
}

func TestSecondLockWaits(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tools")
	b, other := toolbox.New(dir), toolbox.New(dir)
	l := lock(t, b)
	waits := make(chan string, 1)
	got := make(chan error, 1)
	go func() {
		second, err := other.Lock(t.Context(), "made", func(pid string) { waits <- pid })
		if err == nil {
			second.Unlock()
		}
		got <- err
	}()
	if pid := <-waits; pid == "" {
		t.Error("whose end is waited for is not known")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := other.Lock(gone, "made", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who leaves: %v", err)
	}
	if free, err := other.Lock(t.Context(), "another", nil); err != nil {
		t.Error(err)
	} else {
		free.Unlock()
	}
	l.Unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestWhatWasInstalledIsCompared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fill func(t *testing.T, dir string)
		is   error
		says string
	}{
		"another checksum": {func(t *testing.T, dir string) { fill(t, dir, "1.0.0", "sha512-wrong") }, toolbox.ErrMismatch, "node_modules/tool"},
		"another version":  {func(t *testing.T, dir string) { fill(t, dir, "1.0.1", "sha512-right") }, toolbox.ErrMismatch, "1.0.1"},
		"a further package": {func(t *testing.T, dir string) {
			fill(t, dir, "1.0.0", `sha512-right"},"node_modules/more":{"version":"1","integrity":"sha512-x`)
		}, toolbox.ErrMismatch, "more"},
		"nothing": {func(*testing.T, string) {}, nil, "npm left no note"},
		"no program": {func(t *testing.T, dir string) {
			fill(t, dir, "1.0.0", "sha512-right")
			if err := os.Chmod(filepath.Join(dir, "node_modules", ".bin", "tool"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, nil, "no program for this machine"},
		"a program elsewhere": {func(t *testing.T, dir string) {
			fill(t, dir, "1.0.0", "sha512-right")
			tool := filepath.Join(dir, "node_modules", ".bin", "tool")
			if err := errors.Join(os.Remove(tool), os.Symlink("/bin/sh", tool)); err != nil {
				t.Fatal(err)
			}
		}, nil, "no program for this machine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lock(t, toolbox.New(filepath.Join(t.TempDir(), "tools")))
			defer l.Unlock()
			s, err := l.Begin(manifest("1.0.0"))
			if err != nil {
				t.Fatal(err)
			}
			c.fill(t, s.Dir())
			if _, err := s.Program(); err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			s.Discard()
			if there(s.Dir()) {
				t.Error("it is kept")
			}
		})
	}
}

func TestPipIsHeldToTheHashes(t *testing.T) {
	t.Parallel()
	l := lock(t, toolbox.New(filepath.Join(t.TempDir(), "tools")))
	defer l.Unlock()
	m := &agent.Manifest{Adapter: "made", Program: "tool", Version: "1.0", Bin: []string{"env/bin/tool"}, Pip: &agent.PipPackage{
		Package: "tool", Requirements: []string{"tool==1.0 --hash=sha256:00"},
	}}
	s, err := l.Begin(m)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(s.Dir(), "requirements.txt"))
	if err != nil || string(text) != "tool==1.0 --hash=sha256:00\n" {
		t.Errorf("%q, %v", text, err)
	}
	steps := s.Steps()
	last := steps[len(steps)-1]
	if len(steps) != 2 || !strings.HasPrefix(last.Tool, s.Dir()) || !strings.Contains(strings.Join(last.Args, " "), "--require-hashes --only-binary :all: -r requirements.txt") {
		t.Errorf("%+v", steps)
	}
}
