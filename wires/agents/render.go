package agents

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

// Render gives a batch's frames: one `event:` and one `data:` line and a blank
// one for each event of the wire. It never writes `id:` or `retry:` lines, which
// break official decoders. It is the render function of fold.AgentsWire.
func Render(b *fold.Batch) *fold.Frames {
	r := renderer{framer{buf: make([]byte, 0, estimate(b)), session: b.Session}}
	ends := make([]int, len(b.Events))
	for i := range b.Events {
		r.render(&b.Events[i], b.View(i))
		ends[i] = len(r.buf)
	}
	return &fold.Frames{Buf: r.buf, Ends: ends}
}

// estimate is how much a batch's frames take, at least for deltas.
func estimate(b *fold.Batch) int {
	n := 0
	for i := range b.Events {
		ev := &b.Events[i]
		n += 380 + len(ev.Text) + len(ev.Text)/16
		switch body := ev.Body.(type) {
		case nil:
		case *event.Item:
			n += 900 + 3*(len(body.Text)+len(body.Text)/16) + len(body.Output) + len(body.Output)/16 + len(body.Command) + len(body.Arguments)
		default:
			n += 1600
		}
	}
	return n
}

type renderer struct{ framer }

// render appends the frames of one event; v is its view, nil for events that
// have none.
func (r *renderer) render(ev *event.Event, v *fold.View) {
	r.event(ev.Seq)
	switch ev.Kind {
	case event.SessionCreated, event.SessionUpdated:
		// A conversation of the other wire begins here with its agent; of updates only
		// that one has a view.
		if v != nil && v.Session.Settings != nil && v.Session.Settings.Settled() {
			r.sessionFrame("agent.session.created", v)
		}
	case event.InputAccepted:
		r.accepted(ev, v)
	case event.TurnStarted:
		if v != nil && v.Turn != nil {
			r.turnFrame("agent.session.turn.in_progress", v)
		}
	case event.ItemStarted:
		r.started(ev)
		r.subagent("agent.session.subagent.created", v)
	case event.SubagentStarted:
		r.subagent("agent.session.subagent.created", v)
	case event.TextDelta:
		r.open("agent.session.turn.output_text.delta")
		r.itemPlace(ev)
		r.number("content_index", 0)
		r.text("delta", ev.Text)
		r.close()
	case event.ReasoningDelta:
		r.open("agent.session.turn.reasoning_summary_text.delta")
		r.itemPlace(ev)
		r.number("summary_index", 0)
		r.text("delta", ev.Text)
		r.close()
	case event.OutputDelta:
		r.open("agent.output.command_execution_output.delta")
		r.itemPlace(ev)
		r.text("delta", ev.Text)
		r.close()
	case event.ItemDone:
		r.subagent("agent.session.subagent.closed", v)
		r.done(ev)
	case event.TurnWaiting:
		r.waiting(v)
	case event.CallAnswered:
		r.answered(ev)
	case event.InputSteered: // on its way to the agent it is nowhere yet
		if in, ok := ev.Body.(*event.Input); ok && in.Taken {
			r.said(ev.Turn, in.Items)
		}
	case event.LegStarted:
		if v != nil {
			r.sessionFrame("agent.session.in_progress", v)
		}
	case event.SubagentItem: // what a subagent did is read at its own routes
		r.subagent("agent.session.subagent.closed", v)
	case event.TurnEnded:
		r.ended(ev, v)
	case event.BudgetHit:
		r.budget(ev, v)
	case event.EnvironmentChanged:
		r.environment(ev)
	case event.SessionDeleted, event.NativeSession, event.Notice, event.Unknown, event.TurnForgotten,
		event.Skipped, event.TurnResumed:
		// kept in the journal, not on this wire
	}
}

func (r *renderer) accepted(ev *event.Event, v *fold.View) {
	in, ok := ev.Body.(*event.Input)
	if !ok || v == nil || v.Turn == nil {
		return
	}
	if in.WasIdle {
		r.sessionFrame("agent.session.in_progress", v)
	}
	r.turnFrame("agent.session.turn.created", v)
	r.said(ev.Turn, in.Items)
}

// said tells what a caller said in a turn.
func (r *renderer) said(turn event.ID, items []*event.Item) {
	for _, it := range items {
		r.open("agent.session.turn.item.added")
		r.place(turn)
		r.null("output_index")
		r.item(turn, it, nil)
		r.close()
	}
}

func (r *renderer) started(ev *event.Event) {
	it, ok := ev.Body.(*event.Item)
	if !ok || !shows(it) {
		return
	}
	r.itemFrame("agent.session.turn.item.added", ev, it, nil)
	switch it.Type {
	case event.Message:
		r.open("agent.session.turn.content_part.added")
		r.itemPlace(ev)
		r.number("content_index", 0)
		r.part("output_text", emptyText)
		r.close()
	case event.Reasoning:
		r.open("agent.session.turn.reasoning_summary_part.added")
		r.itemPlace(ev)
		r.number("summary_index", 0)
		r.part("summary_text", emptyText)
		r.close()
	}
}

