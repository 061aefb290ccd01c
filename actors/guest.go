package actors

import (
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/asynkron/protoactor-go/actor"
)

// guest is a turn that a runner serves.
type guest struct {
	turn event.ID
	pid  *actor.PID
	job  *job

	spoke    bool
	waiting  int             // batches that are not stored yet
	backlog  *agent.Batch    // what came meanwhile
	steered  []agent.Steered // what was said of messages meanwhile
	held     int64           // its bytes
	bytes    int64           // of the turn
	limited  bool            // they were too many
	tools    bool
	mark     string
	told     bool // its end was asked for
	ended    bool // the CLI is done with it
	sweeping bool // what its tools left is being ended
	forsaken bool // its actor is gone
	grace    timer
	asks     int           // interrupts sent
	done     chan struct{} // closed when it leaves: who waits for its caller's answer stops
}

// maxBacklog is how many bytes of one turn may wait for the store before nothing of
// the runner is read.
const maxBacklog = 4 << 20

func newGuest(m *seek) *guest {
	return &guest{turn: m.turn, pid: m.pid, job: m.job, done: make(chan struct{})}
}

// take receives what was said in the turn.
func (g *guest) take(c actor.Context, r *runner, said *agent.Said) {
	// Before what was said with it: a verdict in it would come first.
	if g.steered = append(g.steered, said.Steered...); g.backlog == nil {
		g.tellSteered(c)
	}
	g.bytes += said.Bytes
	if said.Tools {
		g.tools, g.mark = true, said.Mark
	}
	if limit := g.job.maxOutput; !g.limited && limit > 0 && g.bytes > limit {
		g.limited = true
		c.Send(g.pid, &outputLimit{})
	}
	if len(said.Batch.Facts) == 0 || g.forsaken {
		putBatch(said.Batch)
		return
	}
	if g.waiting < inFlight && g.backlog == nil {
		g.send(c, r, said.Batch)
		return
	}
	g.held += said.Bytes
	if g.backlog == nil {
		g.backlog = said.Batch
		return
	}
	g.backlog.Facts = append(g.backlog.Facts, said.Batch.Facts...)
	putBatch(said.Batch)
}

func (g *guest) send(c actor.Context, r *runner, b *agent.Batch) {
	g.waiting++
	root, self, turn := r.host.root, c.Self(), g.turn
	c.Send(g.pid, &output{batch: b, first: !g.spoke, release: func(error) { root.Send(self, &kept{turn}) }})
	g.spoke = true
}

// tellSteered says what became of messages for the turn.
func (g *guest) tellSteered(c actor.Context) {
	for _, s := range g.steered {
		if g.forsaken {
			break
		}
		c.Send(g.pid, &steered{s})
	}
	g.steered = nil
}

// kept: a batch is stored.
func (g *guest) kept(c actor.Context, r *runner) {
	g.waiting--
	if b := g.backlog; b != nil {
		g.tellSteered(c)
		g.backlog, g.held = nil, 0
		g.send(c, r, b)
	}
}

// leave tells the turn that the runner is done with it, as of a process that ended.
func (g *guest) leave(c actor.Context, exit agent.Exit, hits turn.Hits, last *event.Failure) {
	g.grace.stop()
	close(g.done)
	g.tellSteered(c)
	b := new(agent.Batch)
	if g.backlog != nil {
		b.Facts, g.backlog = append(b.Facts, g.backlog.Facts...), nil
	}
	if last != nil && !g.ended {
		b.Add(agent.Fact{Kind: agent.FactVerdict, Verdict: &agent.Verdict{Final: true, Outcome: event.Failed, Failure: last}})
	}
	c.Send(g.pid, &exited{exit: exit, batch: b, hits: hits})
}
