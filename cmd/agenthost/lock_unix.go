//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// flock takes the file for this process or fails at once.
func flock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
