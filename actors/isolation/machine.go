package isolation

import (
	"fmt"
	"os/exec"
	"runtime"
)

// Machine is what there is to isolate with. The zero value has the lowest levels only.
type Machine struct {
	// Helper is how the program that has Main is executed again, nil without one.
	Helper []string
	// Landlock is the version of the kernel's interface, 0 for none.
	Landlock int
	// Bwrap is the program, Unwrapped why it cannot be used.
	Bwrap, Unwrapped string
	// Ungrouped says why turns get no control group, "" when they do.
	Ungrouped string
}

// Look finds out what this machine has. It starts bwrap, if that is there, to see
// whether it may do its work. helper is how the program that has Main is executed again;
// ungrouped says why turns get no control group.
func Look(helper []string, ungrouped string) *Machine {
	m := &Machine{Helper: helper, Ungrouped: ungrouped, Landlock: landlockABI()}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		m.Unwrapped = "the program bwrap is not in PATH: install bubblewrap"
		return m
	}
	if m.Unwrapped = tryBubblewrap(path); m.Unwrapped == "" {
		m.Bwrap = path
	}
	return m
}

// portsABI is the first version of landlock that governs TCP.
const portsABI = 4

// Lacks says why this machine does not have a level, "" when it does.
func (m *Machine) Lacks(l Level) string {
	if runtime.GOOS != "linux" && l >= Rlimits {
		return "it needs Linux"
	}
	switch {
	case l == Cgroup:
		return m.Ungrouped
	case l < Landlock:
		return ""
	case len(m.Helper) == 0:
		return "this program cannot start itself as the one that confines"
	case l == Landlock && m.Landlock < 1:
		return "the kernel has no landlock: it needs Linux 5.13 with landlock among its security modules"
	case l == Landlock && m.Landlock < portsABI:
		return fmt.Sprintf("the kernel's landlock, version %d, governs no TCP ports: it needs version %d, of Linux 6.7", m.Landlock, portsABI)
	case l == Bubblewrap && m.Bwrap == "":
		return m.Unwrapped
	}
	return ""
}

// Holds says in words what a level does here.
func (m *Machine) Holds(l Level) string {
	switch l {
	case Group:
		return "a session and process group for each turn; its whole tree is ended with it"
	case Home:
		return "a HOME and a TMPDIR of its own"
	case Rlimits:
		return "no core dumps; files and open descriptors of each process are bounded"
	case Cgroup:
		return "a control group for each turn, in which nothing can hide"
	case Landlock:
		text := fmt.Sprintf("version %d: paths, TCP ports to connect to", m.Landlock)
		if m.Landlock >= 6 {
			return text + ", signals, abstract sockets"
		}
		return text + "; it does not stop signals to other processes"
	case Bubblewrap:
		return m.Bwrap + ": a file system, process ids and a network of its own"
	case Auto:
	}
	return ""
}
