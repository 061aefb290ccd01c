package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Why a process could not be started. Errors of Start wrap exactly one of these.
var (
	ErrNotFound      = errors.New("executable not found")
	ErrNotExecutable = errors.New("not executable")
	ErrWorkdir       = errors.New("working directory unusable")
	ErrResources     = errors.New("out of processes, descriptors or memory")
	ErrArgTooLong    = errors.New("arguments or environment too long")
	ErrBadArgument   = errors.New("NUL byte in path, argument or environment")
	ErrStart         = errors.New("process not started")
)

// startError finds out what err, met while starting path in dir, is about. The
// kernel says ENOENT and EACCES for the directory, for the binary and for the
// interpreter of a script alike, so the files are asked.
func startError(path, dir string, err error) error {
	kind := ErrStart
	switch {
	case errors.Is(err, syscall.E2BIG):
		kind = ErrArgTooLong
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM),
		errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE),
		errors.Is(err, syscall.ETXTBSY):
		kind = ErrResources
	case errors.Is(err, syscall.EINVAL):
		kind = ErrBadArgument
	case !usableDir(dir):
		kind = ErrWorkdir
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG):
		kind = ErrNotFound
		if _, serr := os.Stat(path); serr == nil {
			kind = ErrNotExecutable // its interpreter is missing
		}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM),
		errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.EISDIR):
		kind = ErrNotExecutable
	}
	return fmt.Errorf("start %s: %w: %w", path, kind, err)
}

func usableDir(dir string) bool {
	if dir == "" {
		return true
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir() && access(dir)
}
