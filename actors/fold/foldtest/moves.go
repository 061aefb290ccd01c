package foldtest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agenthost/agenthost/actors/event"
	"pgregory.net/rapid"
)

// move is one thing that can happen in a session.
type move struct {
	can func(*History) bool
	do  func(*History)
}

func busy(h *History) bool { return !h.running.IsZero() }
func runs(h *History) bool { return busy(h) && !h.waiting }

// speaks: a CLI that asked its caller does nothing else before the turn waits.
func speaks(h *History) bool    { return runs(h) && len(h.asked) == 0 }
func waits(h *History) bool     { return h.waiting }
func any1(*History) bool        { return true }
func hasOpen(h *History) bool   { return len(h.open) > 0 }
func hasQueued(h *History) bool { return len(h.queued) > 0 }

// moves are all of them; one that is wanted more often stands here more often.
var moves = []move{
	{func(h *History) bool { return !h.held && len(h.queued) < 3 && len(h.Turns) < 100 }, (*History).accept},
	{func(h *History) bool { return !busy(h) && !h.held && hasQueued(h) }, (*History).start},
	{func(h *History) bool { return !busy(h) && !h.held && hasQueued(h) }, (*History).start},
	{hasQueued, (*History).cancelQueued},
	{speaks, (*History).begin},
	{speaks, (*History).begin},
	{hasOpen, (*History).piece},
	{hasOpen, (*History).piece},
	{hasOpen, (*History).piece},
	{hasOpen, (*History).finish},
	{hasOpen, (*History).finish},
	{runs, (*History).aside},
	{func(h *History) bool { return speaks(h) && len(h.calls) > 0 }, (*History).theirs},
	{func(h *History) bool { return speaks(h) && len(h.calls) > 0 }, (*History).nest},
	{func(h *History) bool { return speaks(h) && len(h.nested) > 0 }, func(h *History) { h.unnest(event.Done) }},
	{runs, (*History).ask},
	{func(h *History) bool { return runs(h) && len(h.asked) > 0 && len(h.open) == 0 }, (*History).wait},
	{func(h *History) bool { return runs(h) && len(h.asked) > 0 }, (*History).wait},
	{waits, (*History).answered},
	{waits, (*History).answered},
	{waits, (*History).answered},
	{waits, (*History).answered},
	{waits, (*History).answered},
	{busy, (*History).end},
	{func(h *History) bool { return busy(h) && !h.held && h.inputs < 40 }, (*History).steer},
	{func(h *History) bool { return runs(h) && len(h.steers) > 0 }, (*History).steered},
	{func(h *History) bool { return runs(h) && len(h.steers) > 0 }, (*History).steered},
	{func(h *History) bool { return busy(h) && !h.held && len(h.steers) > 0 }, (*History).unsteered},
	{any1, func(h *History) { h.set.Agent.Model = h.text("model"); h.settings(event.SessionUpdated) }},
	{func(h *History) bool { return len(h.forget) > 0 }, (*History).forgotten},
	{func(h *History) bool { return h.held }, func(h *History) { h.budget(true) }},
	{func(h *History) bool { return h.noted < 2 }, (*History).note},
	{func(h *History) bool { return len(h.notes) > 0 }, (*History).unnote},
	{any1, func(h *History) {
		if rapid.IntRange(0, 5).Draw(h.t, "lost") == 0 {
			h.add(event.Event{Kind: event.Skipped, Seq: h.State.Session().Head + rapid.Int64Range(1, 50).Draw(h.t, "numbers")})
		}
	}},
}

func (h *History) text(what string) string {
	return strings.ToValidUTF8(rapid.StringN(1, 12, -1).Draw(h.t, what), "\uFFFD")
}

func (h *History) accept() {
	turn := event.ID{0x70, 11: byte(len(h.Turns) + 1)}
	in := event.Input{
		Number: int64(len(h.Turns)), WasIdle: h.State.AtRest(), Waiting: !h.State.AtRest(), Prompt: h.text("prompt"),
		Wire: rapid.SampledFrom([]string{"responses", "agents"}).Draw(h.t, "wire"), Forget: rapid.IntRange(0, 4).Draw(h.t, "forget") == 0,
		Background: rapid.Bool().Draw(h.t, "background"),
	}
	if in.Wire == "responses" {
		in.Echo = []byte(`{"model":"codex"}`)
	}
	if rapid.Bool().Draw(h.t, "overrides") {
		in.Overrides = []byte(`{"model":"own"}`)
	}
	for range rapid.IntRange(1, 2).Draw(h.t, "messages") {
		in.Items = append(in.Items, &event.Item{ID: h.next(turn), Type: event.Message, Status: event.Done, User: true, Text: h.text("said")})
	}
	h.add(event.Event{Kind: event.InputAccepted, Turn: turn, Body: &in})
	h.Turns, h.queued = append(h.Turns, turn), append(h.queued, turn)
	if in.Forget {
		h.forget = append(h.forget, turn)
	}
}

