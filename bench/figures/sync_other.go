//go:build !linux

package main

import "os"

// datasync makes what was written durable.
func datasync(f *os.File) error { return f.Sync() }
