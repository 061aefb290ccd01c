package actors

import (
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/actors/redact"
)

// hide makes the logger show none of the secrets that are known from the start, nor
// those that are learned of later.
func (c *config) hide() {
	if c.hidden == nil {
		c.hidden = redact.NewLive()
	}
	values := append(credentials(c.environ), c.secrets...)
	for _, r := range c.runtimes {
		values = append(values, r.LLM.APIKey)
	}
	c.hidden.Add(values...)
	c.logger = slog.New(redact.Handler(c.logger.Handler(), c.hidden))
}

// redactors keeps the matchers that turns need: one costs 64 KiB to build, and
// most turns hide the same values.
type redactors struct {
	mu   sync.Mutex
	sets map[string]*redact.Set
}

const keptRedactors = 64

// get returns a matcher for values. It may build one, so it is not for a Receive.
func (r *redactors) get(values []string) *redact.Set {
	values = slices.Clone(values)
	slices.Sort(values)
	values = slices.Compact(values)
	key := strings.Join(values, "\x00")
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.sets[key]; ok {
		return s
	}
	if r.sets == nil || len(r.sets) >= keptRedactors {
		r.sets = map[string]*redact.Set{}
	}
	s := redact.New(values...)
	r.sets[key] = s
	return s
}
