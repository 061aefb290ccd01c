//go:build !linux

package standin

import "syscall"

// ownSession puts a command into a session of its own.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
