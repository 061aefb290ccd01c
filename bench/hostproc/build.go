package hostproc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Binaries are the programs under test.
type Binaries struct {
	Server string // cmd/agenthost
	Fake   string // fakes/cmd/fake, the stand-in CLIs
	Root   string // of the module
}

var build = sync.OnceValues(buildAll)

// BinariesVar names a directory with the programs agenthost and fake to be used
// instead of building them: to look at another version with the same tests.
const BinariesVar = "HOSTPROC_BINARIES"

// Build makes the programs, once per process.
func Build() (Binaries, error) { return build() }

// keep is how long programs of earlier builds stay: others may still run them.
const keep = 24 * time.Hour

func buildAll() (Binaries, error) {
	root, err := moduleRoot()
	if err != nil {
		return Binaries{}, err
	}
	if dir := os.Getenv(BinariesVar); dir != "" {
		return Binaries{Root: root, Server: filepath.Join(dir, "agenthost"), Fake: filepath.Join(dir, "fake")}, nil
	}
	if err := touchSources(root); err != nil {
		return Binaries{}, err
	}
	dir := filepath.Join(root, "build", "hostproc")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Binaries{}, err
	}
	prune(dir)
	b := Binaries{Root: root}
	if b.Server, err = compile(root, dir, "agenthost", "./cmd/agenthost"); err != nil {
		return Binaries{}, err
	}
	b.Fake, err = compile(root, dir, "fake", "./fakes/cmd/fake")
	return b, err
}

// BuildTagged is Build with a server that has a build tag.
func BuildTagged(tag string) (Binaries, error) {
	b, err := Build()
	if err == nil {
		b.Server, err = compile(b.Root, filepath.Join(b.Root, "build", "hostproc"), "agenthost-"+tag, "./cmd/agenthost", "-tags", tag)
	}
	return b, err
}

// touchSources looks at every source file, which makes it an input of the test in
// the eyes of go test: a result is not taken from the cache after a change of the
// server, of which the test itself imports nothing.
func touchSources(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && path != root && (name[0] == '.' || name == "build" || name == "bin" || name == "node_modules"):
			return filepath.SkipDir
		case !d.IsDir() && (filepath.Ext(name) == ".go" || name == "go.mod"):
			if _, err := os.Stat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// compile builds a program and names it after its content, so test processes that
// run at once neither overwrite nor lose each other's.
func compile(root, dir, name, pkg string, flags ...string) (string, error) {
	tmp := filepath.Join(dir, fmt.Sprintf("%s.%d.tmp", name, os.Getpid()))
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", tmp, pkg)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	data, err := os.ReadFile(tmp)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	path := filepath.Join(dir, name+"-"+hex.EncodeToString(sum[:6]))
	return path, os.Rename(tmp, path)
}

func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > keep {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// moduleRoot walks up to go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod above the working directory")
		}
	}
	return "", err
}
