package outputs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Dir is the directory of a workspace whose files are published.
const Dir = "outputs"

// Order says what is to be collected.
type Order struct {
	// Workspace is an absolute directory. Unless it is Private, its last name may be
	// a link.
	Workspace string
	Private   bool
	// Reported are the files that the CLI says it wrote, absolute or relative to the
	// workspace. What lies outside of it is none of ours.
	Reported []string
	// Since is when the turn began: of Dir, older files are not its work.
	Since time.Time
	// Published says that a file of Dir was collected before just as it is. nil is
	// never.
	Published func(path, stamp string) bool

	MaxFile    int64 // bytes of one file
	MaxBytes   int64 // of all
	MaxFiles   int
	MaxEntries int // names looked at below Dir; 0 is 10,000
}

// File is a copy.
type File struct {
	// Path is the file's place in the workspace, with slashes.
	Path   string
	Bytes  int64
	SHA256 string // hex
	Media  string // media type, by the name or else by the content
	// Stamp changes whenever the file in the workspace does.
	Stamp string
}

// slack is how much a file may seem older than a turn that wrote it: the clock that
// the kernel stamps files with goes by ticks.
const slack = 100 * time.Millisecond

// Name is the name of the n-th copy.
func Name(n int) string { return strconv.Itoa(n) }

// inside gives the way from the workspace to a reported file, if it is in it. CLIs
// tell paths through the workspace's own name or through its resolved one.
func (o *Order) inside(path string) (names []string, ok bool) {
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Workspace, path)
	}
	way, ok := below(o.Workspace, path)
	if !ok {
		if real, err := filepath.EvalSymlinks(o.Workspace); err == nil && real != o.Workspace {
			way, ok = below(real, path)
		}
	}
	if !ok {
		return nil, false
	}
	return strings.Split(filepath.ToSlash(way), "/"), true
}

func below(dir, path string) (string, bool) {
	way, err := filepath.Rel(dir, path)
	return way, err == nil && way != "." && filepath.IsLocal(way)
}

func (s *state) stamp() string {
	return strconv.FormatUint(s.device, 36) + "." + strconv.FormatUint(s.inode, 36) + "." + strconv.FormatInt(s.size, 36) + "." +
		strconv.FormatInt(s.changed.UnixNano(), 36) + "." + strconv.FormatInt(s.written.UnixNano(), 36)
}

// Any says whether there may be anything to collect, at the price of one call.
func (o *Order) Any() bool {
	if len(o.Reported) > 0 {
		return true
	}
	_, err := os.Lstat(filepath.Join(o.Workspace, Dir))
	return err == nil
}
