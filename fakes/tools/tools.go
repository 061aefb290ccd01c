package tools

import (
	"errors"
	"os"
	"path/filepath"
)

// Root is the folder that install.sh fills: $AGENTHOST_TOOLS, else build/tools of
// the module that the working directory lies in.
func Root() (string, error) {
	if dir := os.Getenv("AGENTHOST_TOOLS"); dir != "" {
		return dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "build", "tools"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("find build/tools: no go.mod above the working directory")
		}
		dir = up
	}
}

// Path is where a file of the tools lies, if it is there: "bin/codex",
// "bin/claude", "py-3.57.0/bin/python", "sdk-js/newest/node_modules".
func Path(name string) (path string, ok bool) {
	root, err := Root()
	if err != nil {
		return "", false
	}
	path = filepath.Join(root, filepath.FromSlash(name))
	_, err = os.Stat(path)
	return path, err == nil
}

// T is what Need uses of a *testing.T.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Need is Path for a test: without the tool the test is skipped, or fails where
// AGENTHOST_TEST_CLIS is set, as make test does.
func Need(t T, name string) string {
	t.Helper()
	path, ok := Path(name)
	switch {
	case ok:
	case os.Getenv("AGENTHOST_TEST_CLIS") != "":
		t.Fatalf("%s is not installed: run fakes/tools/install.sh all", name)
	default:
		t.Skipf("%s is not installed: run fakes/tools/install.sh all", name)
	}
	return path
}
