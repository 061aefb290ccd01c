package measure

import (
	"os"
	"syscall"
)

// datasync makes what was written durable, as the store does it.
func datasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
