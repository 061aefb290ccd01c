package actors

import (
	"context"
	"os"
	"time"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/actors/turn"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages a turn understands.
type (
	cancel   struct{}
	stop     struct{ failure *event.Failure }
	hurry    struct{}
	prepared struct {
		job *job
		err error
	}
	// environmentIs says how it stands with what the turn waits for.
	environmentIs struct {
		status  event.EnvironmentStatus
		failure *event.Failure
	}
	// stored says what became of the commit of the turn's start.
	stored      struct{ err error }
	spawned     struct{ pid int }
	spawnFailed struct{ failure *event.Failure }
	// output is what one pipe read said. release is called once its events are
	// stored.
	output struct {
		batch   *agent.Batch
		first   bool
		release func(error)
	}
	lineDropped struct{ bytes int64 }
	outputLimit struct{}
	exited      struct {
		exit  agent.Exit
		batch *agent.Batch
		hits  turn.Hits
	}
	// used is what the turn's tree takes of the machine now.
	used struct{ usage process.Usage }
	// gone says that the process's tree is swept.
	gone    struct{}
	timerUp struct {
		timer turn.Timer
		gen   int
	}
)

// turnActor carries out what actors/turn decides about one turn.
type turnActor struct {
	host    *Host
	session *actor.PID
	ses     *fold.Session
	turn    *fold.Turn
	bounds  budget.Bounds
	core    *turn.Turn

	answer  *prepared     // that waits for the start to be stored
	started bool          // the start is stored
	leave   chan struct{} // closed when nobody waits for the preparation
	job     *job          // once prepared
	process *actor.PID
	timers  [6]timer
	over    bool

	// calls are those of the CLI that have no answer yet, by number.
	calls    map[int64]chan *event.Item
	lastCall int64
	// answering are the answers being taken, refused why the core did not.
	answering *answers
	refused   *event.Failure
	// steers are messages for the CLI that it was not handed yet.
	steers map[event.ID]turn.Steer
	// held is what the process said while the turn waits.
	held []any

	began    time.Time
	reported []string    // files that the CLI says it wrote
	end      *publishing // once it is there
}

func newTurn(h *Host, session *actor.PID, ses *fold.Session, t *fold.Turn, bounds budget.Bounds) *turnActor {
	return &turnActor{host: h, session: session, ses: ses, turn: t, bounds: bounds, leave: make(chan struct{})}
}

func (t *turnActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		self, root := c.Self(), t.host.root
		t.core, t.began = turn.New(t.config()), t.host.now()
		t.step(c, turn.Start{}, func(err error) { root.Send(self, &stored{err}) })
	case *actor.Stopping:
		t.clear()
	case *cancel:
		t.step(c, turn.Cancel{}, nil)
	case *stop:
		t.step(c, turn.Stop{Failure: m.failure}, nil)
	case *hurry:
		t.step(c, turn.Hurry{}, nil)
	case *environmentIs:
		t.step(c, turn.Environment{Status: m.status, Failure: m.failure}, nil)
	case *prepared:
		t.answer = m
		t.ready(c)
	case *stored:
		t.noted(c, m.err)
	case *spawned:
		t.step(c, turn.Spawned{Pid: m.pid}, nil)
	case *spawnFailed:
		t.step(c, turn.SpawnFailed{Failure: m.failure}, nil)
	case *steer:
		if t.steers == nil {
			t.steers = map[event.ID]turn.Steer{}
		}
		t.steers[m.in.Input] = m.in
		t.step(c, m.in, nil)
	case *output, *lineDropped, *outputLimit, *steered:
		if t.core.Waiting() {
			t.held = append(t.held, m) // few: the reader's credits run out
			return
		}
		t.said(c, m)
	case *exited:
		t.unhold(c, true)
		t.step(c, turn.Exited{Exit: m.exit, Facts: m.batch.Facts, Hits: m.hits}, nil)
	case *used:
		t.step(c, turn.Used{CPU: m.usage.CPU, Memory: m.usage.Memory, Processes: m.usage.Processes}, nil)
	case *relayed:
		t.step(c, turn.Metered{Usage: m.usage}, nil)
	case *asked:
		t.asked(c, m)
	case *askedNoMore:
		t.askedNoMore(c, m)
	case *answers:
		t.answers(c, m)
	case *resumed:
		t.step(c, turn.Resumed{}, nil)
	case *gone:
		t.step(c, turn.Gone{}, nil)
	case *artifactsKept:
		t.kept(c, m.notes)
	case *artifactsLate:
		if t.end != nil && t.end.patience.is(m.gen) {
			t.kept(c, []string{"the turn's files were not published: the workspace did not answer in time"})
		}
	case *timerUp:
		if t.timers[m.timer].is(m.gen) {
			t.step(c, turn.Elapsed{Timer: m.timer}, nil)
		}
	}
	t.unhold(c, false)
}