// steer accepts a message for the running turn.
func (h *History) steer() {
	h.inputs++
	id := event.ID{0x72, 11: byte(h.inputs)}
	in := event.Input{ID: id, Number: int64(100 + h.inputs), Prompt: h.text("prompt"), Wire: "agents"}
	in.Items = []*event.Item{{ID: event.ItemID(id, 0), Type: event.Message, Status: event.Done, User: true, Text: in.Prompt}}
	h.add(event.Event{Kind: event.InputSteered, Turn: h.running, Body: &in})
	h.steers = append(h.steers, &in)
}

// steered has the CLI take the oldest of them.
func (h *History) steered() {
	it := *h.steers[0].Items[0]
	it.ID = h.next(h.running)
	h.add(event.Event{Kind: event.InputSteered, Turn: h.running, Body: &event.Input{ID: h.steers[0].ID, Taken: true, Items: []*event.Item{&it}}})
	h.steers = h.steers[1:]
}

// unsteered makes turns of all of them.
func (h *History) unsteered() {
	for _, steer := range h.steers {
		in := *steer
		in.Waiting = true
		h.items[in.ID] = 1
		h.add(event.Event{Kind: event.InputAccepted, Turn: in.ID, Body: &in})
		h.Turns, h.queued = append(h.Turns, in.ID), append(h.queued, in.ID)
	}
	h.steers = nil
}

// budget holds the session at one of the host's, or lifts it.
func (h *History) budget(lifted bool) {
	h.held = !lifted
	h.add(event.Event{Kind: event.BudgetHit, Body: &event.Budget{
		Name: "limits.max_day_tokens", Scope: event.DayScope, Limit: 100, Used: rapid.Int64Range(100, 900).Draw(h.t, "used"), Lifted: lifted,
	}})
}

// note posts an item without asking for a turn.
func (h *History) note() {
	note := event.ID{0x71, 11: byte(h.noted + 1)}
	h.noted++
	it := &event.Item{
		ID: event.ItemID(note, 0), Type: event.Foreign, Status: event.Done, Text: h.text("line"),
		Raw: json.RawMessage(`{"type":"message","role":"user","content":[]}`), Instructs: rapid.Bool().Draw(h.t, "instructs"),
	}
	h.add(event.Event{Kind: event.ItemsPosted, Turn: note, Body: &event.Input{Items: []*event.Item{it}}})
	h.notes = append(h.notes, note)
}

// unnote removes a posted item.
func (h *History) unnote() {
	note := h.notes[0]
	h.notes = h.notes[1:]
	h.add(event.Event{Kind: event.ItemRemoved, Turn: note, Item: event.ItemID(note, 0)})
}

func (h *History) start() {
	h.running, h.queued = h.queued[0], h.queued[1:]
	h.add(event.Event{Kind: event.TurnStarted, Turn: h.running})
}

func (h *History) cancelQueued() {
	i := rapid.IntRange(0, len(h.queued)-1).Draw(h.t, "which")
	turn := h.queued[i]
	h.queued = slices.Delete(h.queued, i, i+1)
	h.ended(turn, event.End{Outcome: event.Cancelled})
}

// begin opens an item with what is known of it.
func (h *History) begin() {
	it := &event.Item{ID: h.next(h.running), Type: event.ItemType(rapid.IntRange(int(event.Message), int(event.Subagent)).Draw(h.t, "type")), Status: event.InProgress}
	switch it.Type {
	case event.Message, event.Reasoning:
	case event.Command:
		it.Command, it.Cwd, it.Server = h.text("command"), "/srv/code", "codex"
	case event.FileChange:
		it.Server, it.Changes = "codex", []event.Change{{Path: h.text("path"), Kind: "add"}}
	case event.WebSearch:
		it.Query = h.text("query")
	default:
		arguments, err := json.Marshal(map[string]string{"q": h.text("argument")})
		if err != nil {
			h.t.Fatal(err)
		}
		it.Server, it.Tool, it.Arguments = "docs", h.text("tool"), string(arguments)
	}
	body := *it
	h.add(event.Event{Kind: event.ItemStarted, Turn: h.running, Item: it.ID, Body: &body})
	if h.open = append(h.open, it); it.Type == event.Subagent {
		h.calls = append(h.calls, it.ID)
	}
}

