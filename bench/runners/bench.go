package main

import (
	"fmt"
	"os"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// bench stands in for a test towards hostproc.
type bench struct {
	cleanup []func()
	failed  bool
}

type failure string

func (f failure) Error() string { return string(f) }

var _ hostproc.TB = (*bench)(nil)

func (b *bench) Helper()      {}
func (b *bench) Failed() bool { return b.failed }

// Fatalf ends the measurement; run recovers it.
func (b *bench) Fatalf(format string, args ...any) {
	b.failed = true
	panic(failure(fmt.Sprintf(format, args...)))
}

// Errorf is for what a figure may still be shown after.
func (b *bench) Errorf(format string, args ...any) {
	b.failed = true
	fmt.Fprintf(os.Stderr, "runners: "+format+"\n", args...)
}

func (b *bench) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (b *bench) Cleanup(f func())                { b.cleanup = append(b.cleanup, f) }

// TempDir is removed at the end.
func (b *bench) TempDir() string {
	dir, err := os.MkdirTemp("", "runners")
	if err != nil {
		b.Fatalf("%v", err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
