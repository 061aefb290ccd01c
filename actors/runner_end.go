package actors

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/asynkron/protoactor-go/actor"
)

// tenant is the turn that has the runner to itself, nil without one.
func (r *runner) tenant() *actor.PID {
	if !r.berth.alone || len(r.waiting) == 0 {
		return nil
	}
	return r.waiting[0].pid
}

// refuse fails the turns that were not asked yet.
func (r *runner) refuse(c actor.Context, f *event.Failure) {
	for _, s := range r.waiting {
		own := *f
		c.Send(s.pid, &spawnFailed{&own})
		c.Send(r.pool, &departed{c.Self(), s.turn})
	}
	r.waiting = nil
}

// maxStarts is how often a process is started for a turn that ends before it is ready:
// some CLIs stumble over each other in a new home.
const maxStarts = 3

// startAgain gives back the turns of a process that ended by itself before it was ready;
// it was told nothing of them.
func (r *runner) startAgain(c actor.Context) {
	var again []*seek
	r.waiting = slices.DeleteFunc(r.waiting, func(s *seek) bool {
		if s.starts++; s.starts >= maxStarts {
			return false
		}
		again = append(again, s)
		return true
	})
	if len(again) > 0 {
		c.Send(r.pool, &retired{runner: c.Self(), seeks: again})
	}
}

// rest begins the time that a runner without turns is kept.
func (r *runner) rest(c actor.Context) {
	if len(r.guests) > 0 || len(r.waiting) > 0 {
		return
	}
	if r.retired {
		r.close(c)
		return
	}
	r.idle.arm(c, r.host.cfg.limits.Runners.Idle, func(gen int) any { return &restUp{gen} })
}

// weigh asks for the process's memory.
func (r *runner) weigh(c actor.Context) {
	p, self, root := r.p, c.Self(), r.host.root
	r.host.work.Go(func() { root.Send(self, &burden{p.Resident()}) })
}

// retire takes no further turns.
func (r *runner) retire(c actor.Context) {
	if !r.retired {
		r.retired = true
		r.idle.stop()
		c.Send(r.pool, &retired{runner: c.Self()})
	}
	if r.state == serving {
		r.rest(c)
	}
}

// farewell is how long a runner without turns may take to end by itself.
const farewell = 3 * time.Second

// close ends a runner that has no turns: it is told nothing more.
func (r *runner) close(c actor.Context) {
	if r.state != serving {
		return
	}
	r.state = closing
	r.arm(c, farewell)
	r.p.Hush()
}

// kill ends the process at once; its turns fail when it has ended.
func (r *runner) kill(c actor.Context, why string) {
	if r.state >= killing {
		return
	}
	if !r.retired {
		r.retired = true
		c.Send(r.pool, &retired{runner: c.Self()})
	}
	r.idle.stop()
	if r.state != closing {
		r.host.log.Warn("runner killed", "adapter", r.berth.adapter.Name(), "runner", r.id, "why", why, "turns", len(r.guests)+len(r.waiting))
	}
	r.state = killing
	if !r.bereft() { // else its own end is the reason
		r.reason = why
	}
	r.clock.stop()
	r.readOn()
	p := r.p
	r.host.work.Go(func() {
		p.Record()
		process.Kill.Do(p)
	})
}

func (r *runner) arm(c actor.Context, d time.Duration) {
	r.clock.arm(c, d, func(gen int) any { return &clockUp{gen} })
}

// struck: the clock of the runner's state has run down.
func (r *runner) struck(c actor.Context) {
	switch r.state {
	case greeting:
		r.kill(c, fmt.Sprintf("it was not ready within %s", r.host.cfg.limits.Runners.Start))
	case closing:
		r.kill(c, "it did not end by itself")
	case serving:
		every := r.host.cfg.limits.Runners.Ping
		switch silent := time.Since(r.quiet); {
		case len(r.owed) > 0: // we do not read what it says
		case silent < every:
			r.pinged = false
		case r.pinged:
			r.kill(c, fmt.Sprintf("it gave no sign of life for %s", silent.Round(time.Second)))
			return
		default:
			r.pinged = true
			r.speak(c, func() { r.proto.Ping(&r.talk) })
		}
		if r.state == serving {
			r.weigh(c)
			r.arm(c, every)
		}
	case launching, killing, over:
	}
}

