//go:build !linux

package process

import "time"

// fileWatch sees nothing here.
type fileWatch struct{}

func (fileWatch) near(time.Time) bool { return false }

func (p *Process) lookAtFiles() {}

// Measure finds nothing here, so only the limits of Linux hold.
func Measure(list []*Process) []Usage { return make([]Usage, len(list)) }
