//go:build unix

package toolbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errTaken says that another holds the lock.
var errTaken = errors.New("taken")

// own locks the file for one alone, share for many; both fail at once.
func own(f *os.File) error { return flock(f, unix.LOCK_EX) }

func share(f *os.File) error { return flock(f, unix.LOCK_SH) }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return errTaken
		default:
			return err
		}
	}
}
