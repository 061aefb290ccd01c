package fold_test

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

// A subagent's work is kept beside the turn's items, in its order, and a view of it
// does not grow with it.
func TestSubagentsAreKeptBesideTheItems(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	j.accept(a, event.Input{})
	j.start(a)
	call := j.open(a, event.Subagent)
	began := j.views[len(j.views)-1]
	want(t, "turn of its beginning", began.Turn == nil, true)
	want(t, "opened", began.Subagent.Opened, j.clock)
	theirs := func(kind event.Kind, it event.Item) {
		it.Parent = call.ID
		j.add(event.Event{Kind: kind, Turn: a, Item: it.ID, Body: &it})
	}
	inner := event.Item{ID: j.next(a), Type: event.Subagent, Status: event.InProgress}
	theirs(event.SubagentItem, event.Item{ID: j.next(a), Type: event.Message, Status: event.Done, User: true, Text: "look"})
	theirs(event.SubagentStarted, inner)
	theirs(event.SubagentItem, event.Item{ID: j.next(a), Type: event.Message, Status: event.Done, Text: "looking"})
	running, _ := j.state.Turn(a)
	want(t, "items of the turn", len(running.Items), 1)
	want(t, "subagents", running.SubagentCount, 2)
	want(t, "the inner call", running.Subagents[0].Items[1].Status, event.InProgress)

	inner.Status = event.ItemFailed
	theirs(event.SubagentItem, inner)
	want(t, "closed by", j.views[len(j.views)-1].Subagent.Closed, j.clock)
	call.Output = "found"
	j.done(a, call)
	v := j.end(a, event.End{Outcome: event.Completed})
	sub := v.Turn.FindSubagent(call.ID)
	want(t, "its items", len(sub.Items), 3)
	want(t, "the inner call at the end", sub.Items[1].Status, event.ItemFailed)
	want(t, "its report", sub.Call.Output, "found")
	want(t, "the earlier view", []any{len(began.Subagent.Items), began.Subagent.Closed, len(running.Subagents[0].Items), running.Subagents[0].Items[1].Status},
		[]any{0, 0, 3, event.InProgress})
	want(t, "no such", v.Turn.FindSubagent(a) == nil, true)
}
