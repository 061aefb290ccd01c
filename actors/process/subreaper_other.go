//go:build !linux

package process

// IsSubreaper reports whether BecomeSubreaper was called; it cannot be here.
func IsSubreaper() bool { return false }
