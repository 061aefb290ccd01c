package actors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/actors/store"
)

// frames renders a batch as a wire would: a line an event, JSON with the
// view of a lifecycle event, its turn's items included.
func frames(b *fold.Batch) *fold.Frames {
	f := &fold.Frames{}
	for i, ev := range b.Events {
		if ev.Body == nil && b.View(i) == nil { // most of a flood
			f.Buf = fmt.Appendf(f.Buf, "%d %d %s %s %s %d %d %q\n", ev.Seq, ev.At, ev.Kind, ev.Turn, ev.Item, ev.Index, ev.Step, ev.Text)
			f.Ends = append(f.Ends, len(f.Buf))
			continue
		}
		line := struct {
			Event event.Event
			View  *fold.View    `json:",omitempty"`
			Items []fold.ItemOf `json:",omitempty"`
			Set   any           `json:",omitempty"`
		}{Event: ev, View: b.View(i)}
		if v := line.View; v != nil {
			line.Set = v.Session.Settings
			if v.Turn != nil {
				line.Items = v.Turn.AllItems()
			}
		}
		raw, err := json.Marshal(&line)
		if err != nil {
			panic(fmt.Sprintf("event %d: %v", ev.Seq, err))
		}
		f.Buf = append(append(f.Buf, raw...), '\n')
		f.Ends = append(f.Ends, len(f.Buf))
	}
	return f
}

// reader writes the frames behind a cursor to w, as a stream would.
type reader struct {
	sub   *actors.Subscription
	after int64
	w     io.Writer
}

// next writes one batch. Caught up, it returns the channel to wait for.
func (r *reader) next() (wake <-chan struct{}, last *event.Event, err error) {
	b, wake, err := r.sub.Next()
	if b == nil {
		return wake, nil, err
	}
	f := b.Rendered(fold.AgentsWire, frames)
	for i := range b.Events {
		if b.Events[i].Seq <= r.after {
			continue
		}
		if ev := &b.Events[i]; !store.Follows(ev, r.after+1) {
			return nil, nil, fmt.Errorf("event %d after %d", ev.Seq, r.after)
		}
		r.after = b.Events[i].Seq
		if _, err := r.w.Write(f.Of(i)); err != nil {
			return nil, nil, err
		}
	}
	return nil, &b.Events[len(b.Events)-1], nil
}

// until writes frames up to event head.
func (r *reader) until(t *testing.T, head int64) {
	t.Helper()
	if err := r.upTo(t, head); err != nil {
		t.Fatalf("after event %d: %v", r.after, err)
	}
}

func (r *reader) upTo(t *testing.T, head int64) error {
	t.Helper()
	c := ctx(t)
	for r.after < head {
		wake, _, err := r.next()
		if err != nil {
			return err
		}
		if wake == nil {
			continue
		}
		select {
		case <-wake:
		case <-c.Done():
			return fmt.Errorf("nothing after event %d of %d", r.after, head)
		}
	}
	return nil
}

// bytesAfter are the frames of the events after..head.
func bytesAfter(t *testing.T, h *actors.Host, session event.ID, after, head int64) ([]byte, error) {
	t.Helper()
	sub, err := h.Subscribe(ctx(t), "alice", session, after)
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	var buf bytes.Buffer
	err = (&reader{sub: sub, after: after, w: &buf}).upTo(t, head)
	return buf.Bytes(), err
}

func headOf(t *testing.T, h *actors.Host, session event.ID) int64 {
	t.Helper()
	s, err := h.Session(ctx(t), "alice", session)
	if err != nil {
		t.Fatal(err)
	}
	return s.Head
}

// passivated waits until no session is in memory.
func passivated(t *testing.T, h *actors.Host) {
	t.Helper()
	eventually(t, "every session passivated", func() bool { return h.Stats().Active == 0 })
}
