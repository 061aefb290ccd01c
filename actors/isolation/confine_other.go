//go:build !linux

package isolation

import (
	"fmt"
	"os"
)

// StatusRefused is the exit status of a CLI that could not be confined and so was not
// run.
const StatusRefused = 126

// Main is not available here.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "agenthost: a CLI can be confined on Linux only")
	return StatusRefused
}

func landlockABI() int { return 0 }

// tryBubblewrap says why bwrap cannot be used.
func tryBubblewrap(string) string { return "this system has none" }
