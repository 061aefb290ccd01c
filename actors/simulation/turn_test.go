package simulation

import (
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/turn"
)

// Messages of a turn beside the inputs of turn.Turn.
type (
	startStored struct{ err error }
	ready       struct{ in turn.Input } // the preparation's answer
	alarm       struct {
		timer turn.Timer
		gen   int
	}
)

// turnActor is the model of a turn actor.
type turnActor struct {
	w     *world
	s     *session
	id    event.ID
	actor int
	core  *turn.Turn
	gens  [6]int
	proc  *process

	parked    bool         // it gave its slot back
	deaf      bool         // its CLI refused a message
	held      []turn.Input // what the CLI said while the turn waits
	answering *answers     // being taken

	stored bool       // TurnStarted is in the store
	ready  turn.Input // the preparation's answer, held until then
}

func (w *world) newTurn(s *session, id event.ID) *turnActor {
	t := &turnActor{w: w, s: s, id: id}
	t.actor = w.spawn(t.receive)
	t.core = turn.New(turn.Config{
		Turn: id, FirstOutput: 1, Adapter: "sim", MaxItemBytes: 64, ExitIsVerdict: w.chance(8),
		TurnTimeout: 20 * time.Second, IdleTimeout: 3 * time.Second, SettleQuiet: 300 * time.Millisecond, Linger: time.Second,
		Budgets: s.budgets(),
		Gather:  100 * time.Millisecond, ToolTimeout: 4 * time.Second, HostServer: "host", Asks: w.chance(3),
	})
	w.turns = append(w.turns, t)
	w.judge.running(s.id, id)
	t.step(turn.Start{})
	return t
}

func (t *turnActor) receive(m any) {
	t.hear(m)
	for len(t.held) > 0 && !t.core.Waiting() {
		t.unhold()
	}
}

func (t *turnActor) unhold() {
	out := t.held[0]
	t.held = t.held[1:]
	t.step(out)
}

func (t *turnActor) hear(m any) {
	switch m := m.(type) {
	case answers:
		t.take(m)
	case turn.Output, turn.Steered:
		if t.core.Waiting() {
			t.held = append(t.held, m.(turn.Input))
			return
		}
		t.step(m.(turn.Input))
	case turn.Exited:
		for len(t.held) > 0 {
			t.unhold()
		}
		t.step(m)
	case startStored:
		t.stored = true
		if m.err != nil {
			// The store does not know that it started, so it may not run.
			t.step(turn.Stop{Failure: event.Fail(event.StorageFailed, "the disk is full")})
		}
		t.prepared()
	case ready:
		t.ready = m.in
		t.prepared()
	case alarm:
		if t.gens[m.timer] == m.gen {
			t.step(turn.Elapsed{Timer: m.timer})
		}
	case turn.Input:
		t.step(m)
	default:
		t.w.judge.fail("turn got %T", m)
	}
}

// prepared goes on once the workspace is ready and the start is stored.
func (t *turnActor) prepared() {
	if t.ready != nil && (t.stored || t.w.faults.spawnEarly) {
		in := t.ready
		t.ready = nil
		t.step(in)
	}
}

func (t *turnActor) step(in turn.Input) {
	w := t.w
	for _, e := range t.core.Step(in, w.now) {
		switch e := e.(type) {
		case turn.Emit:
			m := turnEvents{turn: t.id, events: slices.Clone(e.Events)}
			if _, is := in.(turn.Start); is {
				m.start = t
			}
			if t.answering != nil {
				m.answered, t.answering = t.answering.calls(), nil
			}
			w.send(t.actor, t.s.actor, m)
		case turn.Prepare:
			var in turn.Input = turn.Prepared{}
			if w.chance(30) {
				in = turn.PrepareFailed{}
			}
			w.after(time.Duration(w.rng.IntN(20))*time.Millisecond, func() { w.send(clock, t.actor, ready{in}) })
		case turn.Spawn:
			t.spawn()
		case turn.Terminate:
			w.send(t.actor, t.proc.actor, terminate{})
		case turn.Kill:
			w.send(t.actor, t.proc.actor, terminate{now: true})
		case turn.Arm:
			t.gens[e.Timer]++
			m := alarm{e.Timer, t.gens[e.Timer]}
			w.after(e.After, func() { w.send(clock, t.actor, m) })
		case turn.Disarm:
			t.gens[e.Timer]++
		case turn.Wait:
			w.counts["waits"]++
			w.send(t.actor, t.s.actor, park{t.id})
		case turn.Continue:
			w.send(t.actor, t.s.actor, unpark{t.id})
		case turn.Deliver:
			w.judge.delivered(t.id, e.Answer.Call)
			if w.faults.deliverTwice && w.chance(10) {
				w.judge.delivered(t.id, e.Answer.Call)
			}
			w.send(t.actor, t.proc.actor, delivered{e.Call})
		case turn.Hand:
			w.send(t.actor, t.proc.actor, steering{e.Input})
		case turn.Unsteered:
			w.send(t.actor, t.s.actor, unsteered{t.id, e.Input})
		case turn.Refuse:
			w.counts["answers refused"]++
			t.answering = nil
		case turn.Finished:
			w.send(t.actor, t.s.actor, finished{t.id})
			if !w.faults.lateEvents {
				delete(w.inbox, t.actor)
			}
		}
	}
	if w.faults.lateEvents && t.core.Settled() && w.chance(4) {
		w.send(t.actor, t.s.actor, turnEvents{turn: t.id, events: []event.Event{{Kind: event.Notice, Turn: t.id, Text: "late"}}})
	}
}

