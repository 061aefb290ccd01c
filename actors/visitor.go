package actors

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages about a turn that is served by a runner.
type (
	// seek asks for a place at a runner. The turn hears what it hears of a process of
	// its own: spawned or spawnFailed, output, exited, gone.
	seek struct {
		turn event.ID
		pid  *actor.PID
		job  *job
		// tries counts the runners that could not take it.
		tries int
		// starts counts the processes that ended before they were ready to take it.
		starts int
	}
	// dismiss ends a turn at its runner: asked, or with now by ending the runner.
	dismiss struct {
		turn event.ID
		now  bool
	}
	// forsake says that a turn's actor stopped without waiting for its runner.
	forsake struct{ turn event.ID }
)

// visitor stands for a turn at the runners, as a processActor stands for it at its
// own process. It is the turn's child and sees that the runner is told when the turn
// goes away. It never stops before.
type visitor struct {
	host *Host
	turn *actor.PID
	job  *job
}

func (v *visitor) Receive(c actor.Context) {
	id := v.job.request.Turn
	switch m := c.Message().(type) {
	case *actor.Started:
		c.Send(v.host.runners, &seek{turn: id, pid: v.turn, job: v.job})
	case *terminate:
		c.Send(v.host.runners, &dismiss{turn: id, now: m.now})
	case *steering:
		c.Send(v.host.runners, m)
	case *actor.Stopping:
		c.Send(v.host.runners, &forsake{turn: id})
	}
}
