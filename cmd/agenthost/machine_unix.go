//go:build unix

package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// flock takes the file for this process or fails at once.
func flock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// writable says whether this user may make files in dir.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// hangUp are the signals that ask for the configuration to be read anew.
var hangUp = []os.Signal{syscall.SIGHUP}

// inode tells a file from one that took its name.
func inode(st os.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ino
	}
	return 0
}

// owned says that this user owns the file, or may act as if.
func owned(st os.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && (os.Geteuid() == 0 || int(sys.Uid) == os.Geteuid())
}

// private makes the files that this process creates from now on its user's only.
func private() { unix.Umask(0o077) }

// freeBytes is what this user may still write on dir's file system.
func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// availableBytes is the memory that programs can still take, where the kernel
// tells.
func availableBytes() (uint64, bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "MemAvailable:" {
			kib, err := strconv.ParseUint(f[1], 10, 64)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
