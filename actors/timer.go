package actors

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/agenthost/agenthost/actors/crash"
)

// timer sends its actor a message and ignores its own stale firings.
type timer struct {
	t   *time.Timer
	gen int
}

func (t *timer) arm(c actor.Context, d time.Duration, msg func(gen int) any) {
	t.stop()
	m, self, root := msg(t.gen), c.Self(), c.ActorSystem().Root
	t.t = time.AfterFunc(d, func() {
		defer crash.Guard()
		root.Send(self, m)
	})
}

func (t *timer) stop() {
	t.gen++
	if t.t != nil {
		t.t.Stop()
		t.t = nil
	}
}

func (t *timer) is(gen int) bool { return t.t != nil && t.gen == gen }
