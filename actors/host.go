package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/endpoint"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/queue"
	"github.com/agenthost/agenthost/actors/relay"
	"github.com/agenthost/agenthost/actors/secret"
	"github.com/agenthost/agenthost/actors/store"
	"github.com/agenthost/agenthost/actors/store/memory"
	"github.com/asynkron/protoactor-go/actor"
)

// Host is the whole engine as an embedder holds it. Its methods are safe for
// concurrent use and work between Start and Stop.
type Host struct {
	cfg       config
	log       *slog.Logger
	store     store.Store
	id        event.ID // new with every Host: owner of sessions, boot of markers
	stateID   string   // of the state directory
	runtimes  *runtimes
	keys      keyring
	redactors redactors
	files     fileRoom
	endpoint  *endpoint.Server
	relays    *relay.Server
	artifacts artifactRoom
	agents    agentCount
	bag       *secret.Bag // header values of callers' MCP servers
	evictor   evictor

	system     *actor.ActorSystem
	root       *actor.RootContext
	supervisor *actor.PID
	reaper     *actor.PID
	runners    *actor.PID
	installers *actor.PID
	installs   map[string]*installSlot // by adapter; fixed after New
	number     atomic.Int64
	stats      stats
	// held is what the supervisor's ledger says of budgets beyond a session's own.
	held    atomic.Pointer[budget.Held]
	work    tasks // goroutines that report to an actor
	learned learned
	crew    crew // does that work, and the actors'
	made    time.Time
	line    atomic.Pointer[lineup] // as it was last put in order
	// agentTurns are the agents with a bound of their own, by agentKey.
	agentTurns map[string]int
	rates      struct {
		mu sync.Mutex
		of queue.Rates
	}

	mu                       sync.Mutex
	state                    hostState
	stopped                  chan struct{} // closed when Stop has ended
	stopErr                  error
	quit                     chan struct{} // closed when the actors that answer are gone
	gaugeEnd                 chan struct{}
	supervisorEnd, reaperEnd chan struct{}
	runnersEnd, installEnd   chan struct{}
}

type hostState uint8

const (
	hostNew hostState = iota
	hostRunning
	hostStopping
	hostStopped
)

// New checks the options and returns a Host that does nothing yet. It reports
// all faults at once.
func New(opts ...Option) (*Host, error) {
	var c config
	for _, o := range opts {
		o(&c)
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("agenthost: %w", err)
	}
	c.fill()
	c.hide()
	h := &Host{
		cfg: c, log: c.logger, id: event.NewID(), bag: secret.NewBag(c.limits.MaxSecretBytes),
		stopped: make(chan struct{}), quit: make(chan struct{}), gaugeEnd: make(chan struct{}),
	}
	h.made, h.agentTurns = time.Now(), h.cfg.rules().Agents
	h.work.crew = &h.crew
	h.store = h.cfg.store
	h.endpoint, h.relays = endpoint.New(), relay.New()
	h.runtimes = newRuntimes(&h.cfg)
	h.installs = map[string]*installSlot{}
	for _, r := range h.runtimes.list {
		h.installs[r.Adapter.Name()] = newInstallSlot()
	}
	var err error
	if h.runtimes.certificates, err = readCertificates(cmp.Or(c.certificates, c.stateDir)); err != nil {
		h.log.Warn("certificates of CLIs cannot be read", "error", err)
	}
	return h, nil
}

// now is the wall clock.
func (h *Host) now() time.Time { return h.cfg.clock() }

// unreadable is why a host does not start: what it keeps of all sessions together is
// damaged, or does not answer.
func unreadable(err error) error {
	if errors.Is(err, store.ErrCorrupt) {
		return fmt.Errorf("agenthost: read the store: %w; agenthost store repair keeps what can be read", err)
	}
	return fmt.Errorf("agenthost: read the store: %w", err)
}

// Start opens the state directory, ends what an earlier host left running, and
// takes up the stored sessions that have work. The context bounds that.
func (h *Host) Start(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != hostNew {
		return errors.New("agenthost: Start was called before, or Stop was")
	}
	if err := h.openState(); err != nil {
		return err
	}
	if h.store == nil {
		h.store = memory.New()
	}
	if err := errors.Join(h.openFiles(ctx), h.openArtifacts(ctx)); err != nil {
		return err
	}
	if h.store.Uncertain() {
		h.log.Warn("the machine went down while the store was open; running turns may have lost their last text, and the cursors of what is lost are not used again")
	}
	n, err := h.store.NextNumber(ctx)
	if err != nil {
		return unreadable(err)
	}
	h.number.Store(n - 1)
	ledger, err := h.openLedger(ctx)
	if err != nil {
		return unreadable(err)
	}
	left := h.available()
	h.stats.lowDisk.Store(h.store.Room() != nil)
	h.group()
	if killed, err := process.SweepMarked(h.stateID+"/", func(marker string) bool { return false }); err != nil {
		h.log.Warn("could not look for processes of an earlier run", "error", err)
	} else if killed > 0 {
		h.stats.orphans.Add(int64(killed))
		h.log.Warn("ended what an earlier run left behind", "processes", killed)
	}
	active, err := h.store.ActiveSessions(ctx)
	if err != nil {
		return unreadable(err)
	}
	if h.cfg.warden != nil {
		h.cfg.warden.Watch(h.markers(), h.cfg.cgroups.Dir())
	}
	h.system = newSystem(h.log)
	h.root = h.system.Root
	h.supervisorEnd, h.reaperEnd = make(chan struct{}), make(chan struct{})
	h.reaper = h.root.Spawn(h.rootProps(func() actor.Actor { return &watched{&reaper{host: h, trees: map[string]*tree{}}, h.reaperEnd} }))
	h.runnersEnd = make(chan struct{})
	h.runners = h.root.Spawn(h.rootProps(func() actor.Actor { return &watched{newRunners(h), h.runnersEnd} }))
	h.installEnd = make(chan struct{})
	h.installers = h.root.Spawn(h.rootProps(func() actor.Actor { return &watched{newInstallers(h), h.installEnd} }))
	h.supervisor = h.root.Spawn(h.rootProps(func() actor.Actor { return &watched{newSupervisor(h, ledger, left), h.supervisorEnd} }))
	for _, s := range active {
		h.root.Send(h.supervisor, &toSession{s.ID, &wake{}})
	}
	go h.gauge()
	h.state = hostRunning
	return nil
}

