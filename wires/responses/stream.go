package responses

import (
	"bytes"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
)

// source is one response's stream: the frames of its turn's leg out of those of the
// session. It is an sse.Source.
type source struct {
	sub  call.Stream
	turn event.ID
	leg  int32
	// cursor is the number of the last event taken, skip the sequence number up to
	// which the caller has frames already; -1 for none.
	cursor, skip int64

	batch  *fold.Batch
	frames *fold.Frames
	at     int
	// first is what prime has got.
	first *step
}

type step struct {
	batch *fold.Batch
	wake  <-chan struct{}
}

// newSource streams a leg of turn from sub, which stands at before.
func newSource(sub call.Stream, turn event.ID, leg int32, before, skip int64) *source {
	return &source{sub: sub, turn: turn, leg: leg, cursor: before, skip: skip}
}

// prime reads ahead, so that a stream that cannot begin is refused in order.
func (s *source) prime() error {
	b, wake, err := s.sub.Next()
	if err == nil {
		s.first = &step{b, wake}
	}
	return err
}

// Close ends the subscription.
func (s *source) Close() { s.sub.Close() }

// Next gives the frames of the next events of the turn; done with its last.
func (s *source) Next() (frames []byte, wake <-chan struct{}, done bool, err error) {
	for {
		if s.batch == nil {
			b, wake, err := s.next()
			if b == nil {
				return nil, wake, false, err
			}
			s.batch, s.at, s.frames = b, 0, b.Rendered(fold.ResponsesWire, Render)
		}
		if frames, done := s.run(); done || len(frames) > 0 {
			return frames, nil, done, nil
		}
	}
}

func (s *source) next() (*fold.Batch, <-chan struct{}, error) {
	if f := s.first; f != nil {
		s.first = nil
		return f.batch, f.wake, nil
	}
	return s.sub.Next()
}

// run takes the next events of the turn that stand side by side. It forgets the
// batch when it is used up.
func (s *source) run() (frames []byte, done bool) {
	events := s.batch.Events
	for s.at < len(events) && !s.wanted(&events[s.at]) {
		s.at++
	}
	from := s.at
	for s.at < len(events) && !done && s.wanted(&events[s.at]) {
		done = ends(&events[s.at])
		s.at++
	}
	if from < s.at {
		frames = s.fresh(&events[from], s.frames.Buf[start(s.frames, from):s.frames.Ends[s.at-1]])
	}
	if s.at == len(events) {
		s.cursor = max(s.cursor, s.batch.Last())
		s.batch, s.frames = nil, nil
	}
	return frames, done
}

// ends reports whether ev is the last of its leg.
func ends(ev *event.Event) bool { return ev.Kind == event.TurnEnded || ev.Kind == event.TurnWaiting }

// wanted reports whether ev's frames are still to be sent. The end of the leg is
// always wanted: it ends the stream.
func (s *source) wanted(ev *event.Event) bool {
	if ev.Seq <= s.cursor || ev.Turn != s.turn || ev.Leg != s.leg {
		return false
	}
	return ends(ev) || int64(ev.Step)+int64(fold.Steps(ev)) > s.skip+1
}

// fresh drops the frames that the caller has from those that begin with ev's.
func (s *source) fresh(ev *event.Event, frames []byte) []byte {
	for n := int64(ev.Step); n <= s.skip; n++ {
		_, rest, ok := bytes.Cut(frames, endOfFrame)
		if !ok {
			return nil
		}
		frames = rest
	}
	return frames
}

var endOfFrame = []byte("\n\n")

func start(f *fold.Frames, i int) int {
	if i == 0 {
		return 0
	}
	return f.Ends[i-1]
}

// ended finds the end of the turn's leg in b.
func ended(b *fold.Batch, turn event.ID, leg int32) (*fold.Turn, bool) {
	for i := range b.Events {
		ev := &b.Events[i]
		if ev.Turn == turn && (ev.Kind == event.TurnEnded || ev.Kind == event.TurnWaiting && ev.Leg == leg) {
			if v := b.View(i); v != nil && v.Turn != nil {
				return partOf(v.Turn, leg)
			}
		}
	}
	return nil, false
}

func partOf(t *fold.Turn, leg int32) (*fold.Turn, bool) {
	if leg == wholeTurn {
		return t, true
	}
	return t.Part(leg)
}
