//go:build !linux

package process

import (
	"errors"
	"fmt"
)

// Cgroups is nothing here: control groups are Linux's.
type Cgroups struct{}

// FindCgroups says that there are none.
func FindCgroups() (*Cgroups, error) { return nil, fmt.Errorf("cgroup v2: %w", errors.ErrUnsupported) }

// Delegate does nothing here.
func (*Cgroups) Delegate() {}

// Begin does nothing here.
func (*Cgroups) Begin(string, string) (int, error) {
	return 0, fmt.Errorf("cgroup v2: %w", errors.ErrUnsupported)
}

// Limited says which limits of a tree the kernel holds here: none.
func (*Cgroups) Limited() (memory, processes bool) { return false, false }

// Dir is empty here.
func (*Cgroups) Dir() string { return "" }

// Close does nothing here.
func (*Cgroups) Close() {}

type group struct{}

func (*Cgroups) group(string, *Limits) *group { return nil }

func groupName(string) string { return "" }

func (*group) remove() {}

func (*group) hits() (memory, processes bool) { return false, false }

func (*group) holds() (memory, processes bool) { return false, false }
