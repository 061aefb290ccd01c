package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"provider": func() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }})
}

func TestStories(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{Dir: "testdata", Setup: func(e *testscript.Env) error {
		// A program with the race detector sleeps a second at its end otherwise.
		e.Setenv("GORACE", "atexit_sleep_ms=0")
		return nil
	}})
}