// watched tells when a root actor and everything below it has stopped: the
// library's own wait gives up after ten seconds.
type watched struct {
	actor.Actor
	ended chan struct{}
}

func (a *watched) Receive(c actor.Context) {
	a.Actor.Receive(c)
	if _, ok := c.Message().(*actor.Stopped); ok {
		close(a.ended)
	}
}

// Stop refuses new work, lets running turns end until ctx does, ends the others
// as failed with server_stopped, ends the streams, and waits for everything the
// Host started. Queued turns stay in the store. A second call waits for the
// first and returns the same.
func (h *Host) Stop(ctx context.Context) error {
	h.mu.Lock()
	switch h.state {
	case hostNew:
		h.state = hostStopped
		close(h.stopped)
		if h.store != nil {
			h.stopErr = h.store.Close()
		}
		h.mu.Unlock()
		return h.stopErr
	case hostRunning:
		h.state = hostStopping
		h.mu.Unlock()
		h.stopErr = h.shutdown(ctx)
		close(h.stopped)
		return h.stopErr
	}
	h.mu.Unlock()
	<-h.stopped
	return h.stopErr
}

func (h *Host) shutdown(ctx context.Context) error {
	done := make(chan struct{})
	h.root.Send(h.supervisor, &drain{done})
	select {
	case <-done:
	case <-ctx.Done():
		h.root.Send(h.supervisor, &halt{})
		// Bounded by the kill ladder, which every turn of ours ends with.
		<-done
	}
	h.root.Send(h.supervisor, &endStreams{event.Fail(event.ShuttingDown, "the server is shutting down; come back with the last cursor")})
	close(h.gaugeEnd)
	h.root.Poison(h.supervisor)
	<-h.supervisorEnd
	close(h.quit) // who still waits for an answer waits in vain
	h.work.wait()
	h.root.Poison(h.installers)
	<-h.installEnd
	h.root.Poison(h.runners)
	<-h.runnersEnd
	h.work.wait()
	h.root.Poison(h.reaper)
	<-h.reaperEnd
	h.work.wait()
	h.system.Shutdown()
	h.crew.end()
	if h.cfg.cgroups != nil {
		h.cfg.cgroups.Close()
	}
	return errors.Join(h.endpoint.Close(context.Background()), h.relays.Close(context.Background()), h.store.Close())
}

// usable refuses calls before Start; after Stop the store refuses them.
func (h *Host) usable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == hostNew || h.supervisor == nil {
		return event.Fail(event.ShuttingDown, "the host was not started")
	}
	return nil
}

// Draining reports whether new work is refused.
func (h *Host) Draining() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state != hostRunning
}

// StoreFatal is closed when the store can no longer keep its promises; the
// program should then end with an exit code of its own, and StoreErr says why. It
// is nil, which never closes, before Start.
func (h *Host) StoreFatal() <-chan struct{} {
	if h.usable() != nil {
		return nil
	}
	return h.store.Fatal()
}

// StoreErr is why the store failed.
func (h *Host) StoreErr() error {
	if h.usable() != nil {
		return nil
	}
	return h.store.Err()
}

// ended counts and logs a turn, one line each.
func (h *Host) ended(v *fold.View) {
	t := v.Turn
	h.forgetValues(t)
	started := t.Started
	if started == 0 { // it waited until its end
		started = t.Ended
	}
	attrs := []any{
		"session", t.Session, "turn", t.ID, "adapter", t.Settings.Agent.Adapter, "outcome", t.End.Outcome.String(),
		"queued_ms", max(0, started-t.Created), "ran_ms", max(0, t.Ended-started),
	}
	switch t.End.Outcome {
	case event.Completed:
		h.stats.completed.Add(1)
	case event.Cancelled:
		h.stats.cancelled.Add(1)
	default:
		h.stats.failed.Add(1)
		if t.End.Failure != nil {
			attrs = append(attrs, "code", string(t.End.Failure.Code))
		}
	}
	h.log.Info("turn ended", attrs...)
}
