//go:build unix

package audit

import (
	"os"
	"syscall"
)

// openOwn opens the file itself, never what a link leads to, and does not wait for
// the other end of a pipe.
func openOwn(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
}
