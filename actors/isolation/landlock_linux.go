package isolation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onFiles are the rights that mean something on a file; the kernel refuses the others.
const onFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
	unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

// devices are rights that no box gives: a device that a CLI makes leads anywhere.
const devices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK

const (
	rulePath = 1
	rulePort = 2
)

type rulesetAttr struct{ fs, net, scoped uint64 }

type pathAttr struct {
	allowed uint64
	parent  int32
} // packed in the kernel: 12 bytes, of which this has the same first ones

type portAttr struct{ allowed, port uint64 }

// landlockABI is what this kernel offers, 0 for none.
func landlockABI() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// rights are what a ruleset of this version governs.
func rights(abi int) rulesetAttr {
	a := rulesetAttr{fs: 1<<13 - 1}
	if abi >= 2 {
		a.fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		a.fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		a.net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		a.fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		a.scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// attrSize is how much of a rulesetAttr a version knows.
func attrSize(abi int) uintptr {
	switch {
	case abi >= 6:
		return 24
	case abi >= 4:
		return 16
	}
	return 8
}

// landlock holds the calling thread, and what it becomes, to the box. The thread must
// be locked.
func (b *Box) landlock() error {
	abi := landlockABI()
	if abi < 1 {
		return errors.New("this kernel has no landlock")
	}
	attr := rights(abi)
	if b.Level == Bubblewrap {
		attr.net = 0 // the network is its own
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), attrSize(abi), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: make the ruleset: %w", errno)
	}
	set := &ruleset{fd: int(fd), fs: attr.fs}
	defer func() { _ = unix.Close(set.fd) }()
	hide := b.hidden()
	read := uint64(unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR)
	for _, path := range b.Read {
		if err := set.carve(resolved(path), read, hide); err != nil {
			return err
		}
	}
	for _, path := range b.Write {
		path = resolved(path)
		if i := slices.IndexFunc(hide, func(h string) bool { return path != h && Within(path, h) }); i >= 0 {
			return fmt.Errorf("landlock: %s leads to what contains %s, which is to be hidden", path, hide[i])
		}
		if err := set.add(path, attr.fs&^devices); err != nil {
			return err
		}
	}
	if attr.net != 0 {
		for _, port := range b.Ports {
			rule := portAttr{allowed: attr.net, port: uint64(port)}
			if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, rulePort, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
				return fmt.Errorf("landlock: allow port %d: %w", port, errno)
			}
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: restrict: %w", errno)
	}
	return nil
}

type ruleset struct {
	fd int
	fs uint64
}

// carve allows path but for what is hidden below it: landlock can only add. The
// directories on the way to it can be listed, and what is put there later is not seen.
func (r *ruleset) carve(path string, allowed uint64, hide []string) error {
	if !slices.ContainsFunc(hide, func(h string) bool { return path != h && Within(path, h) && there(h) }) {
		return r.add(path, allowed)
	}
	if err := r.add(path, allowed&unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil //nolint:nilerr // what we cannot read, the CLI cannot either
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			continue // what it leads to has a rule of its own, or none
		}
		if slices.Contains(hide, filepath.Join(path, e.Name())) {
			continue
		}
		if err := r.carve(filepath.Join(path, e.Name()), allowed, hide); err != nil {
			return err
		}
	}
	return nil
}

// hidden are the paths to hide, and where they lead to.
func (b *Box) hidden() []string {
	var out []string
	for _, path := range b.Hide {
		out = append(out, path, resolved(path))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// resolved follows symbolic links; a path that is not there stays as it is.
func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// add allows what path leads to; nothing when it is not there.
func (r *ruleset) add(path string, allowed uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("landlock: open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("landlock: stat %s: %w", path, err)
	}
	rule := pathAttr{allowed: allowed & r.fs, parent: int32(fd)}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rule.allowed &= onFiles
	}
	if rule.allowed == 0 {
		return nil
	}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), rulePath, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: allow %s: %w", path, errno)
	}
	return nil
}