// theirs is a finished item of a subagent.
func (h *History) theirs() {
	it := &event.Item{
		ID: h.next(h.running), Parent: rapid.SampledFrom(h.calls).Draw(h.t, "whose"), Status: event.Done,
		Type: event.ItemType(rapid.IntRange(int(event.Message), int(event.WebSearch)).Draw(h.t, "type")), Text: h.text("text"),
	}
	h.add(event.Event{Kind: event.SubagentItem, Turn: h.running, Item: it.ID, Body: it})
}

// nest is a subagent that sets a further one to work.
func (h *History) nest() {
	it := &event.Item{ID: h.next(h.running), Parent: rapid.SampledFrom(h.calls).Draw(h.t, "whose"), Type: event.Subagent, Status: event.InProgress, Prompt: h.text("task")}
	body := *it
	h.add(event.Event{Kind: event.SubagentStarted, Turn: h.running, Item: it.ID, Body: &body})
	h.nested, h.calls = append(h.nested, it), append(h.calls, it.ID)
}

// unnest ends the newest of those.
func (h *History) unnest(as event.Status) {
	it := h.nested[len(h.nested)-1]
	h.nested = h.nested[:len(h.nested)-1]
	it.Status = as
	h.add(event.Event{Kind: event.SubagentItem, Turn: h.running, Item: it.ID, Body: it})
}

// piece is a delta of an open item that has some.
func (h *History) piece() {
	it := rapid.SampledFrom(h.open).Draw(h.t, "of")
	text := h.text("piece")
	kind := event.TextDelta
	switch it.Type {
	case event.Message:
		it.Text += text
	case event.Reasoning:
		kind = event.ReasoningDelta
		it.Text += text
	case event.Command:
		kind = event.OutputDelta
		it.Output += text
	default:
		return
	}
	h.add(event.Event{Kind: kind, Turn: h.running, Item: it.ID, Text: text})
}

func (h *History) finish() {
	i := rapid.IntRange(0, len(h.open)-1).Draw(h.t, "which")
	it := h.open[i]
	h.open = slices.Delete(h.open, i, i+1)
	it.Status = event.Done
	switch it.Type {
	case event.Message:
		it.Phase = event.Commentary
	case event.Reasoning, event.WebSearch:
	default:
		it.Status = rapid.SampledFrom([]event.Status{event.Done, event.ItemFailed}).Draw(h.t, "status")
		if it.Output == "" && it.Type != event.FileChange {
			it.Output = h.text("output")
		}
		if it.Status == event.ItemFailed {
			it.Error = h.text("error")
		}
		if it.Type == event.Command {
			code := rapid.IntRange(0, 3).Draw(h.t, "exit")
			it.ExitCode = &code
			if it.Status = event.Done; code != 0 {
				it.Status = event.ItemFailed
			}
		}
	}
	h.done(it)
}

func (h *History) done(it *event.Item) {
	body := *it
	h.add(event.Event{Kind: event.ItemDone, Turn: h.running, Item: it.ID, Body: &body})
}

// aside is something that changes no object.
func (h *History) aside() {
	if rapid.IntRange(0, 4).Draw(h.t, "environment") == 0 {
		h.add(event.Event{Kind: event.EnvironmentChanged, Turn: h.running, Body: &event.Environment{
			Type: "self_hosted", Status: rapid.SampledFrom([]event.EnvironmentStatus{event.EnvironmentPending, event.EnvironmentReady}).Draw(h.t, "status"),
		}})
		return
	}
	kind := rapid.SampledFrom([]event.Kind{event.NativeSession, event.Notice, event.Unknown, 200}).Draw(h.t, "aside")
	h.add(event.Event{Kind: kind, Turn: h.running, Text: h.text("text")})
}

// ask opens an item that the caller is to answer.
func (h *History) ask() {
	it := &event.Item{
		ID: h.next(h.running), Type: rapid.SampledFrom([]event.ItemType{event.FunctionCall, event.Approval}).Draw(h.t, "asks"), Status: event.InProgress,
		Tool: h.text("tool"), Arguments: `{"a":1}`,
	}
	if it.Type == event.Approval {
		it.Server, it.Text = "codex", h.text("question")
	}
	body := *it
	h.add(event.Event{Kind: event.ItemStarted, Turn: h.running, Item: it.ID, Body: &body})
	h.asked = append(h.asked, it)
}

