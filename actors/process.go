package actors

import (
	"errors"
	"fmt"
	"sync"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/isolation"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages a process actor understands.
type (
	// terminate starts the kill ladder, or kills at once.
	terminate struct{ now bool }
	rungUp    struct{ gen int }
	started   struct {
		p   *process.Process
		err error
	}
	recorded struct{}
	left     struct{}
)

// inFlight is how many pipe reads of one process may wait to be stored; then
// the process blocks on its own pipe.
const inFlight = 4

// processActor owns one run of a CLI: its pid, pipes and kill ladder. The
// process's own goroutines read its output and parse it; they end with it.
type processActor struct {
	host   *Host
	turn   *actor.PID
	job    *job
	p      *process.Process
	ladder *process.Ladder
	rung   timer
	// told is set once the ladder has begun, with now for a kill.
	told, now bool
	ended     bool
	reader    *reader
	// adopted is closed once p is set and the turn was told of the process. A
	// process may end before that; what it said is held until then.
	adopted chan struct{}
}

func newProcess(h *Host, turn *actor.PID, j *job) *processActor {
	l := h.cfg.limits
	return &processActor{host: h, turn: turn, job: j, ladder: process.NewLadder(l.InterruptGrace, l.TerminateGrace)}
}

func (a *processActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		a.start(c)
	case *started:
		a.running(c, m)
	case *terminate:
		a.terminate(c, m.now)
	case *recorded:
		a.climb(c)
	case *rungUp:
		if a.rung.is(m.gen) {
			a.climb(c)
		}
	case *left:
		a.leave(c)
	case *actor.Stopping:
		a.rung.stop()
		a.abandon()
	}
}

// start spawns in a goroutine: fork and exec take a millisecond or more.
func (a *processActor) start(c actor.Context) {
	a.reader = &reader{
		host: a.host, turn: a.turn, self: c.Self(), parser: a.job.parser, job: a.job,
		credits: make(chan struct{}, inFlight), quit: make(chan struct{}), adopted: make(chan struct{}),
	}
	a.adopted = a.reader.adopted
	reader, spec, self, host, marker, adopted, quit := a.reader, a.reader.spec(), c.Self(), a.host, a.job.marker, a.adopted, a.reader.quit
	host.work.Go(func() {
		reader.record(&spec)
		p, err := process.Start(spec)
		host.root.Send(self, &started{p: p, err: err})
		if err != nil {
			reader.tape.ended(agent.Exit{Code: -1})
			return
		}
		select {
		case <-adopted:
		case <-quit: // the actor is gone and cannot end what was just started
			host.destroy(p, marker)
		}
	})
}

func (a *processActor) running(c actor.Context, m *started) {
	if m.err != nil {
		a.ended = true
		c.Send(a.turn, &spawnFailed{spawnFailure(a.job.adapter, a.job.remedy, m.err)})
		c.Stop(c.Self())
		return
	}
	a.p = m.p
	c.Send(a.host.reaper, &planted{marker: a.job.marker, p: m.p, turn: a.turn})
	c.Send(a.turn, &spawned{m.p.Pid()})
	close(a.adopted)
	if a.told {
		a.record(c)
	}
}

// terminate begins the ladder: first the tree is written down, because a CLI's
// death lets go of its children.
func (a *processActor) terminate(c actor.Context, now bool) {
	if now {
		a.ladder.Skip(process.Kill)
	}
	if a.told {
		if now && !a.now {
			a.now = true
			a.climb(c)
		}
		return
	}
	a.told, a.now = true, now
	if a.p != nil {
		a.record(c)
	}
}

func (a *processActor) record(c actor.Context) {
	p, self, host := a.p, c.Self(), a.host
	host.work.Go(func() {
		p.Record()
		host.root.Send(self, &recorded{})
	})
}

// climb does the ladder's next act.
func (a *processActor) climb(c actor.Context) {
	if a.ended || a.p == nil {
		return
	}
	act, after := a.ladder.Next()
	p := a.p
	a.host.work.Go(func() { act.Do(p) }) // it reads the process table
	if after > 0 {
		a.rung.arm(c, after, func(gen int) any { return &rungUp{gen} })
	}
}

// leave: the process has ended and its output was read; the tree is next.
func (a *processActor) leave(c actor.Context) {
	a.ended = true
	a.rung.stop()
	c.Send(a.host.reaper, &sweep{p: a.p, marker: a.job.marker, turn: a.turn})
	c.Stop(c.Self())
}

// abandon ends a process whose turn went away without waiting for it.
func (a *processActor) abandon() {
	close(a.reader.quit)
	if a.ended || a.p == nil {
		return
	}
	a.ended = true
	p, host, marker := a.p, a.host, a.job.marker
	host.work.Go(func() { host.destroy(p, marker) })
}

// destroy kills a process that nobody waits for and has its tree swept. It
// reads the process table, so it is not for a Receive.
func (h *Host) destroy(p *process.Process, marker string) {
	p.Record()
	process.Kill.Do(p)
	h.root.Send(h.reaper, &sweep{p: p, marker: marker})
}

