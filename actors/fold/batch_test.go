package fold_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

func TestBatchIsRenderedOnceAWire(t *testing.T) {
	t.Parallel()
	b := &fold.Batch{Events: []event.Event{{Seq: 4}, {Seq: 5}, {Seq: 6}}}
	var renders atomic.Int32
	render := func(got *fold.Batch) *fold.Frames {
		renders.Add(1)
		if got != b {
			t.Error("another batch is rendered")
		}
		return &fold.Frames{Buf: []byte("onethree"), Ends: []int{3, 3, 8}}
	}
	var wg sync.WaitGroup
	frames := make([]*fold.Frames, 64)
	for i := range frames {
		wg.Go(func() {
			frames[i] = b.Rendered(fold.WireID(i%2), render)
		})
	}
	wg.Wait()
	want(t, "renders", renders.Load(), int32(2))
	for i, f := range frames {
		if f != frames[i%2] {
			t.Fatal("readers of a wire share no rendering")
		}
	}
	if frames[0] == frames[1] {
		t.Error("two wires share a rendering")
	}
	var parts []string
	for i := range b.Events {
		parts = append(parts, string(frames[0].Of(i)))
	}
	want(t, "frames", strings.Join(parts, "|"), "one||three")
}

func TestBatchLeavesOutWhatIsRefused(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	b := &fold.Batch{}
	if err := b.Add(j.state, event.Event{Seq: 2, Kind: event.Notice}); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(j.state, event.Event{Seq: 9, Kind: event.Notice}); err == nil {
		t.Error("a gap was taken")
	}
	want(t, "span", []int64{b.First(), b.Last()}, []int64{2, 2})
	want(t, "view", b.View(0) == nil, true)
	want(t, "view behind the end", b.View(7) == nil, true)
	if _, err := fold.NewBatch(fold.New(), []event.Event{{Seq: 2}}); err == nil {
		t.Error("a gap made a batch")
	}
}

// The ring's limit counts Bytes: whatever is large must count.
func TestBatchBytesCountBodies(t *testing.T) {
	t.Parallel()
	const big = 1 << 20
	text := strings.Repeat("x", big)
	item := func(it event.Item) event.Event {
		return event.Event{Kind: event.ItemDone, Turn: a, Item: event.ItemID(a, 1), Body: &it}
	}
	for name, ev := range map[string]event.Event{
		"delta":     {Kind: event.TextDelta, Turn: a, Text: text},
		"settings":  {Kind: event.SessionUpdated, Body: &event.Settings{JSON: []byte(`{"owner":"` + text + `"}`)}},
		"prompt":    {Kind: event.InputAccepted, Turn: b, Body: &event.Input{Prompt: text}},
		"message":   {Kind: event.InputAccepted, Turn: b, Body: &event.Input{Items: []*event.Item{{Text: text}}}},
		"image":     {Kind: event.InputAccepted, Turn: b, Body: &event.Input{Items: []*event.Item{{Parts: []event.Part{{ImageURL: text}}}}}},
		"echo":      {Kind: event.InputAccepted, Turn: b, Body: &event.Input{Echo: []byte(text)}},
		"answer":    item(event.Item{Text: text}),
		"output":    item(event.Item{Output: text}),
		"arguments": item(event.Item{Arguments: text}),
		"changes":   item(event.Item{Changes: []event.Change{{Path: text}}}),
		"carry":     {Kind: event.TurnEnded, Turn: a, Body: &event.End{Carry: []byte(text)}},
		"failure":   {Kind: event.TurnEnded, Turn: a, Body: &event.End{Failure: event.Fail(event.CLICrashed, text)}},
	} {
		j := newJournal(t)
		j.accept(a, event.Input{})
		j.state.Stamp(&ev)
		batch, err := fold.NewBatch(j.state, []event.Event{ev})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if batch.Bytes < big || batch.Bytes > big+2000 {
			t.Errorf("%s counts %d bytes", name, batch.Bytes)
		}
	}
}
