package hostproc

import (
	"fmt"
	"os"
)

// Alone stands in for a test in a program that only measures.
type Alone struct {
	// Name begins what is told.
	Name    string
	cleanup []func()
	failed  bool
}

var _ TB = (*Alone)(nil)

// stop is the panic of Fatalf.
type stop string

func (s stop) Error() string { return string(s) }

// Do runs f, which Fatalf ends early with its words as the error, and undoes what was
// begun.
func (a *Alone) Do(f func() error) (err error) {
	defer func() {
		for i := len(a.cleanup) - 1; i >= 0; i-- {
			a.cleanup[i]()
		}
	}()
	defer func() {
		if s, ok := recover().(stop); ok {
			err = s
		}
	}()
	return f()
}

// Helper is nothing here.
func (a *Alone) Helper() {}

// Failed asks for a server's log.
func (a *Alone) Failed() bool { return a.failed }

// Fatalf ends what Do runs.
func (a *Alone) Fatalf(format string, args ...any) {
	a.failed = true
	panic(stop(fmt.Sprintf(format, args...)))
}

// Errorf is for what a figure may still be shown after.
func (a *Alone) Errorf(format string, args ...any) {
	a.failed = true
	a.Logf(a.Name+": "+format, args...)
}

// Logf goes to standard error.
func (a *Alone) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Cleanup is called at the end of Do.
func (a *Alone) Cleanup(f func()) { a.cleanup = append(a.cleanup, f) }

// TempDir is removed at the end of Do.
func (a *Alone) TempDir() string {
	dir, err := os.MkdirTemp("", a.Name)
	if err != nil {
		a.Fatalf("%v", err)
	}
	a.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
