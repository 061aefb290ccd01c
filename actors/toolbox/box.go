package toolbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Names inside the directory.
const (
	binDir      = "bin"
	packagesDir = "packages"
	lockName    = ".lock"
	useName     = ".use"
	// tempLink begins the name of a link on its way into bin, removed the name of a
	// version on its way out.
	tempLink = ".new-"
	removed  = ".gone-"
)

// Box is a tools directory. It is safe for concurrent use, by several processes
// too.
type Box struct {
	dir string

	mu   sync.Mutex
	uses map[string]*use // by version directory
}

// use is a version that this process runs.
type use struct {
	file *os.File // locked shared
	n    int
}

// New is the box at dir, which need not be there. Nothing is touched before it is
// needed.
func New(dir string) *Box { return &Box{dir: filepath.Clean(dir), uses: map[string]*use{}} }

// Dir is where the box is.
func (b *Box) Dir() string { return b.dir }

func (b *Box) adapter(name string) string { return filepath.Join(b.dir, packagesDir, name) }

func (b *Box) link(program string) string { return filepath.Join(b.dir, binDir, program) }

// Program is what a program of the box is now: the file itself and the directory of
// its version. ok is false for a file that is none of the box's links.
func (b *Box) Program(file string) (path, version string, ok bool) {
	if filepath.Dir(file) != filepath.Join(b.dir, binDir) {
		return "", "", false
	}
	to, err := os.Readlink(file)
	if err != nil {
		return "", "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	rest, ok := strings.CutPrefix(to, filepath.Join(b.dir, packagesDir)+string(filepath.Separator))
	if !ok {
		return "", "", false
	}
	parts := strings.SplitN(rest, string(filepath.Separator), 3) // adapter, version, the rest
	if len(parts) < 3 {
		return "", "", false
	}
	return to, filepath.Join(b.dir, packagesDir, parts[0], parts[1]), true
}

// ErrRemoved says that a version was removed before it could be used; what the
// link leads to now is another.
var ErrRemoved = errors.New("the version was removed")

// Use keeps the version that path lies in until the result is called, which may
// remove it. A path outside the box needs no keeping.
func (b *Box) Use(path string) (release func(), err error) {
	version := b.versionOf(path)
	if version == "" {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.uses[version]
	if u == nil {
		f, err := hold(version)
		if err != nil {
			return nil, err
		}
		u = &use{file: f}
		b.uses[version] = u
	}
	u.n++
	var once sync.Once
	return func() { once.Do(func() { b.release(version) }) }, nil
}

func (b *Box) release(version string) {
	b.mu.Lock()
	u := b.uses[version]
	if u.n--; u.n > 0 {
		b.mu.Unlock()
		return
	}
	delete(b.uses, version)
	_ = u.file.Close() // gives the lock back
	b.mu.Unlock()
	if !b.linked(version) {
		b.tidy(filepath.Base(filepath.Dir(version)))
	}
}

// hold locks a version's use file shared.
func hold(version string) (*os.File, error) {
	name := filepath.Join(version, useName)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrRemoved
	}
	if err != nil {
		return nil, fmt.Errorf("use %s: %w", version, err)
	}
	if err := share(f); err != nil { // it is being removed
		_ = f.Close()
		return nil, ErrRemoved
	}
	now, err := os.Stat(name)
	have, herr := f.Stat()
	if err != nil || herr != nil || !os.SameFile(now, have) { // it was, in between
		_ = f.Close()
		return nil, ErrRemoved
	}
	return f, nil
}

// versionOf is the version's directory that path lies in, "" for none.
func (b *Box) versionOf(path string) string {
	root := filepath.Join(b.dir, packagesDir) + string(filepath.Separator)
	rest, ok := strings.CutPrefix(path, root)
	if !ok {
		return ""
	}
	parts := strings.SplitN(rest, string(filepath.Separator), 3)
	if len(parts) < 3 {
		return ""
	}
	return root + filepath.Join(parts[0], parts[1])
}

// linked says whether a link of bin leads into the version.
func (b *Box) linked(version string) bool {
	list, err := os.ReadDir(filepath.Join(b.dir, binDir))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // not known: it is kept
	}
	for _, e := range list {
		if _, v, ok := b.Program(b.link(e.Name())); ok && v == version && !strings.HasPrefix(e.Name(), tempLink) {
			return true
		}
	}
	return false
}

// tidy removes what nothing leads to and nobody uses, unless an installation runs:
// that one does it.
func (b *Box) tidy(adapter string) {
	l, err := b.try(adapter)
	if err != nil || l == nil {
		return
	}
	l.sweep()
	l.Unlock()
}
