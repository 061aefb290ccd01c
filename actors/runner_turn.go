package actors

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/asynkron/protoactor-go/actor"
)

// seek takes a turn in, or gives it back.
func (r *runner) seek(c actor.Context, m *seek) {
	other := r.berth.runner.Bound && m.job.request.Native != r.native
	dead := r.bereft()
	if r.retired || other || dead {
		if other || dead {
			r.retire(c) // its session went on elsewhere, or it is about to go
		}
		c.Send(r.pool, &retired{c.Self(), []*seek{m}})
		return
	}
	r.idle.stop()
	if r.state != serving {
		r.waiting = append(r.waiting, m)
		return
	}
	r.ask(c, m)
}

// bereft reports whether the process has ended, of which its end of output will tell:
// what it started may hold that open, and speak on.
func (r *runner) bereft() bool { return r.p != nil && r.p.Dead() }

func (r *runner) ask(c actor.Context, m *seek) {
	g := newGuest(m)
	r.guests[m.turn] = g
	if r.served++; r.berth.alone || r.served >= r.host.cfg.limits.Runners.Turns {
		r.retire(c) // its last one
	}
	c.Send(m.pid, &spawned{r.p.Pid()})
	r.speak(c, func() { r.proto.Ask(m.turn, m.job.request, &r.talk) })
}

// speak lets the protocol do something and carries out what follows. A protocol
// that panics is of no further use.
func (r *runner) speak(c actor.Context, say func()) {
	func() {
		defer func() {
			if p := recover(); p != nil {
				r.host.log.Error("protocol panicked", "adapter", r.berth.adapter.Name(), "panic", fmt.Sprint(p))
				r.talk.Break("an internal error: the server's log has the cause")
			}
		}()
		say()
	}()
	t := &r.talk
	write, said, ready, pong, broken := t.Write, t.Said, t.Ready, t.Pong, t.Broken
	t.Write, t.Said, t.Ready, t.Pong, t.Broken = nil, nil, false, false, ""
	r.spoken(write)
	if len(write) > 0 && !r.p.Say(write) {
		broken = "it does not read what it is told"
	}
	if pong {
		r.pinged = false
	}
	for _, s := range said {
		r.said(c, s)
	}
	if broken != "" {
		r.kill(c, broken)
		return
	}
	if ready && r.state == greeting {
		r.state = serving
		r.arm(c, r.host.cfg.limits.Runners.Ping)
		waiting := r.waiting
		r.waiting = nil
		for _, m := range waiting {
			if r.state != serving {
				r.waiting = append(r.waiting, m)
				continue
			}
			r.ask(c, m)
		}
		r.rest(c)
	}
}

// said takes what was said in a turn.
func (r *runner) said(c actor.Context, s *agent.Said) {
	g := r.guests[s.Turn]
	if g == nil || g.ended {
		putBatch(s.Batch)
		return
	}
	if r.berth.runner.Bound {
		for _, f := range s.Batch.Facts {
			if f.Kind == agent.FactSession {
				r.native = f.Text
			}
		}
	}
	if s.Over && failed(s.Batch) && r.bereft() {
		// A child of the process ends the turn because that is gone: with its end the
		// turn is told of it.
		s.Over = false
		s.Batch.Facts = slices.DeleteFunc(s.Batch.Facts, verdict)
	}
	g.take(c, r, s)
	for _, q := range s.Questions {
		r.question(c, g, q)
	}
	if s.Over {
		g.ended = true
		g.grace.stop()
		r.depart(c, g)
	}
}

func verdict(f agent.Fact) bool { return f.Kind == agent.FactVerdict }

// failed reports whether there is the verdict of a failed turn.
func failed(b *agent.Batch) bool {
	i := slices.IndexFunc(b.Facts, verdict)
	return i >= 0 && b.Facts[i].Verdict.Outcome == event.Failed
}

// question asks the turn's caller, in a goroutine that ends with the answer or with
// the turn.
func (r *runner) question(c actor.Context, g *guest, q agent.Question) {
	m := &asked{item: approval(g.job.adapter, &q.Prompt), reply: make(chan *event.Item, 1)}
	c.Send(g.pid, m)
	self, root, turn, done := c.Self(), r.host.root, g.turn, g.done
	r.host.work.Go(func() {
		select {
		case a := <-m.reply:
			approved, reason := decided(a)
			root.Send(self, &permitted{turn, q.ID, approved, reason})
		case <-done:
		}
	})
}

