package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Conceal keeps other processes of the same user from reading this process's
// environment and memory (/proc/PID/environ, mem, maps, fd), from tracing it, and from
// having it dumped. What it runs is not concealed: an exec begins anew. A process that
// may trace everything (CAP_SYS_PTRACE, as root outside of containers has) still can.
//
// Files of /proc/PID that are not for everyone then belong to root; a process reads its
// own descriptors, mappings and status all the same.
func Conceal() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("conceal the process: %w", err)
	}
	return nil
}
