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