// heard reads lines.
func (r *runner) heard(c actor.Context, m *heard) {
	r.quiet = time.Now()
	sets := r.redactors()
	r.speak(c, func() {
		for _, line := range m.lines {
			for _, s := range sets {
				line = s.Bytes(line)
			}
			if r.tape != nil {
				r.tape.whole(Stdout, append(line[:len(line):len(line)], '\n'))
			}
			r.proto.Feed(line, &r.talk)
		}
	})
	r.owed = append(r.owed, m.read)
	r.readOn()
}

// readOn lets the process be read, unless a turn cannot be stored as fast as it talks.
func (r *runner) readOn() {
	for _, g := range r.guests {
		if g.held > maxBacklog && r.state < killing {
			return
		}
	}
	for _, read := range r.owed {
		read()
	}
	r.owed = nil
}

// depart lets a turn go that the CLI is done with, once all it said is on its way
// and nothing of its tools is left.
func (r *runner) depart(c actor.Context, g *guest) {
	if !g.ended || g.backlog != nil || g.sweeping || r.guests[g.turn] != g || r.state >= killing {
		return
	}
	if !g.tools && !g.told {
		r.part(c, g)
		return
	}
	if g.mark == "" {
		if g.told && g.tools { // nobody knows what it left
			r.kill(c, "its turn was stopped")
			return
		}
		r.part(c, g)
		return
	}
	g.sweeping = true
	p, mark, turn, self, root := r.p, g.mark, g.turn, c.Self(), r.host.root
	r.host.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
		defer cancel()
		killed, known := p.SweepPart(ctx, mark)
		root.Send(self, &partSwept{turn, killed, known})
	})
}

func (r *runner) partSwept(c actor.Context, m *partSwept) {
	if m.killed > 0 {
		r.host.stats.orphans.Add(int64(m.killed))
		r.host.log.Info("ended what a CLI left behind", "turn", m.turn, "processes", m.killed)
	}
	g := r.guests[m.turn]
	if g == nil || r.state >= killing {
		return
	}
	if !m.known {
		r.kill(c, "what the tools of a turn left could not be ended")
		return
	}
	r.part(c, g)
}

// part takes leave of a turn.
func (r *runner) part(c actor.Context, g *guest) {
	delete(r.guests, g.turn)
	g.leave(c, agent.Exit{}, turn.Hits{}, nil)
	c.Send(g.pid, &gone{})
	c.Send(r.pool, &departed{c.Self(), g.turn})
	r.weigh(c)
	r.rest(c)
}

// dismiss ends a turn.
func (r *runner) dismiss(c actor.Context, m *dismiss) {
	g := r.guests[m.turn]
	if g == nil || g.ended {
		return
	}
	if m.now {
		r.kill(c, "a turn had to be ended at once")
		return
	}
	if !g.told {
		g.told = true
		r.interrupt(c, g)
	}
}

// interrupts is how often the CLI is asked before the runner is killed.
const interrupts = 10

// interrupt asks the CLI to end a turn, and ends the runner when it does not.
func (r *runner) interrupt(c actor.Context, g *guest) {
	if g.ended || r.state >= killing {
		return
	}
	if g.asks++; g.asks > interrupts {
		r.kill(c, "it did not let go of a turn that was stopped")
		return
	}
	turn := g.turn
	g.grace.arm(c, max(r.host.cfg.limits.InterruptGrace/interrupts, time.Millisecond), func(gen int) any { return &graceUp{turn, gen} })
	r.speak(c, func() { r.proto.Interrupt(turn, &r.talk) })
}

// forsake ends a turn that nobody waits for.
func (r *runner) forsake(c actor.Context, turn event.ID) {
	for i, s := range r.waiting {
		if s.turn == turn {
			r.waiting = slices.Delete(r.waiting, i, i+1)
			c.Send(r.pool, &departed{c.Self(), turn})
			return
		}
	}
	if g := r.guests[turn]; g != nil {
		g.forsaken = true
		for ; g.waiting > 0; g.waiting-- { // their releases may never come
		}
		g.backlog, g.held = nil, 0
		r.readOn()
		r.dismiss(c, &dismiss{turn: turn})
		r.depart(c, g)
	}
}

// spoken records what the runner is told, without the secrets of its turns.
func (r *runner) spoken(write []byte) {
	if r.tape == nil {
		return
	}
	for _, s := range r.redactors() {
		write = s.Bytes(write)
	}
	r.tape.whole(Stdin, write)
}

// redactors are the different sets of the turns and of the runner itself.
func (r *runner) redactors() (sets []interface{ Bytes([]byte) []byte }) {
	sets = append(sets, r.berth.redact)
	for _, g := range r.guests {
		if g.job.redact != r.berth.redact {
			sets = append(sets, g.job.redact)
		}
	}
	return sets
}
