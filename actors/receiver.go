package actors

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// newSystem starts an actor system that logs through ours and measures nothing.
func newSystem(l *slog.Logger) *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(quietHandler{l.Handler()}) }),
		actor.WithDeadLetterRequestLogging(false),
	)
}

// stopOnPanic never restarts: a crash is an outcome that the parent records, and
// state comes back from the store.
var stopOnPanic = actor.NewOneForOneStrategy(0, time.Second, func(any) actor.Directive { return actor.StopDirective })

// props are the settings of sessions, turns and processes: a panic ends the
// actor.
func (h *Host) props(make func() actor.Actor) *actor.Props {
	return actor.PropsFromProducer(make, actor.WithSupervisor(stopOnPanic), actor.WithReceiverMiddleware(h.guard(true)))
}

// rootProps are those of supervisor and reaper: they lose the message they
// panicked on and go on, because everything hangs on them.
func (h *Host) rootProps(make func() actor.Actor) *actor.Props {
	return actor.PropsFromProducer(make, actor.WithSupervisor(stopOnPanic), actor.WithGuardian(stopOnPanic), actor.WithReceiverMiddleware(h.guard(false)))
}

// guard recovers a panic in a Receive. The panic value is logged, the message is
// not: it may hold a prompt.
func (h *Host) guard(stop bool) actor.ReceiverMiddleware {
	return func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
			defer func() {
				r := recover()
				if r == nil {
					return
				}
				h.log.Error("actor crashed", "actor", c.Self().GetId(), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				h.stats.crashes.Add(1)
				if ctx, ok := c.(actor.Context); ok && stop {
					ctx.Stop(ctx.Self())
				}
			}()
			next(c, env)
		}
	}
}
