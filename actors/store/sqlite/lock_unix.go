//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile is held exclusively by the server that owns the state directory; its
// content says who that is. It is never removed: removing a lock file that
// another process has just opened gives two owners.
const lockFile = "lock"

// LockedError says that another process uses the state directory.
type LockedError struct {
	Dir string
	// Holder is what the other process wrote about itself.
	Holder string
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("state directory %s is in use by another server (%s); stop it or choose another state directory", e.Dir, e.Holder)
}

// lockDir takes the directory or returns a *LockedError; unlockDir gives it back.
func lockDir(dir string, now time.Time) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock state directory: %w", err)
	}
	if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder := "unknown"
		if errors.Is(err, unix.EWOULDBLOCK) {
			if b, readErr := io.ReadAll(io.LimitReader(f, 1024)); readErr == nil && len(b) > 0 {
				holder = strings.TrimSpace(string(b))
			}
			err = &LockedError{Dir: dir, Holder: holder}
		} else {
			err = fmt.Errorf("lock %s: %w", path, err)
		}
		_ = f.Close() // the lock's error is the news
		return nil, err
	}
	who := fmt.Sprintf("pid %d, started %s, command %s\n", os.Getpid(), now.UTC().Format(time.RFC3339), filepath.Base(os.Args[0]))
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(who), 0)
		if err != nil {
			// A full disk must not keep the server from starting: the lock holds
			// without its text.
			_ = f.Truncate(0)
		}
	}
	return f, nil
}

// unlockDir unlocks before it closes: a child that another goroutine is just
// forking has a copy of the descriptor, and closing ours would not be enough.
func unlockDir(f *os.File) error { return errors.Join(flock(f, unix.LOCK_UN), f.Close()) }

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
