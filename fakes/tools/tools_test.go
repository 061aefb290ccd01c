package tools_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/fakes/tools"
)

func TestPathLooksBelowTheModuleOrWhereToldTo(t *testing.T) {
	root, err := tools.Root()
	if err != nil || !strings.HasSuffix(root, filepath.Join("build", "tools")) {
		t.Errorf("root %q %v", root, err)
	}
	dir := t.TempDir()
	t.Setenv("AGENTHOST_TOOLS", dir)
	if path, ok := tools.Path("bin/codex"); ok || path != filepath.Join(dir, "bin", "codex") {
		t.Errorf("path %q %v", path, ok)
	}
	if err := os.WriteFile(filepath.Join(dir, "codex"), nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, ok := tools.Path("codex"); !ok {
		t.Error("a tool that is there is not found")
	}
}

// verdict records what Need decides.
type verdict struct{ failed, skipped bool }

func (*verdict) Helper()                 {}
func (v *verdict) Fatalf(string, ...any) { v.failed = true }
func (v *verdict) Skipf(string, ...any)  { v.skipped = true }

func TestAMissingToolSkipsATestOrFailsItWhereToolsAreRequired(t *testing.T) {
	t.Setenv("AGENTHOST_TOOLS", t.TempDir())
	t.Setenv("AGENTHOST_TEST_CLIS", "")
	var v verdict
	if tools.Need(&v, "bin/codex"); !v.skipped || v.failed {
		t.Errorf("without the variable: %+v", v)
	}
	t.Setenv("AGENTHOST_TEST_CLIS", "1")
	v = verdict{}
	if tools.Need(&v, "bin/codex"); v.skipped || !v.failed {
		t.Errorf("with it: %+v", v)
	}
}

func TestLockFilesNameNoHostAndPinEverything(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"*/package-lock.json", "*/*/package-lock.json", "sdk-py/*.txt"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) != 10 {
		t.Fatalf("lock files: %v", files)
	}
	host := regexp.MustCompile(`[a-z]+://`)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if at := host.Find(b); at != nil {
			t.Errorf("%s names a host: %s", f, at)
		}
		if !strings.Contains(string(b), `"integrity"`) && !strings.Contains(string(b), "--hash=sha256:") {
			t.Errorf("%s has no digests", f)
		}
	}
}
