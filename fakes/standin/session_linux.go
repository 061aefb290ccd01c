package standin

import "syscall"

// ownSession puts a command into a session of its own that dies with us, as far
// as its leader goes: what the leader has started survives.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}