func (t *turnActor) spawn() {
	w := t.w
	if w.chance(20) {
		w.send(t.actor, t.actor, turn.SpawnFailed{})
		return
	}
	t.proc = newProcess(t)
	w.send(t.proc.actor, t.actor, turn.Spawned{Pid: t.proc.actor})
}

// terminate starts the kill ladder, or kills.
type terminate struct{ now bool }

// process is a CLI with the actor that owns it.
type process struct {
	w     *world
	t     *turnActor
	actor int
	gone  bool

	// Its character.
	left      int     // how much it has to say
	obstinate bool    // ignores SIGINT and SIGTERM
	lingers   bool    // does not exit by itself
	mute      bool    // hangs once it has said everything, without a verdict
	final     bool    // its verdicts are final ones
	asks      bool    // it calls its caller
	calls     []int64 // it waits for, by number
	lastCall  int64
}

func newProcess(t *turnActor) *process {
	w := t.w
	p := &process{
		w: w, t: t, left: w.rng.IntN(12), obstinate: w.chance(6), lingers: w.chance(4), mute: w.chance(8), final: w.chance(2),
		asks: w.chance(2),
	}
	p.actor = w.spawn(p.receive)
	w.procs = append(w.procs, p)
	w.judge.spawned(t.s.id, t.id)
	return p
}

func (p *process) receive(m any) {
	if d, ok := m.(delivered); ok {
		p.calls = slices.DeleteFunc(p.calls, func(n int64) bool { return n == d.call })
		return
	}
	if s, ok := m.(steering); ok {
		p.steer(s)
		return
	}
	stop, ok := m.(terminate)
	switch {
	case !ok:
		p.w.judge.fail("process got %T", m)
	case p.gone:
	case stop.now:
		p.exit(-1, "killed")
	case p.obstinate:
		p.w.after(800*time.Millisecond, func() {
			if !p.gone {
				p.exit(-1, "killed")
			}
		})
	default:
		p.exit(-1, "interrupt")
	}
}

// talk lets one CLI do something.
func (w *world) talk() bool {
	if len(w.procs) == 0 {
		return false
	}
	start := w.rng.IntN(len(w.procs))
	for i := range w.procs {
		if p := w.procs[(start+i)%len(w.procs)]; p.act() {
			return true
		}
	}
	return false
}

func (p *process) act() bool {
	w := p.w
	switch {
	case len(p.calls) > 0 && w.chance(30):
		p.say(p.facts(1)) // it does something beside
	case len(p.calls) > 0 && w.chance(100):
		p.exit(1, "")
	case len(p.calls) > 0 && w.chance(100):
		w.send(p.actor, p.t.actor, turn.CallLeft{Call: p.calls[0]})
		p.calls = p.calls[1:]
	case len(p.calls) > 0:
		return false
	case p.left > 0 && p.asks && w.chance(3):
		for range 1 + w.rng.IntN(3) {
			p.call()
		}
	case p.left > 0:
		p.left--
		p.say(p.facts(1 + w.rng.IntN(4)))
		if w.chance(40) {
			p.exit(1, "") // crashes in the middle
		}
	case p.left == 0 && !p.mute:
		p.left = -1
		p.say([]agent.Fact{p.verdict()})
		if !p.final && w.chance(4) {
			p.left = w.rng.IntN(4) // it goes on after all
		}
	case p.left < 0 && !p.lingers:
		code := 0
		if w.chance(3) {
			code = 1
		}
		p.exit(code, "")
	default:
		return false
	}
	return true
}

func (p *process) say(facts []agent.Fact) {
	p.w.send(p.actor, p.t.actor, turn.Output{Facts: facts})
}

func (p *process) exit(code int, signal string) {
	p.gone = true
	var last []agent.Fact
	if p.w.chance(10) {
		last = append(p.facts(1), p.verdict())
	}
	p.w.send(p.actor, p.t.actor, turn.Exited{Exit: agent.Exit{Code: code, Signal: signal}, Facts: last})
	p.w.send(p.actor, p.t.actor, turn.Gone{})
	p.w.procs = slices.DeleteFunc(p.w.procs, func(o *process) bool { return o == p })
	p.w.judge.died(p.t.s.id)
	delete(p.w.inbox, p.actor)
}

func (p *process) verdict() agent.Fact {
	v := &agent.Verdict{Final: p.final, Outcome: event.Completed, Usage: &event.Usage{Input: 3, Output: 1}}
	if p.w.chance(5) {
		v.Outcome, v.Failure = event.Failed, event.Fail(event.RateLimited, "later")
	}
	if p.w.chance(3) {
		v.Text = "in the verdict"
	}
	return agent.Fact{Kind: agent.FactVerdict, Verdict: v}
}

var (
	keys  = []string{"a", "b", "c"}
	kinds = []agent.FactKind{
		agent.FactText, agent.FactText, agent.FactText, agent.FactReasoning, agent.FactOutput, agent.FactStart,
		agent.FactDone, agent.FactDone, agent.FactNotice, agent.FactSession, agent.FactUsage,
	}
)

func (p *process) facts(n int) []agent.Fact {
	out := make([]agent.Fact, n)
	for i := range out {
		f := &out[i]
		f.Kind, f.Key, f.Text = kinds[p.w.rng.IntN(len(kinds))], keys[p.w.rng.IntN(len(keys))], "some text, "
		if f.Kind == agent.FactUsage {
			*f = agent.Fact{Kind: agent.FactUsage, Usage: &event.Usage{Input: int64(p.w.rng.IntN(9))}}
			continue
		}
		if f.Kind == agent.FactStart || f.Kind == agent.FactDone {
			f.Item = &event.Item{Type: event.ItemType(1 + p.w.rng.IntN(7)), Command: "ls", Output: "a", Text: "some text, and more"}
		}
	}
	return out
}
