package actors

import (
	"context"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/outputs"
	"github.com/asynkron/protoactor-go/actor"
)

// Messages of a turn about its artifacts.
type (
	// artifactsKept says that the turn's files are published, and what was left out.
	artifactsKept struct{ notes []string }
	// artifactsLate says that it is not waited for them any longer.
	artifactsLate struct{ gen int }
)

// publishing is the end of a completed turn that waits until its artifacts are
// kept: a caller who has seen the end finds them.
type publishing struct {
	end      event.Event
	release  func(error)
	giveUp   context.CancelFunc
	patience timer
	finished bool // nothing else of the turn is left
}

// lateness is how much longer the turn waits than its files are collected: a
// workspace may lie on a disk that does not answer.
const lateness = 2 * time.Second

// maxReported bounds the files that a turn remembers.
const maxReported = 10_000

// reports remembers the files that events say were written.
func (t *turnActor) reports(events []event.Event) {
	for i := range events {
		it, ok := events[i].Body.(*event.Item)
		if !ok || events[i].Kind != event.ItemDone || it.Type != event.FileChange || it.Status != event.Done {
			continue
		}
		for _, change := range it.Changes {
			if change.Kind != "delete" && len(t.reported) < maxReported {
				t.reported = append(t.reported, change.Path)
			}
		}
	}
}

// publishes says that an event ends a turn whose files are published.
func (t *turnActor) publishes(ev *event.Event) bool {
	end, ok := ev.Body.(*event.End)
	return ok && end.Outcome == event.Completed && t.job != nil && t.end == nil
}

// publish holds the turn's end back until its files are kept, by a goroutine that
// answers with artifactsKept.
func (t *turnActor) publish(c actor.Context, end event.Event, release func(error)) {
	host, self, patience := t.host, c.Self(), t.host.cfg.limits.PublishTimeout
	gone, giveUp := context.WithCancel(context.Background())
	t.end = &publishing{end: end, release: release, giveUp: giveUp}
	t.end.patience.arm(c, patience+lateness, func(gen int) any { return &artifactsLate{gen} })
	settings := t.turn.Settings
	dir, private := host.workspace(settings)
	v := &harvest{
		owner: t.ses.Owner, session: t.ses.ID, turn: t.turn.ID, environment: settings.Environment.ID,
		order: outputs.Order{Workspace: dir, Private: private, Reported: t.reported, Since: t.began},
	}
	session := t.session
	host.work.Go(func() {
		var notes []string
		if v.order.Any() {
			host.root.Send(session, &goOn{}) // it may take a while
			ctx, cancel := context.WithTimeout(gone, patience)
			defer cancel()
			notes = host.publish(ctx, gone, v)
		}
		host.root.Send(self, &artifactsKept{notes})
	})
}

// kept lets the turn's end go on.
func (t *turnActor) kept(c actor.Context, notes []string) {
	p := t.end
	if p == nil || p.release == nil {
		return
	}
	p.patience.stop()
	p.giveUp()
	events := make([]event.Event, 0, len(notes)+1)
	for _, n := range notes {
		events = append(events, event.Event{Kind: event.Notice, Turn: t.turn.ID, Text: n})
	}
	c.Send(t.session, &turnEvents{turn: t.turn.ID, events: append(events, p.end), release: p.release})
	p.release = nil
	if p.finished {
		t.finish(c)
	}
}

// stop ends the wait of a turn that stops.
func (p *publishing) stop() {
	if p == nil || p.release == nil {
		return
	}
	p.patience.stop()
	p.giveUp()
	p.release(nil)
	p.release = nil
}
