//go:build !linux

package warden

import (
	"errors"
	"fmt"
	"os"
)

// Main is not available here.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "agenthost: the warden runs on Linux only")
	return 2
}

func binary() (string, error) { return "", fmt.Errorf("the warden: %w", errors.ErrUnsupported) }
