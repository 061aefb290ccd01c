package actors

import (
	"slices"
	"sync"
)

// learned are secrets that the host was told of since its start.
type learned struct {
	mu     sync.Mutex
	values []string
}

// Hide keeps values out of whatever turns that start from now on say, as WithSecrets
// does for those that are known at the start, and out of the log. A value that is in
// force no longer stays hidden.
func (h *Host) Hide(values ...string) {
	h.cfg.hidden.Add(values...)
	h.learned.mu.Lock()
	defer h.learned.mu.Unlock()
	for _, v := range values {
		if v != "" && !slices.Contains(h.learned.values, v) {
			h.learned.values = append(h.learned.values, v)
		}
	}
}

// ownSecrets are those of the host's own, which no CLI is given.
func (h *Host) ownSecrets() []string {
	h.learned.mu.Lock()
	defer h.learned.mu.Unlock()
	return slices.Concat(h.cfg.secrets, h.learned.values)
}