// reader turns lines into facts on the process's reader goroutine.
type reader struct {
	host       *Host
	turn, self *actor.PID
	parser     agent.Parser
	job        *job
	// credits bounds the batches that are not stored yet; quit lets go of a reader
	// whose turn is gone.
	credits chan struct{}
	quit    chan struct{}
	adopted chan struct{}
	spoke   bool
	tape    *recorder
}

func (r *reader) spec() process.Spec {
	l := r.host.cfg.limits
	return process.Spec{
		Path: r.job.request.Binary, Args: r.job.invocation.Args, Env: r.job.env, Dir: r.job.request.Workspace,
		Wrap: r.job.wrap, NoCore: r.job.isolation.Has(isolation.Rlimits),
		Stdin: r.job.invocation.Stdin, Handed: keyOf(r.job.request), Marker: r.job.marker, Stderr: veil{r.job.redact}.stderr(),
		MaxLine: l.MaxLineBytes, MaxOutput: r.job.maxOutput, Limits: r.job.limits, Cgroups: r.host.groupsOf(r.job.isolation),
		OnLines: r.lines, OnDropped: r.dropped, OnLimit: r.limit, OnExit: r.exit,
	}
}

// record puts the process on a tape, if somebody wants one.
func (r *reader) record(spec *process.Spec) {
	r.tape = r.host.record(&Taped{Adapter: r.job.adapter, Driver: DriverExec, Binary: spec.Path, Args: spec.Args, Dir: spec.Dir}, spec.Env, r.job.redact)
	if r.tape == nil {
		return
	}
	spec.OnBytes = r.tape.piece
	r.tape.whole(Stdin, spec.Stdin)
}

var batches = sync.Pool{New: func() any { return new(agent.Batch) }}

func putBatch(b *agent.Batch) {
	b.Reset()
	batches.Put(b)
}

// announced waits until the turn knows of the process; false when nobody listens
// any more.
func (r *reader) announced() bool {
	select {
	case <-r.adopted:
		return true
	case <-r.quit:
		return false
	}
}

func (r *reader) lines(lines [][]byte) {
	if !r.announced() {
		return
	}
	b := batches.Get().(*agent.Batch)
	for _, l := range lines {
		r.feed(r.job.redact.Bytes(l), b)
	}
	select {
	case r.credits <- struct{}{}:
	case <-r.quit:
		putBatch(b)
		return
	}
	r.host.root.Send(r.turn, &output{batch: b, first: !r.spoke, release: r.release})
	r.spoke = true
}

func (r *reader) release(error) { <-r.credits }

// feed keeps a line that a parser chokes on; a panic here would end the process.
func (r *reader) feed(line []byte, b *agent.Batch) {
	defer func() {
		if p := recover(); p != nil {
			r.host.log.Error("parser panicked", "adapter", r.job.adapter, "panic", fmt.Sprint(p))
			b.Add(agent.Fact{Kind: agent.FactUnknown, Text: string(line)})
		}
	}()
	r.parser.Feed(line, b)
}

func (r *reader) dropped(n int64) {
	if r.announced() {
		r.host.root.Send(r.turn, &lineDropped{n})
	}
}

func (r *reader) limit() {
	if r.announced() {
		r.host.root.Send(r.turn, &outputLimit{})
	}
}

func (r *reader) exit(st process.Status) {
	exit := agent.Exit{Code: st.Code, Signal: st.Signal, Stderr: r.job.redact.String(string(st.Stderr))}
	r.tape.ended(exit)
	if !r.announced() {
		return
	}
	b := new(agent.Batch)
	func() {
		defer func() {
			if p := recover(); p != nil {
				r.host.log.Error("parser panicked", "adapter", r.job.adapter, "panic", fmt.Sprint(p))
			}
		}()
		r.parser.Close(exit, b)
	}()
	r.host.root.Send(r.turn, &exited{exit: exit, batch: b, hits: hitsOf(&st)})
	r.host.root.Send(r.self, &left{})
}

// spawnFailure says why nothing was started.
func spawnFailure(adapter, remedy string, err error) *event.Failure {
	f := &event.Failure{Code: event.WorkspaceUnavail, Cause: err}
	switch {
	case errors.Is(err, process.ErrNotFound), errors.Is(err, process.ErrNotExecutable):
		f.Code = event.RuntimeNotInstalled
		f.Message = fmt.Sprintf("the %s program cannot be started: %v; %s", adapter, err, remedy)
	case errors.Is(err, process.ErrWorkdir):
		f.Message = "the session's workspace is not usable; make the directory or create a session with another one"
	case errors.Is(err, process.ErrArgTooLong):
		f.Code, f.Message = event.InvalidRequest, "the prompt or the instructions are too long for this CLI's command line; shorten them or use an adapter that reads them from standard input"
	case errors.Is(err, process.ErrResources):
		f.Message = "the machine has no descriptors, processes or memory left for a further CLI; lower limits.max_concurrent_turns or raise the limits"
	default:
		f.Message = fmt.Sprintf("the %s program could not be started: %v", adapter, err)
	}
	return f
}