// wait gives the turn to its caller; nothing else is open then.
func (h *History) wait() {
	for len(h.open) > 0 {
		h.finish()
	}
	ev := event.Event{Kind: event.TurnWaiting, Turn: h.running}
	if rapid.Bool().Draw(h.t, "used") {
		ev.Body = &event.Pause{Usage: &event.Usage{Input: rapid.Int64Range(0, 99).Draw(h.t, "in"), Output: 1}}
	}
	h.add(ev)
	h.waiting, h.answers = true, nil
}

// answered answers one of what was asked; with the last the turn goes on.
func (h *History) answered() {
	it := h.asked[0]
	h.asked = h.asked[1:]
	it.Status = event.Done
	h.done(it)
	a := event.Item{ID: event.AnswerID(h.running, it.ID), Call: it.ID, Status: event.Done, Type: event.FunctionOutput, Output: h.text("output")}
	if it.Type == event.Approval {
		a.Type, a.Output, a.Approved, a.Text = event.ApprovalAnswer, "", rapid.Bool().Draw(h.t, "approved"), h.text("reason")
	}
	h.add(event.Event{Kind: event.CallAnswered, Turn: h.running, Item: a.ID, Body: &a})
	if h.answers = append(h.answers, a.ID); len(h.asked) > 0 {
		return
	}
	h.legs++
	leg := event.Leg{Number: h.legs, Wire: rapid.SampledFrom([]string{"responses", "agents"}).Draw(h.t, "wire"), Answers: h.answers}
	if leg.Wire == "responses" {
		leg.Echo = []byte(`{"model":"codex"}`)
	}
	h.add(event.Event{Kind: event.LegStarted, Turn: h.running, Body: &leg})
	h.add(event.Event{Kind: event.TurnResumed, Turn: h.running})
	h.waiting = false
}

// end ends the running turn in any way.
func (h *History) end() {
	outcome := rapid.SampledFrom([]event.Outcome{event.Completed, event.Failed, event.Cancelled}).Draw(h.t, "outcome")
	if h.waiting && outcome == event.Completed {
		outcome = event.Cancelled // it has no answer
	}
	for len(h.nested) > 0 {
		h.unnest(event.Incomplete)
	}
	for _, it := range append(h.open, h.asked...) {
		it.Status = event.Incomplete
		if it.Type == event.Message {
			it.Phase = event.Commentary
		}
		h.done(it)
	}
	h.open, h.asked, h.calls, h.waiting, h.legs = nil, nil, nil, false, 0
	e := event.End{Outcome: outcome}
	switch outcome {
	case event.Completed:
		h.answer()
	case event.Failed:
		codes := []event.Code{event.CLICrashed, event.MaxOutputTokens, event.TurnLimit, event.RateLimited, event.ServerRestarted, event.BudgetReached}
		e.Failure = event.Fail(rapid.SampledFrom(codes).Draw(h.t, "code"), h.text("message"))
	case event.Cancelled:
	}
	if rapid.Bool().Draw(h.t, "usage") {
		e.Usage = &event.Usage{Input: rapid.Int64Range(0, 99).Draw(h.t, "in"), Output: 1}
	}
	turn := h.running
	h.running = event.ID{}
	h.ended(turn, e)
	if e.Failure != nil && e.Failure.Code == event.BudgetReached {
		h.budget(false)
	}
}

// answer is the message that a completed turn ends with.
func (h *History) answer() {
	it := &event.Item{ID: h.next(h.running), Type: event.Message, Status: event.InProgress}
	body := *it
	h.add(event.Event{Kind: event.ItemStarted, Turn: h.running, Item: it.ID, Body: &body})
	for range rapid.IntRange(0, 3).Draw(h.t, "pieces") {
		text := h.text("piece")
		it.Text += text
		h.add(event.Event{Kind: event.TextDelta, Turn: h.running, Item: it.ID, Text: text})
	}
	it.Status, it.Phase = event.Done, event.FinalAnswer
	h.done(it)
}

func (h *History) ended(turn event.ID, e event.End) {
	e.Idle = h.State.Session().Open == 1
	h.add(event.Event{Kind: event.TurnEnded, Turn: turn, Body: &e})
	if h.running.IsZero() { // it was the running one
		h.unsteered()
	}
}

// forgotten removes a turn that was not to be stored, once it has ended.
func (h *History) forgotten() {
	turn := h.forget[0]
	h.forget = h.forget[1:]
	if turn == h.running || slices.Contains(h.queued, turn) {
		h.forget = append(h.forget, turn)
		return
	}
	h.add(event.Event{Kind: event.TurnForgotten, Turn: turn})
}
