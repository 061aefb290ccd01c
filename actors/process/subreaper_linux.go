package process

// IsSubreaper reports whether BecomeSubreaper was called.
func IsSubreaper() bool { return subreaper.Load() }
