package agents

import (
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/call"
)

// batches is a stream of some batches.
type batches struct{ list []*fold.Batch }

func (b *batches) Next() (*fold.Batch, <-chan struct{}, error) {
	if len(b.list) == 0 {
		return nil, make(chan struct{}), nil
	}
	next := b.list[0]
	b.list = b.list[1:]
	return next, nil, nil
}

func (*batches) After() int64 { return 0 }
func (*batches) Close()       {}

// A crash of the machine took events that readers have seen: their cursors lead
// to what comes behind, and the others to the rest as ever.
func TestCursorOfALostEventGoesOn(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	turn := st.accept(1, "Hello")
	st.start(turn)
	item := st.open(event.Item{Type: event.Message})
	st.delta(event.TextDelta, item, "hel")
	head := st.state.Session().Head
	before := len(Render(st.batch()).Buf)
	st.add(event.Event{Kind: event.Skipped, Seq: 1000})
	st.done(item, event.Item{Type: event.Message, Status: event.Incomplete, Text: "hel"})
	st.end(turn, event.End{Outcome: event.Failed, Failure: event.Fail(event.ServerRestarted, "x"), Idle: true})
	whole := string(Render(st.batch()).Buf)
	for cut := range st.events {
		read := func(c Cursor) string {
			src := &source{}
			err := src.seek(c, func(int64) (call.Stream, error) {
				s := fold.New()
				var list []*fold.Batch
				for _, events := range [][]event.Event{st.events[:cut], st.events[cut:]} {
					if len(events) == 0 {
						continue
					}
					b, err := fold.NewBatch(s, events)
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, b)
				}
				return &batches{list}, nil
			})
			if err != nil {
				t.Fatalf("cut at %d, cursor %+v: %v", cut, c, err)
			}
			var got []byte
			for {
				frames, wake, _, err := src.Next()
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, frames...); wake != nil {
					return string(got)
				}
			}
		}
		for _, c := range []Cursor{{head, WholeEvent}, {head + 1, 0}, {head + 1, 3}, {500, 0}, {500, WholeEvent}, {1000, 0}, {1000, WholeEvent}} {
			if got := read(c); got != whole[before:] {
				t.Errorf("cut at %d, behind %+v: %d bytes, want %d", cut, c, len(got), len(whole)-before)
			}
		}
		rest := whole
		for _, f := range parseStream(t, []byte(whole)) {
			rest = rest[len(f.Raw):]
			c, err := ParseCursor(f.str("event_id"))
			if err != nil {
				t.Fatal(err)
			}
			if got := read(c); got != rest {
				t.Errorf("cut at %d, behind %s: %d bytes, want %d", cut, f.str("event_id"), len(got), len(rest))
			}
		}
	}
}
