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
	return actor.PropsFromProducer(make, actor.WithDispatcher(&h.crew), actor.WithSupervisor(stopOnPanic), actor.WithReceiverMiddleware(h.guard(true)))
}

// rootProps are those of supervisor and reaper: they lose the message they
// panicked on and go on, because everything hangs on them.
func (h *Host) rootProps(make func() actor.Actor) *actor.Props {
	return actor.PropsFromProducer(make, actor.WithDispatcher(&h.crew), actor.WithSupervisor(stopOnPanic), actor.WithGuardian(stopOnPanic), actor.WithReceiverMiddleware(h.guard(false)))
}

// crasher is an actor that has something to do before it stops of a panic: it
// sees to its end itself.
type crasher interface{ crash(actor.Context) }

// guard recovers a panic in a Receive. With stop the actor is over: it stops, or is
// told if it is a crasher; a plain one gets no further message but the library's
// own. The panic value is logged, the message is not: it may hold a prompt.
func (h *Host) guard(stop bool) actor.ReceiverMiddleware {
	return func(next actor.ReceiverFunc) actor.ReceiverFunc {
		over := false // this actor's alone: props are made for each spawn
		return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
			if over && !systemMessage(env.Message) {
				return
			}
			switch env.Message.(type) {
			case *actor.Started:
				h.stats.actors.Add(1)
			case *actor.Stopped:
				h.stats.actors.Add(-1)
			}
			defer func() {
				r := recover()
				if r == nil {
					return
				}
				h.log.Error("actor crashed", "actor", c.Self().GetId(), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				h.stats.crashes.Add(1)
				ctx, ok := c.(actor.Context)
				if !ok || !stop {
					return
				}
				if a, ok := c.Actor().(crasher); ok && !over {
					over = !h.tried(func() { a.crash(ctx) })
				} else {
					over = true
				}
				if over {
					ctx.Stop(ctx.Self())
				}
			}()
			next(c, env)
		}
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
