package responses_test

import (
	"encoding/json"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"github.com/agenthost/agenthost/wires/responses"
)

// history writes a session's events the way the engine does.
type history struct {
	t      testing.TB
	state  *fold.State
	clock  int64
	events []event.Event
	views  []*fold.View
	turn   event.ID
	items  uint32
}

func hexID(t testing.TB, s string) event.ID {
	t.Helper()
	id, ok := event.ParseHex(s)
	if !ok {
		t.Fatalf("%q is no id", s)
	}
	return id
}

// newHistory starts a session of a fixed id.
func newHistory(t testing.TB) *history {
	h := &history{t: t, state: fold.New(), clock: 1_700_000_000_000}
	h.session(spec.Session{
		ID: hexID(t, "5e5510000000000000000000000000aa"), Owner: "me", Created: h.clock,
		Agent: spec.Agent{Adapter: "codex", Model: "gpt-5.5"},
	})
	return h
}

func (h *history) session(s spec.Session) {
	raw, err := json.Marshal(&s)
	if err != nil {
		h.t.Fatal(err)
	}
	h.add(event.Event{Kind: event.SessionCreated, Body: &event.Settings{JSON: raw}})
}

// set replaces the settings.
func (h *history) set(s spec.Session) {
	raw, err := json.Marshal(&s)
	if err != nil {
		h.t.Fatal(err)
	}
	h.add(event.Event{Kind: event.SessionUpdated, Body: &event.Settings{JSON: raw}})
}

func (h *history) add(ev event.Event) {
	h.t.Helper()
	h.clock += 250
	ev.At = h.clock
	h.state.Stamp(&ev)
	v, err := h.state.Apply(&ev)
	if err != nil {
		h.t.Fatal(err)
	}
	h.events, h.views = append(h.events, ev), append(h.views, v)
}

// input accepts a turn.
func (h *history) input(turn event.ID, in event.Input) *history {
	h.turn, h.items = turn, 0
	if len(in.Items) == 0 {
		in.Items = []*event.Item{{Text: "hello"}}
	}
	for _, it := range in.Items {
		it.ID, it.Type, it.Status, it.User = h.nextItem(), event.Message, event.Done, true
	}
	if in.Wire == "" {
		in.Wire = "responses"
	}
	if in.Echo == nil && in.Wire == "responses" {
		in.Echo = []byte(`{"model":"codex"}`)
	}
	h.add(event.Event{Kind: event.InputAccepted, Turn: turn, Body: &in})
	return h
}

func (h *history) nextItem() event.ID {
	id := event.ItemID(h.turn, h.items)
	h.items++
	return id
}

func (h *history) on(turn event.ID, kind event.Kind) *history {
	h.add(event.Event{Kind: kind, Turn: turn})
	return h
}

func (h *history) start() *history { return h.on(h.turn, event.TurnStarted) }

func (h *history) open(it event.Item) event.ID {
	it.ID, it.Status = h.nextItem(), event.InProgress
	h.add(event.Event{Kind: event.ItemStarted, Turn: h.turn, Item: it.ID, Body: &it})
	return it.ID
}

func (h *history) delta(kind event.Kind, item event.ID, text string) {
	h.add(event.Event{Kind: kind, Turn: h.turn, Item: item, Text: text})
}

func (h *history) close(id event.ID, it event.Item) {
	it.ID = id
	if it.Status == 0 {
		it.Status = event.Done
	}
	h.add(event.Event{Kind: event.ItemDone, Turn: h.turn, Item: id, Body: &it})
}

// message is a whole message in the given pieces.
func (h *history) message(phase event.Phase, pieces ...string) *history {
	id := h.open(event.Item{Type: event.Message})
	text := ""
	for _, p := range pieces {
		h.delta(event.TextDelta, id, p)
		text += p
	}
	h.close(id, event.Item{Type: event.Message, Text: text, Phase: phase})
	return h
}

func (h *history) reasoning(pieces ...string) *history {
	id := h.open(event.Item{Type: event.Reasoning})
	text := ""
	for _, p := range pieces {
		h.delta(event.ReasoningDelta, id, p)
		text += p
	}
	h.close(id, event.Item{Type: event.Reasoning, Text: text})
	return h
}

// tool is a whole call: known opens it, result changes it for the end.
func (h *history) tool(known event.Item, result func(*event.Item)) *history {
	id := h.open(known)
	if known.Type == event.Command {
		h.delta(event.OutputDelta, id, "some output")
	}
	result(&known)
	h.close(id, known)
	return h
}

// ask opens a call of the caller's function, or a question for permission.
func (h *history) ask(it event.Item) event.Item {
	it.ID = h.open(it)
	return it
}

// answer closes what was asked with what the caller says.
func (h *history) answer(asked event.Item, a event.Item) event.ID {
	asked.Status = event.Done
	h.close(asked.ID, asked)
	a.ID, a.Call, a.Status = event.AnswerID(h.turn, asked.ID), asked.ID, event.Done
	h.add(event.Event{Kind: event.CallAnswered, Turn: h.turn, Item: a.ID, Body: &a})
	return a.ID
}

// goOn begins the next leg and gives it a slot.
func (h *history) goOn(leg event.Leg) {
	h.add(event.Event{Kind: event.LegStarted, Turn: h.turn, Body: &leg})
	h.on(h.turn, event.TurnResumed)
}

func (h *history) end(e event.End) *history {
	h.add(event.Event{Kind: event.TurnEnded, Turn: h.turn, Body: &e})
	return h
}

func (h *history) completed() *history {
	return h.end(event.End{Outcome: event.Completed, Usage: &event.Usage{Input: 120, Cached: 100, CacheWrite: 7, Output: 30, Reasoning: 12}, Idle: true})
}

// batches folds the events again in the given pieces; the rest is one more.
func (h *history) batches(sizes ...int) []*fold.Batch {
	h.t.Helper()
	s := fold.New()
	var out []*fold.Batch
	left := h.events
	for len(left) > 0 {
		n := len(left)
		if len(sizes) > 0 {
			n, sizes = min(max(sizes[0], 1), n), sizes[1:]
		}
		b, err := fold.NewBatch(s, append([]event.Event(nil), left[:n]...))
		if err != nil {
			h.t.Fatal(err)
		}
		out, left = append(out, b), left[n:]
	}
	return out
}

// stream joins the frames of the turn's first leg.
func (h *history) stream(turn event.ID, sizes ...int) []byte { return h.streamLeg(turn, 0, sizes...) }

// legs is how many legs the turn has.
func (h *history) legs(turn event.ID) int32 { return int32(max(1, len(h.view(turn).Legs))) }

func (h *history) streamLeg(turn event.ID, leg int32, sizes ...int) []byte {
	var out []byte
	for _, b := range h.batches(sizes...) {
		f := b.Rendered(fold.ResponsesWire, responses.Render)
		for i := range b.Events {
			if b.Events[i].Turn == turn && b.Events[i].Leg == leg {
				out = append(out, f.Of(i)...)
			}
		}
	}
	return out
}

// view is the turn as of its last lifecycle event.
func (h *history) view(turn event.ID) *fold.Turn {
	for i := len(h.views) - 1; i >= 0; i-- {
		if v := h.views[i]; v != nil && v.Turn != nil && v.Turn.ID == turn {
			return v.Turn
		}
	}
	h.t.Fatal("no such turn")
	return nil
}

func ptr[T any](v T) *T { return &v }
