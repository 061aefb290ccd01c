//go:build unix

package sqlite

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeDisk is how many bytes an ordinary user may still write below dir.
func freeDisk(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}
