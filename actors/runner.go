package actors

import (
	"fmt"
	"slices"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/relay"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages that a runner understands, besides those of the pool.
type (
	// launched says what became of the start.
	launched struct {
		p    *process.Process
		dir  string
		tape *recorder
		// release lets the installed version of the program be removed.
		release func()
		err     error
	}
	// heard is what one pipe read said; read is called when more may be read.
	heard struct {
		lines [][]byte
		read  func()
	}
	// closed says that the process ended and its output was read.
	closed struct{ status process.Status }
	// kept says that a batch of a turn is stored.
	kept struct{ turn event.ID }
	// permitted is a caller's answer to a question.
	permitted struct {
		turn     event.ID
		question string
		approved bool
		reason   string
	}
	// partSwept says that what a turn's tools left is ended, or that this is not known.
	partSwept struct {
		turn   event.ID
		killed int
		known  bool
	}
	// burden is how much memory the process holds.
	burden struct{ bytes int64 }
	// graceUp, clockUp: a turn's or the runner's clock.
	graceUp struct {
		turn event.ID
		gen  int
	}
	clockUp struct{ gen int }
	restUp  struct{ gen int }
)

type runnerState uint8

const (
	launching runnerState = iota // the process is being started
	greeting                     // it was greeted
	serving
	closing // told to end: it has no turns
	killing // it is being killed; its turns wait for its end
	over    // it has ended; its tree is being swept
)

// runner owns one long-lived CLI process and speaks its protocol with it. Whatever
// goes wrong with the process fails the turns that it serves, and no others.
type runner struct {
	host  *Host
	pool  *actor.PID
	id    event.ID
	berth *berth
	state runnerState
	p     *process.Process
	dir   string // private to it, "" when there is none
	// release lets the installed version of the program be removed, nil before it is
	// used.
	release func()
	proto   agent.Protocol
	talk    agent.Talk

	guests  map[event.ID]*guest
	waiting []*seek // not asked yet
	served  int     // turns
	native  string  // the conversation of a bound one
	retired bool    // no further turns
	reason  string  // why it is killed

	clock    timer // of start, signs of life and end
	idle     timer
	quiet    time.Time // since when it says nothing
	pinged   bool
	owed     []func() // reads that wait until a turn's backlog is stored
	exit     agent.Exit
	adopted  chan struct{}
	quit     chan struct{}
	finished bool
	tape     *recorder
	pass     *relay.Pass // held for as long as the process may run
}

func newRunner(h *Host, pool *actor.PID, b *berth) *runner {
	r := &runner{
		host: h, pool: pool, id: event.NewID(), berth: b, guests: map[event.ID]*guest{},
		native: b.request.Native, adopted: make(chan struct{}), quit: make(chan struct{}),
	}
	if b.pass.Hold() {
		r.pass = b.pass
	}
	r.talk.NewBatch = func() *agent.Batch { return batches.Get().(*agent.Batch) }
	return r
}

func (r *runner) marker() string { return r.host.stateID + "/" + r.host.id.Hex() + "/" + r.id.Hex() }

func (r *runner) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		r.launch(c)
	case *launched:
		r.launched(c, m)
	case *seek:
		r.seek(c, m)
	case *heard:
		r.heard(c, m)
	case *kept:
		if g := r.guests[m.turn]; g != nil {
			g.kept(c, r)
			r.depart(c, g)
		}
		r.readOn()
	case *steering:
		r.steer(c, m)
	case *dismiss:
		r.dismiss(c, m)
	case *forsake:
		r.forsake(c, m.turn)
	case *graceUp:
		if g := r.guests[m.turn]; g != nil && g.grace.is(m.gen) {
			r.interrupt(c, g)
		}
	case *permitted:
		if g := r.guests[m.turn]; g != nil && !g.ended && r.state == serving {
			r.speak(c, func() { r.proto.Permit(m.turn, m.question, m.approved, m.reason, &r.talk) })
		}
	case *partSwept:
		r.partSwept(c, m)
	case *burden:
		if m.bytes > r.host.cfg.limits.Runners.Memory {
			r.retire(c)
		}
	case *retire:
		r.retire(c)
	case *clockUp:
		if r.clock.is(m.gen) {
			r.struck(c)
		}
	case *restUp:
		if r.idle.is(m.gen) && len(r.guests) == 0 {
			r.retire(c)
		}
	case *closed:
		r.closed(c, m)
	case *lineDropped:
		for _, g := range r.guests { // whose it was is not known
			c.Send(g.pid, m)
		}
	case *gone:
		r.swept(c)
	case *actor.Stopping:
		r.abandon(c)
	}
}

