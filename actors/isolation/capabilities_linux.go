package isolation

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// kept are the capabilities that a confined CLI of root keeps: what working with other
// users' files and installing something takes. The others would lead past the box, such
// as those to read another process's memory (PERFMON, SYS_PTRACE), to open a file by its
// number (DAC_READ_SEARCH), and to make a device (MKNOD).
var kept = []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE}

// dropCapabilities takes the others from the calling thread and from what it becomes.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&header, &has[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	if has[0].Permitted|has[1].Permitted == 0 {
		return nil // there are none, and no start of a program can bring one
	}
	var keep [2]uint32
	for _, c := range kept {
		keep[c/32] |= 1 << (c % 32)
	}
	for c := range 64 {
		if slices.Contains(kept, c) {
			continue
		}
		set, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0)
		if err != nil {
			break // the kernel has no further ones
		}
		if set == 0 {
			continue
		}
		// Without CAP_SETPCAP the bound stays, and so would the start of a program as
		// root raise what is given up below, were it not for no_new_privs.
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	for i := range has {
		has[i].Permitted &= keep[i]
		has[i].Effective &= keep[i]
		has[i].Inheritable &= keep[i]
	}
	if err := unix.Capset(&header, &has[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}