func (r *renderer) done(ev *event.Event) {
	it, ok := ev.Body.(*event.Item)
	if !ok || !shows(it) {
		return
	}
	from, to := 0, 0 // of the text in the frames so far: it is escaped once
	switch it.Type {
	case event.Message:
		r.open("agent.session.turn.output_text.done")
		r.itemPlace(ev)
		r.number("content_index", 0)
		from, to = r.text("text", it.Text)
		r.close()
		r.open("agent.session.turn.content_part.done")
		r.itemPlace(ev)
		r.number("content_index", 0)
		r.part("output_text", r.buf[from:to])
		r.close()
	case event.Reasoning:
		r.open("agent.session.turn.reasoning_summary_text.done")
		r.itemPlace(ev)
		r.number("summary_index", 0)
		from, to = r.text("text", it.Text)
		r.close()
		r.open("agent.session.turn.reasoning_summary_part.done")
		r.itemPlace(ev)
		r.number("summary_index", 0)
		r.part("summary_text", r.buf[from:to])
		if it.Status == event.Done {
			r.null("status")
		} else {
			r.text("status", event.Incomplete.String())
		}
		r.close()
	}
	r.itemFrame("agent.session.turn.item.done", ev, it, r.buf[from:to])
}

func (r *renderer) ended(ev *event.Event, v *fold.View) {
	end, ok := ev.Body.(*event.End)
	if !ok || v == nil || v.Turn == nil {
		return
	}
	switch end.Outcome {
	case event.Completed:
		r.turnFrame("agent.session.turn.completed", v)
	case event.Cancelled:
		r.turnFrame("agent.session.turn.cancelled", v)
	default:
		r.turnFrame("agent.session.turn.failed", v)
	}
	switch legs := v.Turn.Legs; {
	case end.Idle:
		r.sessionFrame("agent.session.idle", v)
	case len(legs) > 0 && legs[len(legs)-1].Ended > 0: // it no longer requires an action
		r.sessionFrame("agent.session.in_progress", v)
	}
}

// subagent tells of one that began or ended, if the event's view has one.
func (r *renderer) subagent(kind string, v *fold.View) {
	if v == nil || v.Subagent == nil {
		return
	}
	r.open(kind)
	r.object("subagent", subagentObject(&v.Session, v.Subagent))
	r.close()
}

// budget tells a caller that keeps a budget of the session that it is used up. To
// others the session is idle, as nothing runs.
func (r *renderer) budget(ev *event.Event, v *fold.View) {
	b, ok := ev.Body.(*event.Budget)
	if !ok || v == nil {
		return
	}
	asked := v.Session.Settings != nil && v.Session.Settings.SpendControl.Asked
	switch {
	case b.Lifted && v.Session.Open > 0:
		r.sessionFrame("agent.session.in_progress", v)
	case b.Lifted || !asked:
		r.sessionFrame("agent.session.idle", v)
	default:
		r.sessionFrame("agent.session.budget_reached", v)
	}
}

// environment tells how it stands with what a turn waits for.
func (r *renderer) environment(ev *event.Event) {
	e, ok := ev.Body.(*event.Environment)
	if !ok {
		return
	}
	kind, ok := environmentFrames[e.Status]
	if !ok { // a newer writer's
		return
	}
	r.open(kind)
	r.object("environment", environmentState(e))
	r.place(ev.Turn)
	r.close()
}

var environmentFrames = map[event.EnvironmentStatus]string{
	event.EnvironmentPending: "agent.session.environment.pending",
	event.EnvironmentReady:   "agent.session.environment.ready",
	event.EnvironmentFailed:  "agent.session.environment.failed",
}

func (r *renderer) sessionFrame(kind string, v *fold.View) {
	r.open(kind)
	r.object("session", sessionObject(&v.Session))
	r.close()
}

// turnFrame writes a frame with the turn; the terminal ones have its usage too.
func (r *renderer) turnFrame(kind string, v *fold.View) {
	turn := turnObject(&v.Session, v.Turn)
	r.open(kind)
	r.place(v.Turn.ID)
	r.object("turn", turn)
	if v.Turn.Status.Ended() {
		r.object("usage", turn.Usage)
	}
	r.close()
}

func (r *renderer) itemFrame(kind string, ev *event.Event, it *event.Item, text []byte) {
	r.open(kind)
	r.place(ev.Turn)
	r.number("output_index", int64(ev.Index))
	r.item(ev.Turn, it, text)
	r.close()
}
