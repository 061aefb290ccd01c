//go:build unix && !linux

package sqlite

import "os"

// allocate gives the file its room on the disk.
func allocate(f *os.File, size int64) error { return fill(f, size) }