// closed: the process has ended. Its turns are told, and its tree is swept.
func (r *runner) closed(c actor.Context, m *closed) {
	clean, early := r.state == closing, r.state == greeting
	r.state = over
	r.clock.stop()
	r.idle.stop()
	if !r.retired {
		r.retired = true
		c.Send(r.pool, &retired{runner: c.Self()})
	}
	st := m.status
	stderr := string(st.Stderr)
	for _, g := range r.guests {
		stderr = g.job.redact.String(stderr)
	}
	r.exit = agent.Exit{Code: st.Code, Signal: st.Signal, Stderr: r.berth.redact.String(stderr)}
	r.tape.whole(Stderr, []byte(r.exit.Stderr))
	r.tape.ended(r.exit)
	if !clean && r.reason == "" {
		r.host.log.Warn("runner ended", "adapter", r.berth.adapter.Name(), "runner", r.id, "status", st.Code, "signal", st.Signal, "turns", len(r.guests)+len(r.waiting))
	}
	var why *event.Failure
	if r.reason != "" {
		why = event.Fail(event.CLICrashed, fmt.Sprintf("the %s process that served this turn was ended: %s; the next input starts another", r.berth.adapter.Name(), r.reason))
	}
	var hits turn.Hits
	if r.berth.alone { // limits are a turn's, so it was the only one
		hits = hitsOf(&st)
	}
	for _, g := range r.guests {
		var own *event.Failure
		if why != nil {
			f := *why
			own = &f
		}
		g.leave(c, r.exit, hits, own)
	}
	if why == nil {
		why = event.Fail(event.CLICrashed, fmt.Sprintf("the %s process ended before it was ready (%s): %s", r.berth.adapter.Name(), exitWords(r.exit), clipped(r.exit.Stderr)))
	}
	if early {
		r.startAgain(c)
	}
	r.refuse(c, why)
	c.Send(r.host.reaper, &sweep{p: r.p, marker: r.marker(), turn: c.Self()})
}

// swept: nothing of the tree is left.
func (r *runner) swept(c actor.Context) {
	for id, g := range r.guests {
		c.Send(g.pid, &gone{})
		c.Send(r.pool, &departed{c.Self(), id})
	}
	clear(r.guests)
	r.end(c)
}

func (r *runner) end(c actor.Context) {
	r.finished = true
	c.Stop(c.Self())
}

// abandon is the end of the actor. A process that is left is ended by a goroutine,
// politely when nothing runs in it.
func (r *runner) abandon(c actor.Context) {
	r.host.stats.runners.Add(-1)
	r.clock.stop()
	r.idle.stop()
	close(r.quit)
	r.tape.ended(agent.Exit{Code: -1}) // nobody hears the rest
	host, dir, p, marker, polite := r.host, r.dir, r.p, r.marker(), len(r.guests) == 0 && r.state == serving
	if !r.retired {
		c.Send(r.pool, &retired{runner: c.Self()})
	}
	var turns []*actor.PID
	for id, g := range r.guests {
		if r.state != over {
			g.leave(c, agent.Exit{Code: -1}, turn.Hits{}, internalEnd())
		}
		turns = append(turns, g.pid)
		c.Send(r.pool, &departed{c.Self(), id})
	}
	r.refuse(c, internalEnd())
	release, pass := r.release, r.pass
	left := !r.finished && p != nil && r.state != over
	host.work.Go(func() {
		if left {
			host.dismissProcess(p, marker, polite)
		}
		for _, t := range turns {
			host.root.Send(t, &gone{})
		}
		discard(dir)
		pass.Release()
		if release != nil {
			release()
		}
	})
}

func discard(dir string) {
	if dir != "" {
		_ = os.RemoveAll(dir)
	}
}

// dismissProcess ends a process that nobody waits for, and its tree, before it
// returns. It is not for a Receive.
func (h *Host) dismissProcess(p *process.Process, marker string, polite bool) {
	if polite {
		p.Hush()
		select {
		case <-p.Exited():
		case <-time.After(farewell):
		}
	}
	p.Record()
	process.Kill.Do(p)
	<-p.Exited()
	ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
	defer cancel()
	h.root.Send(h.reaper, &swept{marker: marker, killed: p.Sweep(ctx)})
}

func exitWords(e agent.Exit) string {
	if e.Signal != "" {
		return "signal " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// clipped is the end of what a process wrote to standard error.
func clipped(s string) string {
	const most = 1500
	if s == "" {
		return "it wrote nothing to standard error"
	}
	if r := []rune(s); len(r) > most {
		return string(r[len(r)-most:])
	}
	return s
}
