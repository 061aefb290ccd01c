package sqlite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/store"
)

// FuzzChunk: any row of the journal, its checksum right or wrong, gives the events
// that its numbers say or damage, and what it gives can be written again.
func FuzzChunk(f *testing.F) {
	session := event.ItemID(event.ID{1}, 1)
	for _, text := range []string{"short", noise(4<<10, 1)} {
		buf := borrow()
		events := []event.Event{{Kind: event.Notice, Seq: 3, Text: text}, {Kind: event.Notice, Seq: 4, Text: "end"}}
		k, err := encodeChunk(session, 2, events, true, buf)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(k.first, k.last, k.flags, true, append([]byte(nil), k.body...))
		giveBack(buf)
	}
	f.Add(int64(1), int64(1), int64(chunkS2), true, s2.Encode(nil, []byte{0xff, 0xff}))
	f.Add(int64(1), int64(1), int64(chunkS2), true, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}) // says 4 GiB
	f.Fuzz(func(t *testing.T, first, last, flags int64, right bool, body []byte) {
		k := chunk{first: first, last: last, flags: flags, body: body}
		if right {
			k.crc = k.sum(session)
		}
		events, err := k.decode(nil, session)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) || len(events) != 0 {
				t.Errorf("%d events, %v", len(events), err)
			}
			return
		}
		if n := len(events); n == 0 || events[n-1].Seq != last {
			t.Fatalf("%d events of %d to %d", n, first, last)
		}
		buf := borrow()
		defer giveBack(buf)
		again, err := encodeChunk(session, first-1, events, true, buf)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := again.decode(nil, session); err != nil || len(back) != len(events) {
			t.Errorf("%d events became %d: %v", len(events), len(back), err)
		}
	})
}

// BenchmarkEncodeChunk is a commit's row: one event as when a CLI is slow, and many as
// in a flood, which are compressed.
func BenchmarkEncodeChunk(b *testing.B) {
	session := event.ItemID(event.ID{1}, 1)
	for _, n := range []int{1, 64, 512} {
		b.Run(fmt.Sprintf("deltas=%d", n), func(b *testing.B) {
			events := make([]event.Event, n)
			for i := range events {
				events[i] = event.Event{Kind: event.TextDelta, Seq: int64(i + 1), Turn: event.ID{2}, Item: session, Text: noise(200, int64(i))}
			}
			buf := borrow()
			defer giveBack(buf)
			b.ReportAllocs()
			for b.Loop() {
				k, err := encodeChunk(session, 0, events, true, buf)
				if err != nil || k.last != int64(n) {
					b.Fatal(k.last, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}
