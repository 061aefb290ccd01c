package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agenthost/agenthost/bench/hostproc"
)

// stage stands in for a test towards hostproc: what it would fail for is a broken
// promise.
type stage struct {
	dir     string
	n       int
	cleanup []func()
	errors  []string
}

var _ hostproc.TB = (*stage)(nil)

// halt ends a run in the middle; Run recovers it.
type halt string

func (s *stage) Helper()                   {}
func (s *stage) Failed() bool              { return false } // the log is kept as evidence
func (s *stage) Logf(string, ...any)       {}
func (s *stage) Cleanup(f func())          { s.cleanup = append(s.cleanup, f) }
func (s *stage) Errorf(f string, a ...any) { s.errors = append(s.errors, fmt.Sprintf(f, a...)) }

// Fatalf ends the run.
func (s *stage) Fatalf(format string, args ...any) { panic(halt(fmt.Sprintf(format, args...))) }

// TempDir is below the run's directory and stays with it.
func (s *stage) TempDir() string {
	s.n++
	dir := filepath.Join(s.dir, fmt.Sprintf("host%d", s.n))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		s.Fatalf("%v", err)
	}
	return dir
}

func (s *stage) end() {
	for _, f := range slices.Backward(s.cleanup) {
		f()
	}
}

// took gives the errors since the last call.
func (s *stage) took() []string {
	list := s.errors
	s.errors = nil
	return list
}
