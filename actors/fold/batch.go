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
	// Views is parallel to Events, or nil when no event of the batch has one.
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
	if b.Views == nil {
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

// NewBatch folds events into s and keeps what their frames need. The events must
// follow s's last one.
func NewBatch(s *State, events []event.Event) (*Batch, error) {
	b := &Batch{Events: events}
	for i := range events {
		v, err := s.Apply(&events[i])
		if err != nil {
			return nil, err
		}
		if v != nil {
			if b.Views == nil {
				b.Views = make([]*View, len(events))
			}
			b.Views[i] = v
		}
		b.Bytes += len(events[i].Text) + 160
	}
	b.Session = s.session.ID
	return b, nil
}