// launch starts the process in a goroutine.
func (r *runner) launch(c actor.Context) {
	host, self, b, id, marker, root := r.host, c.Self(), r.berth, r.id, r.marker(), r.host.root
	credits, adopted, quit := make(chan struct{}, 2), r.adopted, r.quit
	tell := func(m any) bool {
		select {
		case <-adopted:
		case <-quit:
			return false
		}
		root.Send(self, m)
		return true
	}
	spec := process.Spec{
		Path: b.request.Binary, Talk: true, Handed: keyOf(b.request), Marker: marker, Stderr: veil{b.redact}.stderr(), MaxLine: host.cfg.limits.MaxLineBytes, Limits: b.limits, Cgroups: host.groupsOf(b.isolation), NoCore: b.isolation.Has(isolation.Rlimits),
		OnLines: func(lines [][]byte) {
			select {
			case credits <- struct{}{}:
			case <-quit:
				return
			}
			tell(&heard{lines: own(lines), read: func() { <-credits }})
		},
		OnDropped: func(n int64) { tell(&lineDropped{n}) },
		OnExit:    func(st process.Status) { tell(&closed{st}) },
	}
	host.work.Go(func() {
		m := &launched{}
		m.err = func() error {
			rc, err := host.runtime(b.adapter.Name())
			if err != nil {
				return err
			}
			if m.release, err = host.runtimes.keep(b.request.Binary); err != nil {
				return event.Fail(event.RuntimeNotInstalled, fmt.Sprintf("the program of adapter %s was replaced just now: %v; send the input again", b.adapter.Name(), err))
			}
			var run *agent.Runner
			if run, m.dir, err = b.settle(rc, host.runnerDir(id)); err != nil {
				return err
			}
			spec.Env = b.env(run.Env)
			spec.Args, spec.Dir = append(slices.Clone(run.Args), run.Resume...), run.Dir
			if spec.Dir == "" {
				spec.Dir = host.cfg.stateDir
			}
			if m.dir, err = host.isolateRunner(b, &spec, host.runnerDir(id), m); err != nil {
				return err
			}
			m.tape = host.record(&Taped{
				Adapter: b.adapter.Name(), Driver: DriverPersistent, Binary: spec.Path, Args: spec.Args, Dir: spec.Dir,
			}, spec.Env, b.redact)
			if m.p, err = process.Start(spec); err != nil {
				m.tape.ended(agent.Exit{Code: -1})
			}
			return err
		}()
		root.Send(self, m)
		if m.err != nil {
			return
		}
		select {
		case <-adopted:
		case <-quit: // the actor is gone and cannot end what was just started
			host.dismissProcess(m.p, marker, false)
			discard(m.dir)
			m.release()
		}
	})
}

// own copies lines that are only lent.
func own(lines [][]byte) [][]byte {
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	buf := make([]byte, 0, size)
	out := make([][]byte, len(lines))
	for i, l := range lines {
		at := len(buf)
		buf = append(buf, l...)
		out[i] = buf[at:len(buf):len(buf)]
	}
	return out
}

func (r *runner) launched(c actor.Context, m *launched) {
	r.dir, r.release = m.dir, m.release
	if m.err != nil {
		f, ok := event.AsFailure(m.err)
		if !ok {
			remedy := "install it"
			if rc, err := r.host.runtime(r.berth.adapter.Name()); err == nil {
				remedy = rc.remedy()
			}
			f = spawnFailure(r.berth.adapter.Name(), remedy, m.err)
		}
		r.retired = true
		c.Send(r.pool, &retired{runner: c.Self()})
		r.refuse(c, f)
		r.end(c)
		return
	}
	r.p, r.tape = m.p, m.tape
	c.Send(r.host.reaper, &planted{marker: r.marker(), p: m.p, turn: r.tenant()})
	close(r.adopted)
	r.proto = r.berth.adapter.NewProtocol()
	r.state, r.quiet = greeting, time.Now()
	r.arm(c, r.host.cfg.limits.Runners.Start)
	r.speak(c, func() { r.proto.Hello(&r.talk) })
}
