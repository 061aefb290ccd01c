package measure

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// until waits for a condition, at most half a minute.
func (l *lab) until(ok func() bool) error { return l.within(30*time.Second, ok) }

func (l *lab) within(most time.Duration, ok func() bool) error {
	ctx, cancel := context.WithTimeout(l.ctx, most)
	defer cancel()
	for !ok() {
		if ctx.Err() != nil {
			return fmt.Errorf("waited in vain: %w", ctx.Err())
		}
		wait(ctx, 5*time.Millisecond)
	}
	return nil
}

// children counts a process' children that are CLIs.
func children(pid int) int {
	list, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	n := 0
	for _, file := range list {
		for _, child := range strings.Fields(word(file)) {
			if name := word("/proc/" + child + "/comm"); name == "codex" || name == "claude" {
				n++
			}
		}
	}
	return n
}

// marked counts living processes that a product's server started, wherever they hang;
// a plain host has no way to know its own.
func marked(s *subject) int {
	if s.host == nil {
		return 0
	}
	return len(s.host.Marked())
}
