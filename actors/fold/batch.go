package fold

import (
	"sort"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
)

// Batch is a run of consecutive events of one session with the views of its
// lifecycle events. It holds at least one event once readers have it, is then
// immutable and shared by all of them. Where one batch ends and the next begins
// means nothing.
type Batch struct {
	Session event.ID
	Events  []event.Event
	// Views holds the views by the event's index; it may be shorter than Events.
	Views []*View
	// Bytes estimates the memory the events hold, bodies included, renderings not.
	Bytes int

	first    int64 // see First; 0 in a batch that was not made by Add
	rendered [wireCount]struct {
		once   sync.Once
		frames *Frames
	}
}

// WireID names the place of a wire's rendering in a Batch.
type WireID uint8

// The wires that render batches.
const (
	ResponsesWire WireID = iota
	AgentsWire
	wireCount
)

// Frames is a rendering of a batch: the frames of event i are
// Buf[Ends[i-1]:Ends[i]], with 0 before the first.
type Frames struct {
	Buf  []byte
	Ends []int
}

// Of returns the frames of event i of the batch; empty when it has none.
func (f *Frames) Of(i int) []byte {
	from := 0
	if i > 0 {
		from = f.Ends[i-1]
	}
	return f.Buf[from:f.Ends[i]]
}

// First is the first number that the batch covers: that of its first event, unless
// that is a Skipped one.
func (b *Batch) First() int64 {
	if b.first > 0 {
		return b.first
	}
	return b.Events[0].Seq
}

// Last is the number of the last event.
func (b *Batch) Last() int64 { return b.Events[len(b.Events)-1].Seq }

// After is the index of the first event with a number above seq; len(Events) when
// there is none.
func (b *Batch) After(seq int64) int {
	return sort.Search(len(b.Events), func(i int) bool { return b.Events[i].Seq > seq })
}

// View is the view of event i, nil when it has none.
func (b *Batch) View(i int) *View {
	if i >= len(b.Views) {
		return nil
	}
	return b.Views[i]
}

// Rendered gives the wire's frames, rendering them at the first call only; others
// that come meanwhile wait for it. The result is shared: nobody may change it.
// render must be a pure function of each event and its view.
func (b *Batch) Rendered(w WireID, render func(*Batch) *Frames) *Frames {
	r := &b.rendered[w]
	r.once.Do(func() { r.frames = render(b) })
	return r.frames
}

// Add folds ev, which must follow s's last event, and appends it. It is for the
// one who makes the batch, before any reader has it. A refused event is left out,
// and s is then unusable.
func (b *Batch) Add(s *State, ev event.Event) error {
	first := s.session.Head + 1
	b.Events = append(b.Events, ev)
	i := len(b.Events) - 1
	v, err := s.Apply(&b.Events[i])
	if err != nil {
		b.Events = b.Events[:i]
		return err
	}
	if v != nil {
		for len(b.Views) < i {
			b.Views = append(b.Views, nil)
		}
		b.Views = append(b.Views, v)
	}
	if i == 0 {
		b.first = first
	}
	b.Session = s.session.ID
	b.Bytes += size(&ev)
	return nil
}

// NewBatch folds events, at least one, into s and keeps what their frames need.
// The events must follow s's last one.
func NewBatch(s *State, events []event.Event) (*Batch, error) {
	b := &Batch{Events: make([]event.Event, 0, len(events))}
	for _, ev := range events {
		if err := b.Add(s, ev); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// size estimates the memory of an event. The numbers beside the lengths are the
// structs with their share of a batch.
func size(ev *event.Event) int {
	n := 160 + len(ev.Text)
	switch b := ev.Body.(type) {
	case *event.Settings:
		n += len(b.JSON)
	case *event.Input:
		n += 192 + len(b.Prompt) + len(b.Overrides) + len(b.Echo)
		for _, said := range b.Before {
			n += 16 + len(said)
		}
		for _, it := range b.Items {
			n += itemSize(it)
		}
	case *event.Item:
		n += itemSize(b)
	case *event.Leg:
		n += 96 + len(b.Echo) + 16*len(b.Answers)
	case *event.Pause:
		n += 64
	case *event.Budget:
		n += 96 + len(b.Name)
	case *event.Environment:
		n += 96 + len(b.Type)
		if b.Failure != nil {
			n += len(b.Failure.Message)
		}
	case *event.End:
		n += 256 + len(b.Carry) + len(b.Exit)
		if b.Failure != nil {
			n += len(b.Failure.Message)
		}
	}
	return n
}

func itemSize(it *event.Item) int {
	n := 352 + len(it.Text) + len(it.Command) + len(it.Cwd) + len(it.Output) + len(it.Server) + len(it.Tool) +
		len(it.Arguments) + len(it.Error) + len(it.Query) + len(it.URL) + len(it.Prompt) + len(it.Raw)
	for i := range it.Parts {
		n += 32 + len(it.Parts[i].Text) + len(it.Parts[i].ImageURL)
	}
	for i := range it.Changes {
		n += 32 + len(it.Changes[i].Path)
	}
	return n
}
