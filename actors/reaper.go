package actors

import (
	"context"
	"strings"
	"time"

	"github.com/agenthost/agenthost/actors/process"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages the reaper understands.
type (
	// planted says that a tree was started.
	planted struct {
		marker string
		pid    int
	}
	// sweep ends what is left of a tree and tells the turn: gone.
	sweep struct {
		p      *process.Process
		marker string
		turn   *actor.PID // nil: nobody waits
	}
	swept struct {
		marker string
		killed int
		turn   *actor.PID
	}
)

// reaper keeps the table of every tree the host started and sees that none
// outlives its turn.
type reaper struct {
	host  *Host
	trees map[string]int // marker -> pid of the leader
}

func (r *reaper) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *planted:
		r.trees[m.marker] = m.pid
	case *sweep:
		r.sweep(c, m)
	case *swept:
		delete(r.trees, m.marker)
		if m.killed > 0 {
			r.host.stats.orphans.Add(int64(m.killed))
			turn := m.marker[strings.LastIndexByte(m.marker, '/')+1:]
			r.host.log.Info("ended what a CLI left behind", "turn", turn, "processes", m.killed)
		}
		if m.turn != nil {
			c.Send(m.turn, &gone{})
		}
	}
	r.host.stats.trees.Store(int64(len(r.trees)))
}

const sweepLimit = 30 * time.Second

// sweep works in a goroutine that ends by sending swept.
func (r *reaper) sweep(c actor.Context, m *sweep) {
	host, self := r.host, c.Self()
	host.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
		defer cancel()
		<-m.p.Exited()
		host.root.Send(self, &swept{marker: m.marker, killed: m.p.Sweep(ctx), turn: m.turn})
	})
}
