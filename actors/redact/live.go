package redact

import (
	"slices"
	"sync"
	"sync/atomic"
)

// mostLive bounds the values of a Live: of more, those that came first are let go of.
const mostLive = 1024

// Live is a Set that learns of further values while it is used, for what is not of
// one turn: logs, and what a program says when it dies. It is safe for concurrent use.
// A nil Live has no values and takes none.
type Live struct {
	mu     sync.Mutex
	values []string
	set    atomic.Pointer[Set]
}

// NewLive begins with values.
func NewLive(values ...string) *Live {
	l := &Live{}
	l.set.Store(New())
	l.Add(values...)
	return l
}

// Add makes it know further values. A new one costs what New costs for all.
func (l *Live) Add(values ...string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.values)
	for _, v := range values {
		if v != "" && !slices.Contains(l.values, v) {
			l.values = append(l.values, v)
		}
	}
	if len(l.values) == n {
		return
	}
	l.values = slices.Clone(l.values[max(0, len(l.values)-mostLive):])
	l.set.Store(New(l.values...))
}

var shapesOnly = sync.OnceValue(func() *Set { return New() })

// Set is what it knows now.
func (l *Live) Set() *Set {
	if l == nil {
		return shapesOnly()
	}
	return l.set.Load()
}
