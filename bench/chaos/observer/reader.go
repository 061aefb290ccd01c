package observer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/agenthost/agenthost/bench/chaos/evidence"
	"github.com/agenthost/agenthost/bench/chaos/schedule"
)

// nopace reads as fast as it comes.
func nopace() {}

// store copies a stream into a file of its own and shows each whole frame, until show
// says that it is enough. whole says that the stream ended and did not break off.
func (s *session) store(name string, in io.Reader, pace func(), show func(*evidence.Frame) bool) (file string, whole bool) {
	f, file, err := s.log.File(name)
	if err != nil {
		panic(err) // see evidence.Log.Add
	}
	defer func() { _ = f.Close() }()
	var pending []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		if _, werr := f.Write(buf[:n]); werr != nil {
			panic(werr)
		}
		pending = append(pending, buf[:n]...)
		if end := lastFrame(pending); end > 0 {
			frames, ferr := evidence.Frames(pending[:end])
			if ferr != nil {
				s.note(evidence.Record{What: evidence.Odd, Stream: name, Text: ferr.Error()})
			}
			pending = append(pending[:0], pending[end:]...)
			for i := range frames {
				if !show(&frames[i]) {
					return file, false
				}
			}
		}
		if err != nil {
			return file, errors.Is(err, io.EOF)
		}
		pace()
	}
}

// lastFrame is where the last whole frame ends.
func lastFrame(b []byte) int {
	if n := bytes.LastIndex(b, []byte("\n\n")); n >= 0 {
		return n + 2
	}
	return 0
}

// reader follows a session's stream on the Agents wire.
type reader struct {
	*session
	plan schedule.Reader
	name string
	last atomic.Pointer[string] // event id
	seen chan struct{}          // told of each new last
}

func (r *reader) run(ctx context.Context) {
	vanish := 0
	if r.plan.Kind == schedule.Vanishing {
		vanish = r.plan.Frames
	}
	pace := nopace
	if r.plan.Kind == schedule.Slow {
		pace = func() { pause(ctx, 20*time.Millisecond) }
	}
	for ctx.Err() == nil {
		after := "0"
		if id := r.last.Load(); id != nil {
			after = *id
		}
		resp, err := r.request(ctx, "GET", r.path()+"/events?after="+after, nil, "")
		switch {
		case err != nil:
		case resp.StatusCode != 200:
			b, _ := io.ReadAll(resp.Body) // an unreadable answer has no text
			_ = resp.Body.Close()
			if resp.StatusCode == 404 && r.session.plan.Delete > 0 {
				return
			}
			if a := (&answer{resp.StatusCode, b}); !a.again() {
				r.note(evidence.Record{What: evidence.Odd, Stream: r.name, Text: fmt.Sprintf("a stream behind %s answers %d %s", after, resp.StatusCode, clip(b))})
				return
			}
		default:
			n := 0
			file, whole := r.store(r.name, resp.Body, pace, func(f *evidence.Frame) bool {
				id := f.Data.EventID
				r.last.Store(&id)
				select {
				case r.seen <- struct{}{}:
				default:
				}
				n++
				return vanish == 0 || n < vanish
			})
			_ = resp.Body.Close()
			r.note(evidence.Record{What: evidence.Segment, Stream: r.name, After: after, File: file, Whole: whole})
			if whole {
				return // the session is gone
			}
			vanish = 0 // it has come back
		}
		pause(ctx, retryWait)
	}
}

// reach waits until the reader has come to an event.
func (r *reader) reach(ctx context.Context, id string) {
	limit := time.NewTimer(catchUp)
	defer limit.Stop()
	for {
		if last := r.last.Load(); last != nil && *last == id {
			return
		}
		select {
		case <-r.seen:
		case <-ctx.Done():
			return
		case <-limit.C:
			at := "nothing"
			if last := r.last.Load(); last != nil {
				at = *last
			}
			r.note(evidence.Record{What: evidence.Behind, Stream: r.name, Text: fmt.Sprintf("the reader stands at %s and the session at %s", at, id)})
			return
		}
	}
}