// said takes what the process said.
func (t *turnActor) said(c actor.Context, m any) {
	switch m := m.(type) {
	case *output:
		t.step(c, turn.Output{Facts: m.batch.Facts, First: m.first}, m.release)
		putBatch(m.batch)
	case *lineDropped:
		t.step(c, turn.LineDropped{Bytes: m.bytes}, nil)
	case *outputLimit:
		t.step(c, turn.OutputLimit{Limit: t.job.maxOutput}, nil)
	case *steered:
		if !m.what.Taken {
			t.host.log.Info("message not taken into the running turn", "turn", t.turn.ID, "adapter", t.turn.Settings.Agent.Adapter, "why", m.what.Why)
		}
		t.step(c, turn.Steered{Input: m.what.Input, Taken: m.what.Taken}, nil)
	}
}

// unhold takes what was held, once the turn goes on or nothing more will come.
func (t *turnActor) unhold(c actor.Context, last bool) {
	for len(t.held) > 0 && (last || t.core == nil || !t.core.Waiting()) {
		m := t.held[0]
		t.held = t.held[1:]
		t.said(c, m)
	}
}

// gather is how long calls of one breath wait for one another.
const gather = 100 * time.Millisecond

func (t *turnActor) config() turn.Config {
	l := t.host.cfg.limits
	cfg := turn.Config{
		Turn: t.turn.ID, FirstOutput: uint32(len(t.turn.Input.Items)),
		Gather: gather, ToolTimeout: l.ToolResultTimeout, HostServer: spec.HostServer,
		IdleTimeout: l.IdleTimeout, SettleQuiet: l.SettleQuiet, Linger: l.Linger,
		MaxItemBytes: l.MaxItemBytes, Adapter: t.turn.Settings.Agent.Adapter,
		Environment: event.Environment{ID: t.turn.Settings.Environment.ID, Type: t.turn.Settings.Environment.Type},
		Budgets:     t.bounds, Limits: turn.Limits(t.host.machineLimits(&t.turn.Settings.Agent)),
	}
	if r, err := t.host.runtime(t.turn.Settings.Agent.Adapter); err == nil {
		cfg.Asks = t.host.permissions(r, t.turn.Settings) == spec.Ask
		cfg.Provider = r.provider()
	}
	own := t.host.limits(t.turn.Settings)
	cfg.TurnTimeout = own.TurnTimeout
	if own.IdleTimeout > 0 {
		cfg.IdleTimeout, cfg.IdleAsked = own.IdleTimeout, true
	}
	return cfg
}

// step feeds the core and carries out what it says. release, if any, is called
// once the emitted events are stored.
func (t *turnActor) step(c actor.Context, in turn.Input, release func(error)) {
	if t.over {
		if release != nil {
			release(nil)
		}
		return
	}
	for _, e := range t.core.Step(in, t.host.now().UnixMilli()) {
		switch e := e.(type) {
		case turn.Emit:
			t.emit(c, e.Events, release)
			release = nil
		case turn.Prepare:
			t.prepare(c)
		case turn.Spawn:
			t.spawn(c)
		case turn.Terminate:
			t.tell(c, &terminate{})
		case turn.Kill:
			t.tell(c, &terminate{now: true})
		case turn.Arm:
			timer := e.Timer
			t.timers[timer].arm(c, e.After, func(gen int) any { return &timerUp{timer, gen} })
		case turn.Disarm:
			t.timers[e.Timer].stop()
		case turn.Wait:
			c.Send(t.session, &park{t.turn.ID})
		case turn.Continue:
			c.Send(t.session, &unpark{t.turn.ID})
		case turn.Deliver:
			t.deliver(e)
		case turn.Hand:
			t.hand(c, e.Input)
		case turn.Unsteered:
			delete(t.steers, e.Input)
			c.Send(t.session, &unsteered{t.turn.ID, e.Input})
		case turn.Refuse:
			t.refused = e.Failure
		case turn.Finished:
			t.finish(c)
		}
	}
	if release != nil {
		release(nil)
	}
	if t.core.Settled() {
		t.unwait()
	}
}

