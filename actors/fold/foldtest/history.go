package foldtest

import (
	"encoding/json"
	"slices"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/spec"
	"pgregory.net/rapid"
)

// History is a session's events as its actor writes them: stamped, then folded.
type History struct {
	ID     event.ID
	State  *fold.State
	Events []event.Event
	Views  []*fold.View
	// Turns are all that were accepted, in order.
	Turns []event.ID

	t       *rapid.T
	clock   int64
	set     spec.Session
	queued  []event.ID
	running event.ID
	open    []*event.Item
	asked   []*event.Item // open ones that ask something of the caller
	answers []event.ID    // since the turn began to wait
	calls   []event.ID    // of the running turn's subagents
	nested  []*event.Item // open calls of subagents by subagents
	waiting bool
	legs    int32
	items   map[event.ID]uint32 // items of a turn so far
	forget  []event.ID          // ended turns that are to be forgotten
	notes   []event.ID          // whose item is not removed
	noted   int
	held    bool           // by a budget
	steers  []*event.Input // on their way into the running turn
	inputs  int
}

const start = 1_796_000_000_000

// Draw writes a history. Settled ones end with no turn open.
func Draw(t *rapid.T) *History {
	h := &History{ID: event.ID{0x5e, 15: 1}, State: fold.New(), t: t, clock: start, items: map[event.ID]uint32{}}
	h.set = spec.Session{
		ID: h.ID, Owner: "alice", Created: start, Agent: spec.Agent{ID: event.ID{0xa9, 15: 1}, Adapter: "codex", Model: "codex"},
		Environment: spec.Environment{Type: spec.EnvSelfHosted, ID: event.ID{0xe5, 15: 1}, Workspace: "/srv/code"},
	}
	h.settings(event.SessionCreated)
	for range rapid.IntRange(0, 60).Draw(t, "moves") {
		m := rapid.SampledFrom(moves).Draw(t, "move")
		if m.can(h) {
			m.do(h)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "settled") > 0 {
		h.settle()
	}
	return h
}

// Settled reports whether no turn is open.
func (h *History) Settled() bool { return h.State.AtRest() }

func (h *History) settle() {
	for !h.running.IsZero() || len(h.queued) > 0 {
		if h.held {
			h.budget(true)
		}
		if h.running.IsZero() {
			h.start()
		}
		h.end() // a waiting turn ends as any other
	}
	for len(h.forget) > 0 {
		h.forgotten()
	}
}

func (h *History) add(ev event.Event) {
	h.clock += rapid.Int64Range(1, 2000).Draw(h.t, "passes")
	ev.At = h.clock
	h.State.Stamp(&ev)
	v, err := h.State.Apply(&ev)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Events, h.Views = append(h.Events, ev), append(h.Views, v)
}

func (h *History) settings(k event.Kind) {
	raw, err := json.Marshal(&h.set)
	if err != nil {
		h.t.Fatal(err)
	}
	h.add(event.Event{Kind: k, Body: &event.Settings{JSON: raw}})
}

func (h *History) next(turn event.ID) event.ID {
	n := h.items[turn]
	h.items[turn]++
	return event.ItemID(turn, n)
}

// Stored is the events as they come back from a journal.
func (h *History) Stored() []event.Event {
	var e event.Encoder
	for i := range h.Events {
		if err := e.Append(&h.Events[i]); err != nil {
			h.t.Fatal(err)
		}
	}
	out, err := event.Decode(nil, e.Buf)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

// Batches folds events anew, in pieces of drawn sizes.
func (h *History) Batches(events []event.Event) []*fold.Batch {
	s := fold.New()
	var out []*fold.Batch
	for len(events) > 0 {
		n := min(len(events), rapid.IntRange(1, 9).Draw(h.t, "events of a batch"))
		b, err := fold.NewBatch(s, slices.Clone(events[:n]))
		if err != nil {
			h.t.Fatal(err)
		}
		out, events = append(out, b), events[n:]
	}
	return out
}

// Seen is a turn with its session as of the turn's last lifecycle event in some
// batches; nil, nil for none.
func Seen(list []*fold.Batch, turn event.ID) (*fold.Session, *fold.Turn) {
	for _, b := range slices.Backward(list) {
		for i := range slices.Backward(b.Events) {
			if v := b.View(i); v != nil && v.Turn != nil && v.Turn.ID == turn {
				return &v.Session, v.Turn
			}
		}
	}
	return nil, nil
}

// Stream gives batches as a subscription does.
type Stream struct{ left []*fold.Batch }

// Read streams batches from their beginning.
func Read(list []*fold.Batch) *Stream { return &Stream{left: list} }

// Next gives the next batch; then it waits for ever.
func (s *Stream) Next() (*fold.Batch, <-chan struct{}, error) {
	if len(s.left) == 0 {
		return nil, make(chan struct{}), nil
	}
	b := s.left[0]
	s.left = s.left[1:]
	return b, nil, nil
}

// After is where the subscription began.
func (*Stream) After() int64 { return 0 }

// Close does nothing.
func (*Stream) Close() {}
