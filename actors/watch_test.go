package actors_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/store/memory"
)

// pad is a log that is read while it is written.
type pad struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *pad) Write(b []byte) (int, error) { p.mu.Lock(); defer p.mu.Unlock(); return p.b.Write(b) }
func (p *pad) String() string              { p.mu.Lock(); defer p.mu.Unlock(); return p.b.String() }

// A session whose waiting turn the host has lost is noticed, by the sampling and by the
// look at all, once; the others are not taken for it.
func TestStuckSessionIsNoticed(t *testing.T) {
	t.Parallel()
	gate, l := gateIn(t), quick()
	l.MaxConcurrentTurns = 1
	log := &pad{}
	h := dropped(t, t.TempDir(), l, memory.New(), actors.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	create(t, h, blocker(gate))
	eventually(t, "it runs", func() bool { return h.Stats().Running == 1 })
	fine := create(t, h, "echo fine")
	broken := create(t, h, "echo never")
	create(t, h, "")
	eventually(t, "two wait", func() bool { return h.Stats().Waiting == 2 })
	if n, err := actors.Inspect(ctx(t), h); n != 0 || err != nil {
		t.Fatalf("%d are stuck before anything was broken, %v", n, err)
	}
	actors.LoseTurn(h, broken.Turns[0].ID)
	if n, err := actors.Inspect(ctx(t), h); n != 1 || err != nil {
		t.Errorf("%d are stuck, %v", n, err)
	}
	eventually(t, "it is counted", func() bool { return h.Stats().Stuck == 1 })
	eventually(t, "it is told", func() bool { return log.String() != "" })
	if text := log.String(); !strings.Contains(text, "a session is in progress") || !strings.Contains(text, broken.Session.ID.Hex()) || strings.Contains(text, fine.Session.ID.Hex()) {
		t.Errorf("the log: %s", text)
	}
	for range 3 {
		_, _ = actors.Inspect(ctx(t), h)
	}
	if n := h.Stats().Stuck; n != 1 {
		t.Errorf("it is counted %d times", n)
	}
	openGate(t, gate)
	follow(t, h, fine.Session.ID, 0, ended(fine.Turns[0].ID))
	c, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	end(t, c, h)
}