// unwait lets go of a preparation that waits for an installation.
func (t *turnActor) unwait() {
	if t.leave != nil {
		close(t.leave)
		t.leave = nil
	}
}

func (t *turnActor) emit(c actor.Context, events []event.Event, release func(error)) {
	if release == nil {
		release = func(error) {}
	}
	own := append(make([]event.Event, 0, len(events)), events...)
	t.reports(own)
	m := &turnEvents{turn: t.turn.ID, events: own, release: release, answers: t.answering}
	t.answering = nil
	if last := len(own) - 1; t.publishes(&own[last]) {
		if last > 0 {
			m.events, m.release, m.more = own[:last:last], func(error) {}, true
			c.Send(t.session, m)
		}
		t.publish(c, own[last], release)
		return
	}
	c.Send(t.session, m)
}

// prepare makes directories and files in a goroutine that answers with prepared.
func (t *turnActor) prepare(c actor.Context) {
	host, self, ses, tu, bounds, leave := t.host, c.Self(), t.ses, t.turn, t.bounds, t.leave
	host.work.Go(func() {
		m := &prepared{}
		m.err = host.provide(tu.Settings.Agent.Adapter, leave, func(status event.EnvironmentStatus, f *event.Failure) {
			host.root.Send(self, &environmentIs{status, f})
		})
		if m.err == nil {
			m.job, m.err = host.prepare(context.Background(), ses, tu, bounds, self)
		}
		host.root.Send(self, m)
	})
}

// noted: the store has the turn's start, or refused it. Only now may anything be
// spawned: a turn that the store thinks queued would be run again after a crash.
func (t *turnActor) noted(c actor.Context, err error) {
	if err != nil {
		f, ok := event.AsFailure(err)
		if !ok {
			f = event.Fail(event.StorageFailed, "the turn's start could not be stored")
		}
		t.step(c, turn.Stop{Failure: f}, nil)
	}
	t.started = true
	t.ready(c)
}

// ready goes on once the start is stored and the preparation has answered.
func (t *turnActor) ready(c actor.Context) {
	m := t.answer
	if m == nil || !t.started {
		return
	}
	t.answer = nil
	if m.err != nil {
		f, ok := event.AsFailure(m.err)
		if !ok {
			f = &event.Failure{Code: event.WorkspaceUnavail, Message: m.err.Error(), Cause: m.err}
		}
		t.step(c, turn.PrepareFailed{Failure: f}, nil)
		return
	}
	t.job = m.job
	if t.over {
		t.dispose()
		return
	}
	t.step(c, turn.Prepared{ExitIsVerdict: t.job.invocation.ExitIsVerdict, Veil: veil{t.job.redact}, Isolation: t.job.told}, nil)
}

func (t *turnActor) spawn(c actor.Context) {
	job, host, self := t.job, t.host, c.Self()
	t.process = c.Spawn(host.props(func() actor.Actor {
		if job.berth != nil {
			return &visitor{host: host, turn: self, job: job}
		}
		return newProcess(host, self, job)
	}))
}

func (t *turnActor) tell(c actor.Context, m any) {
	if t.process != nil {
		c.Send(t.process, m)
	}
}

// finish: nothing of the turn is left.
func (t *turnActor) finish(c actor.Context) {
	if t.over {
		return
	}
	if t.end != nil && t.end.release != nil {
		t.end.finished = true
		return
	}
	t.over = true
	t.dispose()
	c.Send(t.session, &turnFinished{t.turn.ID})
	c.Stop(c.Self())
}

func (t *turnActor) clear() {
	t.over = true
	t.unwait()
	t.end.stop()
	for i := range t.timers {
		t.timers[i].stop()
	}
	t.dispose()
}

// dispose removes the turn's private files.
func (t *turnActor) dispose() {
	if t.job == nil {
		return
	}
	t.job.door.Close()
	t.job.use.End()
	t.job.pass.Release()
	t.job.use, t.job.pass = nil, nil
	job, dir, release := t.job, t.job.dir, t.job.release
	job.dir, job.release = "", nil
	if dir == "" && release == nil {
		return
	}
	t.host.work.Go(func() {
		job.writing.Wait()
		if dir != "" {
			_ = os.RemoveAll(dir)
		}
		if release != nil {
			release()
		}
	})
}
