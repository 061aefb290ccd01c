package fold

import (
	"sync"

	"github.com/agenthost/agenthost/actors/event"
)

// Batch is a run of consecutive events of one session with the views of its
// lifecycle events. It is immutable and shared by all readers.
type Batch struct {
	Session event.ID
	Events  []event.Event
	// Views holds the views by the event's index; it may be shorter than Events.
	Views []*View
	// Bytes estimates the memory the events hold.
	Bytes int

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

// Of returns the frames of event i.
func (f *Frames) Of(i int) []byte {
	from := 0
	if i > 0 {
		from = f.Ends[i-1]
	}
	return f.Buf[from:f.Ends[i]]
}

// First and Last are the numbers of the first and last event.
func (b *Batch) First() int64 { return b.Events[0].Seq }

// Last is the number of the last event.
func (b *Batch) Last() int64 { return b.Events[len(b.Events)-1].Seq }

// View is the view of event i, nil when it has none.
func (b *Batch) View(i int) *View {
	if i >= len(b.Views) {
		return nil
	}
	return b.Views[i]
}

// Rendered gives the wire's frames, rendering them at the first call only. The
// result is shared: nobody may change it.
func (b *Batch) Rendered(w WireID, render func(*Batch) *Frames) *Frames {
	r := &b.rendered[w]
	r.once.Do(func() { r.frames = render(b) })
	return r.frames
}

// Add folds ev, which must follow s's last event, and appends it. It is for the
// one who makes the batch, before any reader has it.
func (b *Batch) Add(s *State, ev event.Event) error {
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
	b.Session = s.session.ID
	b.Bytes += len(ev.Text) + 160
	return nil
}

// NewBatch folds events into s and keeps what their frames need. The events must
// follow s's last one.
func NewBatch(s *State, events []event.Event) (*Batch, error) {
	b := &Batch{Events: make([]event.Event, 0, len(events))}
	for _, ev := range events {
		if err := b.Add(s, ev); err != nil {
			return nil, err
		}
	}
	return b, nil
}
