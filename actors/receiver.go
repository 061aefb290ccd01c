package actors

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// newSystem starts an actor system that logs through ours and measures nothing. The
// library counts dead letters in a goroutine that it leaves behind for as long as
// the interval is.
func newSystem(l *slog.Logger) *actor.ActorSystem {
	sys := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(quietHandler{l.Handler()}) }),
		actor.WithDeadLetterRequestLogging(false), actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
	fewerShards(sys.ProcessRegistry.LocalPIDs)
	return sys
}

// registryBuckets is how many of the registry's 1,024 buckets are used; it divides
// them. Each has 32 maps of its own, and a map that once held an actor never gives its
// room back: with all of them a server grows by megabytes over its first tens of
// thousands of actors.
const registryBuckets = 16

// fewerShards is for before the first actor; what the library itself has registered
// moves along. A key's bucket is its hash modulo their number.
func fewerShards(m *actor.SliceMap) {
	few := slices.Clone(m.LocalPIDs[:registryBuckets])
	for i, bucket := range m.LocalPIDs[registryBuckets:] {
		for key, process := range bucket.Items() {
			few[i%registryBuckets].Set(key, process)
		}
	}
	m.LocalPIDs = few
}

// stopOnPanic never restarts: a crash is an outcome that the parent records, and
// state comes back from the store.
var stopOnPanic = actor.NewOneForOneStrategy(0, time.Second, func(any) actor.Directive { return actor.StopDirective })

// props are the settings of sessions, turns and processes: a panic ends the
// actor.
func (h *Host) props(make func() actor.Actor) *actor.Props {
	return actor.PropsFromProducer(h.guard(make, true), actor.WithDispatcher(&h.crew), actor.WithMailbox(newMailbox), actor.WithSupervisor(stopOnPanic))
}

// rootProps are those of supervisor and reaper: they lose the message they
// panicked on and go on, because everything hangs on them.
func (h *Host) rootProps(make func() actor.Actor) *actor.Props {
	return actor.PropsFromProducer(h.guard(make, false), actor.WithDispatcher(&h.crew), actor.WithMailbox(newMailbox), actor.WithSupervisor(stopOnPanic), actor.WithGuardian(stopOnPanic))
}

// crasher is an actor that has something to do before it stops of a panic: it
// sees to its end itself.
type crasher interface{ crash(actor.Context) }

// guard puts a shielded in front of each actor that make gives.
func (h *Host) guard(make func() actor.Actor, mortal bool) actor.Producer {
	return func() actor.Actor { return &shielded{actor: make(), host: h, mortal: mortal} }
}

// shielded recovers a panic in an actor's Receive. A mortal one is over then: it stops,
// or is told if it is a crasher; a plain one gets no further message but the library's
// own. The panic value is logged, the message is not: it may hold a prompt.
//
// It is no middleware of the library's: that costs each actor some objects for as long
// as it lives, and each message one.
type shielded struct {
	actor        actor.Actor // nil once it has stopped
	host         *Host
	mortal, over bool
}

func (g *shielded) Receive(c actor.Context) {
	if g.actor == nil || g.over && !systemMessage(c.Message()) {
		return
	}
	switch c.Message().(type) {
	case *actor.Started:
		g.host.stats.actors.Add(1)
	case *actor.Stopped:
		g.host.stats.actors.Add(-1)
		// The library may hold on to a stopped actor for as long as its parent lives;
		// what it knew must not be held with it.
		defer func() { g.actor = nil }()
	}
	defer func() {
		if r := recover(); r != nil {
			g.fell(c, r)
		}
	}()
	g.actor.Receive(c)
}

// fell is what is done after a panic.
func (g *shielded) fell(c actor.Context, cause any) {
	g.host.log.Error("actor crashed", "actor", c.Self().GetId(), "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
	g.host.stats.crashes.Add(1)
	if !g.mortal {
		return
	}
	if a, ok := g.actor.(crasher); ok && !g.over {
		g.over = !g.host.tried(func() { a.crash(c) })
	} else {
		g.over = true
	}
	if g.over {
		c.Stop(c.Self())
	}
}

// tried reports whether f came to its end.
func (h *Host) tried(f func()) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			h.log.Error("crash handler crashed", "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
		}
	}()
	f()
	return true
}

func systemMessage(m any) bool {
	switch m.(type) {
	case *actor.Started, *actor.Stopping, *actor.Stopped, *actor.Terminated:
		return true
	}
	return false
}
