package agents

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
)

// stopRule says when a stream ends by itself.
type stopRule uint8

const (
	never    stopRule = iota
	atIdle            // with the first idle
	whenIdle          // once it is read up and the last word was idle
)

// source feeds one event stream from a subscription.
type source struct {
	stream call.Stream
	after  int64 // events up to here are not sent
	stop   stopRule
	idle   bool // the last word sent about the session was that nothing goes on

	ahead *fold.Batch // read while seeking
	skip  int         // bytes of the first event's frames that the reader has
}

// seek subscribes behind c. Whether c was ever issued is found out before the
// answer begins.
func (s *source) seek(c Cursor, subscribe func(after int64) (call.Stream, error)) (err error) {
	s.after = c.Seq
	if c.K != WholeEvent {
		s.after-- // the rest of its event is to be sent
	}
	if s.stream, err = subscribe(s.after); err != nil {
		return cursorRefused(err)
	}
	if c.K == WholeEvent {
		return nil
	}
	if err := s.enter(c); err != nil {
		s.stream.Close()
		return err
	}
	return nil
}

// enter finds the place of c inside its event.
func (s *source) enter(c Cursor) error {
	for {
		b, wake, err := s.stream.Next()
		if wake != nil || errors.Is(err, io.EOF) {
			return cursorUnknown() // read up, and it has not come yet
		}
		if err != nil {
			return cursorRefused(err)
		}
		if b.Last() < c.Seq {
			continue
		}
		if b.First() > c.Seq {
			return cursorUnknown()
		}
		i := b.After(c.Seq - 1)
		if b.Events[i].Kind == event.Skipped {
			s.ahead = b // its event is lost, and what follows is all there is
			return nil
		}
		of := b.Rendered(fold.AgentsWire, Render).Of(i)
		for range c.K + 1 {
			n := bytes.Index(of[s.skip:], endOfFrame)
			if n < 0 && !bare(&b.Events[i], of) {
				return cursorUnknown()
			}
			if n < 0 {
				s.skip = len(of)
				break
			}
			s.skip += n + len(endOfFrame)
		}
		s.ahead = b
		return nil
	}
}

// bare reports whether an event may have had more frames than it has now: the
// content of a forgotten turn is taken out of its events, and who stands in the
// middle of one reads on behind it.
func bare(ev *event.Event, frames []byte) bool {
	in, ok := ev.Body.(*event.Input)
	return len(frames) == 0 || ok && len(in.Items) == 0
}

// cursorRefused puts the engine's refusal of a cursor in this wire's words. The
// oldest cursor kept is given as a number: it stands behind an event that is gone.
func cursorRefused(err error) error {
	f, ok := event.AsFailure(err)
	if !ok {
		return err
	}
	switch f.Code {
	case event.CursorNotFound:
		return cursorUnknown()
	case event.CursorEvicted:
		g := *f
		g.Param = "after"
		if c, err := ParseCursor(f.Oldest); err == nil {
			g.Oldest = strconv.FormatInt(c.Seq, 10)
		}
		return &g
	}
	return err
}

var endOfFrame = []byte("\n\n") // never inside a frame: its data is one line

// Next implements sse.Source.
func (s *source) Next() (frames []byte, wake <-chan struct{}, done bool, err error) {
	b := s.ahead
	if s.ahead = nil; b == nil {
		b, wake, err = s.stream.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil, true, nil
		case err != nil:
			return nil, nil, true, err
		case wake != nil:
			return nil, wake, s.stop == whenIdle && s.idle, nil
		}
	}
	from := b.After(s.after)
	if from >= len(b.Events) {
		return nil, nil, false, nil
	}
	f := b.Rendered(fold.AgentsWire, Render)
	to := len(b.Events)
	for i := from; i < to; i++ {
		switch ev := &b.Events[i]; ev.Kind {
		case event.SessionCreated: // idle until it is given something
			s.idle = s.stop == whenIdle
		case event.InputAccepted:
			s.idle = false
		case event.TurnEnded:
			end, ok := ev.Body.(*event.End)
			s.idle = ok && end.Idle
		case event.BudgetHit:
			v := b.View(i)
			budget, ok := ev.Body.(*event.Budget)
			s.idle = ok && v != nil && (!budget.Lifted || v.Session.Open == 0)
		}
		if s.idle && s.stop == atIdle {
			to, done = i+1, true
		}
	}
	start := s.skip
	if from > 0 {
		start += f.Ends[from-1]
	}
	s.skip, s.after = 0, b.Events[to-1].Seq
	return f.Buf[start:f.Ends[to-1]], nil, done, nil
}

// Close implements sse.Source.
func (s *source) Close() { s.stream.Close() }
