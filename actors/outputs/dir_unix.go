//go:build unix

package outputs

import (
	"errors"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// dir is a directory that is held open.
type dir struct {
	fd   int
	list *os.File // over fd
}

const opening = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOCTTY | unix.O_NONBLOCK

// openTop opens the workspace. The way to it is the host's word; its last name may
// be a link only if follow says so.
func openTop(path string, follow bool) (*dir, error) {
	flags := opening | unix.O_DIRECTORY
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	return asDir(unix.Open(path, flags, 0))
}

// sub opens a directory of d.
func (d *dir) sub(name string) (*dir, error) {
	return asDir(unix.Openat(d.fd, name, opening|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0))
}

func asDir(fd int, err error) (*dir, error) {
	if err != nil {
		return nil, err
	}
	return &dir{fd: fd, list: os.NewFile(uintptr(fd), "")}, nil
}

func (d *dir) close() { _ = d.list.Close() }

// names are the names in d, sorted; more says that there are more than most.
func (d *dir) names(most int) (names []string, more bool, err error) {
	names, err = d.list.Readdirnames(most + 1)
	if len(names) > 0 {
		err = nil
	}
	if more = len(names) > most; more {
		names = names[:most]
	}
	slices.Sort(names)
	return names, more, err
}

// state is what is known of a file.
type state struct {
	kind    uint32
	links   uint64
	size    int64
	inode   uint64
	device  uint64
	changed time.Time // its content or its name; nobody but the kernel sets it
	written time.Time
}

func (s *state) regular() bool   { return s.kind == unix.S_IFREG }
func (s *state) directory() bool { return s.kind == unix.S_IFDIR }
func (s *state) link() bool      { return s.kind == unix.S_IFLNK }

func stateOf(st *unix.Stat_t) *state {
	return &state{
		kind: uint32(st.Mode) & unix.S_IFMT, links: uint64(st.Nlink), size: st.Size, //nolint:unconvert // their types differ by system
		inode: st.Ino, device: uint64(st.Dev), //nolint:unconvert,gosec // likewise
		changed: time.Unix(st.Ctim.Unix()), written: time.Unix(st.Mtim.Unix()),
	}
}

// state looks at a name in d and follows no link.
func (d *dir) state(name string) (*state, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return nil, err
	}
	return stateOf(&st), nil
}

// open opens a file of d that state said to be regular. It may be another by now;
// the caller looks at what was opened.
func (d *dir) open(name string) (*os.File, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = unix.Openat(d.fd, name, opening|unix.O_NOFOLLOW, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func opened(f *os.File) (*state, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = again(func() error { return unix.Fstat(int(fd), &st) }) }); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, failed
	}
	return stateOf(&st), nil
}

// again repeats what a signal interrupted.
func again(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// missing says that a name is not there.
func missing(err error) bool { return errors.Is(err, unix.ENOENT) }

// noDirectory says that a name is there and no directory.
func noDirectory(err error) bool { return errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) }
