package main

import (
	"fmt"
	"runtime"
)

// version and commit are stamped by the build (-ldflags -X).
var (
	version = "0.1.0-dev"
	commit  = "unknown"
)

type versionVerb struct{}

// Run prints what this program is.
func (versionVerb) Run(c *console) error {
	say(c.out, "%s", about())
	return nil
}

func about() string {
	return fmt.Sprintf("agenthost %s (commit %s, %s, %s/%s)", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
