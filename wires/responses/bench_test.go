package responses_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
	"github.com/agenthost/agenthost/wires/responses"
)

func delta() *event.Event {
	return &event.Event{
		Kind: event.TextDelta, Seq: 4711, Turn: turnOne, Item: event.ItemID(turnOne, 3), Index: 2, Step: 98,
		Text: "Then I look at the file \"main.go\"\nand change it. ",
	}
}

func TestDeltasCostNoAllocation(t *testing.T) {
	ev, buf := delta(), make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { buf = responses.AppendFrames(buf[:0], ev) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDelta(b *testing.B) {
	ev, buf := delta(), make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = responses.AppendFrames(buf[:0], ev)
	}
	b.SetBytes(int64(len(buf)))
}

// BenchmarkBatch renders 64 deltas as the engine publishes them.
func BenchmarkBatch(b *testing.B) {
	events := make([]event.Event, 64)
	for i := range events {
		events[i] = *delta()
		events[i].Seq += int64(i)
	}
	batch := &fold.Batch{Events: events}
	b.ReportAllocs()
	for b.Loop() {
		responses.Render(batch)
	}
}

// BenchmarkObject makes a terminal object of many items.
func BenchmarkObject(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			h := newHistory(b)
			h.input(turnOne, event.Input{}).start()
			for range n {
				h.message(event.Commentary, strings.Repeat("word ", 100))
			}
			h.completed()
			batch := h.batches(len(h.events) - 1)[1]
			b.ReportAllocs()
			for b.Loop() {
				responses.Render(batch)
			}
		})
	}
}

// The room that is made for a batch's frames is enough for messages and not much more.
func TestRoomForFrames(t *testing.T) {
	t.Parallel()
	turn := event.NewTurnID()
	for _, text := range []string{"x", strings.Repeat("x", 200), strings.Repeat("x", 2000)} {
		b := &fold.Batch{}
		for n := range uint32(100) {
			it := event.ItemID(turn, n)
			for i, ev := range []event.Event{
				{Kind: event.ItemStarted, Body: &event.Item{ID: it, Type: event.Message, Status: event.InProgress}},
				{Kind: event.TextDelta, Text: text},
				{Kind: event.ItemDone, Body: &event.Item{ID: it, Type: event.Message, Status: event.Done, Text: text}},
			} {
				ev.Turn, ev.Item, ev.Index, ev.Seq, ev.Step = turn, it, int32(n), int64(3*n)+int64(i)+1e9, int32(6*n)+1e6
				b.Events = append(b.Events, ev)
			}
		}
		used, room := len(responses.Render(b).Buf), responses.Estimate(b)
		if room < used || room > 8*used/5 {
			t.Errorf("texts of %d: room for %d, used %d", len(text), room, used)
		}
	}
}
