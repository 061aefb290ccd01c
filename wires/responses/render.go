package responses

import (
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

// Render gives a batch's frames. It is the render function of fold.ResponsesWire.
func Render(b *fold.Batch) *fold.Frames {
	f := frames{buf: make([]byte, 0, estimate(b))}
	ends := make([]int, len(b.Events))
	for i := range b.Events {
		f.event(&b.Events[i], b.View(i))
		ends[i] = len(f.buf)
	}
	return &fold.Frames{Buf: f.buf, Ends: ends}
}

// estimate is how much a batch's frames take, if few characters are escaped.
func estimate(b *fold.Batch) int {
	size := 0
	for i := range b.Events {
		ev := &b.Events[i]
		size += 260 + len(ev.Text) + len(ev.Text)/16
		switch body := ev.Body.(type) {
		case nil:
		case *event.Item:
			size += 760 + 3*(len(body.Text)+len(body.Text)/16) + len(body.Output) + len(body.Output)/16 + len(body.Command) + len(body.Arguments)
		default:
			size += 1200
		}
		if v := b.View(i); v != nil && v.Turn != nil {
			for _, it := range v.Turn.Items {
				size += 320 + len(it.Text) + len(it.Text)/16 + len(it.Output)
			}
		}
	}
	return size
}

// Parts of items: messages have contents, reasoning has summaries; of ours each
// has one.
const (
	contentIndex = "content_index"
	summaryIndex = "summary_index"
)

// event appends the frames of one event: fold.Steps of it.
func (f *frames) event(ev *event.Event, v *fold.View) {
	f.seq = int64(ev.Step)
	switch ev.Kind {
	case event.InputAccepted, event.TurnStarted, event.TurnEnded, event.TurnWaiting, event.LegStarted, event.TurnResumed:
		if v == nil || v.Turn == nil {
			return
		}
		if part, ok := v.Turn.Part(ev.Leg); ok { // else nobody asked for what comes now
			f.lifecycle(ev, part)
		}
	case event.ItemStarted:
		if it, ok := ev.Body.(*event.Item); ok {
			f.started(ev, it)
		}
	case event.TextDelta:
		f.open("response.output_text.delta")
		f.place(ev, contentIndex)
		f.text("delta", ev.Text)
		f.buf = append(f.buf, `,"logprobs":[]`...)
		f.close()
	case event.ReasoningDelta:
		f.open("response.reasoning_summary_text.delta")
		f.place(ev, summaryIndex)
		f.text("delta", ev.Text)
		f.close()
	case event.ItemDone:
		if it, ok := ev.Body.(*event.Item); ok {
			f.done(ev, it)
		}
	case event.SessionCreated, event.SessionUpdated, event.SessionDeleted, event.NativeSession,
		event.OutputDelta, event.Notice, event.Unknown, event.TurnForgotten, event.Skipped,
		event.CallAnswered, event.SubagentStarted, event.SubagentItem, event.ItemsPosted, event.ItemRemoved,
		event.BudgetHit, event.EnvironmentChanged, event.InputSteered:
		// not on this wire
	}
}

func (f *frames) lifecycle(ev *event.Event, t *fold.Turn) {
	response := Of(t)
	switch {
	case ev.Kind == event.InputAccepted:
		f.object("response.created", response)
		if t.Input.Waiting {
			f.object("response.queued", response)
		}
	case ev.Kind == event.LegStarted:
		f.object("response.created", response)
	case ev.Kind == event.TurnStarted, ev.Kind == event.TurnResumed:
		f.object("response.in_progress", response)
	case t.Status == fold.Completed:
		f.object("response.completed", response)
	case status(t) == "failed":
		f.object("response.failed", response)
	default: // stopped at a limit, or cancelled
		f.object("response.incomplete", response)
	}
}

func (f *frames) started(ev *event.Event, it *event.Item) {
	const added = "response.output_item.added"
	switch it.Type {
	case event.Message:
		f.item(added, ev, it)
		f.open("response.content_part.added")
		f.place(ev, contentIndex)
		f.name("part")
		f.buf = appendText(f.buf, emptyText)
		f.close()
	case event.Reasoning:
		f.item(added, ev, it)
		f.open("response.reasoning_summary_part.added")
		f.place(ev, summaryIndex)
		f.name("part")
		f.buf = appendSummary(f.buf, emptyText)
		f.close()
	case event.WebSearch:
		f.item(added, ev, it)
		f.bare("response.web_search_call.in_progress", ev)
		f.bare("response.web_search_call.searching", ev)
	case event.FunctionCall:
		f.function(ev, it)
	case event.Approval:
		f.item(added, ev, it)
		f.item("response.output_item.done", ev, it)
	default:
		c := callOf(it, it.ID.With(event.PrefixItem), it.Status.String())
		args := c.Arguments
		c.Arguments = "" // they follow
		f.value(added, ev, c)
		f.bare("response.mcp_call.in_progress", ev)
		f.open("response.mcp_call_arguments.delta")
		f.place(ev, "")
		f.text("delta", args)
		f.close()
		f.open("response.mcp_call_arguments.done")
		f.place(ev, "")
		f.text("arguments", args)
		f.close()
	}
}

// function asks the caller for a call: to this wire the item is complete with that.
func (f *frames) function(ev *event.Event, it *event.Item) {
	whole, ok := outputItem(it).(functionCall)
	if !ok {
		return
	}
	opened := whole
	opened.Status, opened.Arguments = event.InProgress.String(), "" // they follow
	f.value("response.output_item.added", ev, opened)
	f.open("response.function_call_arguments.delta")
	f.place(ev, "")
	f.text("delta", whole.Arguments)
	f.close()
	f.open("response.function_call_arguments.done")
	f.place(ev, "")
	f.text("arguments", whole.Arguments)
	f.text("name", whole.Name)
	f.close()
	f.value("response.output_item.done", ev, whole)
}

func (f *frames) done(ev *event.Event, it *event.Item) {
	from, to := 0, 0 // of the text in the frames so far: it is escaped once
	switch it.Type {
	case event.Message:
		f.open("response.output_text.done")
		f.place(ev, contentIndex)
		from, to = f.text("text", it.Text)
		f.buf = append(f.buf, `,"logprobs":[]`...)
		f.close()
		f.open("response.content_part.done")
		f.place(ev, contentIndex)
		f.name("part")
		f.buf = appendText(f.buf, f.buf[from:to])
		f.close()
	case event.Reasoning:
		f.open("response.reasoning_summary_text.done")
		f.place(ev, summaryIndex)
		from, to = f.text("text", it.Text)
		f.close()
		f.open("response.reasoning_summary_part.done")
		f.place(ev, summaryIndex)
		f.name("part")
		f.buf = appendSummary(f.buf, f.buf[from:to])
		if it.Status != event.Done {
			f.text("status", "incomplete")
		}
		f.close()
	case event.WebSearch:
		if it.Status == event.Done { // the wire has no event for a search that failed
			f.bare("response.web_search_call.completed", ev)
		}
	case event.FunctionCall, event.Approval:
		return // done when it was asked
	default:
		if it.Status == event.Done && !toolFailed(it) {
			f.bare("response.mcp_call.completed", ev)
		} else {
			f.bare("response.mcp_call.failed", ev)
		}
	}
	f.opened("response.output_item.done", ev)
	f.buf = appendItem(f.buf, it, f.buf[from:to])
	f.close()
}
