package agent

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What Text gave stays what it was, through Reset, new arenas and whatever the
// caller does to its own bytes.
func TestTextsStay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b Batch
		var got, want []string
		line := make([]byte, arenaSize)
		for i := range rapid.IntRange(1, 60).Draw(t, "texts") {
			size := rapid.OneOf(
				rapid.IntRange(0, 20), rapid.IntRange(arenaSize/4-1, arenaSize/4+1), rapid.IntRange(1000, arenaSize),
			).Draw(t, "size")
			p := line[:size]
			for j := range p {
				p[j] = byte(i + j)
			}
			want = append(want, string(p))
			text := b.Text(p)
			b.Add(Fact{Kind: FactText, Text: text})
			got = append(got, text)
			clear(p)
			if rapid.Bool().Draw(t, "reset") {
				b.Reset()
			}
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("text %d of %d bytes changed", i, len(want[i]))
			}
		}
	})
}

func TestResetEmptiesTheBatch(t *testing.T) {
	t.Parallel()
	var b Batch
	b.Add(Fact{Kind: FactNotice, Text: "a", Verdict: &Verdict{}})
	facts := b.Facts
	b.Reset()
	if len(b.Facts) != 0 || facts[0] != (Fact{}) {
		t.Errorf("%d facts; the old place holds %+v", len(b.Facts), facts[0])
	}
	if b.Text(nil) != "" || b.Text([]byte{}) != "" {
		t.Error("no bytes gave a text")
	}
}

// Readers of earlier texts need no lock while the parser writes on; the race
// detector is the judge.
func TestTextsAreReadFromElsewhere(t *testing.T) {
	t.Parallel()
	const texts = 5000
	out := make(chan string, 64)
	bad := make(chan error, 1)
	go func() { // ends with the channel
		defer close(bad)
		i := 0
		for got := range out {
			if want := fmt.Sprintf("text %d ", i); got != want {
				bad <- fmt.Errorf("text %d is %q", i, got)
				break
			}
			i++
		}
		for range out {
		}
	}()
	var b Batch
	var line bytes.Buffer
	for i := range texts {
		line.Reset()
		fmt.Fprintf(&line, "text %d ", i)
		out <- b.Text(line.Bytes())
		if i%7 == 0 {
			b.Reset()
		}
	}
	close(out)
	if err := <-bad; err != nil {
		t.Error(err)
	}
}

// A delta costs a share of an arena: 30 bytes of 32 KiB are a thousandth.
func TestDeltasShareAnArena(t *testing.T) { // not parallel: it counts allocations
	var b Batch
	piece := []byte(strings.Repeat("x", 30))
	const deltas = 1000
	perRun := testing.AllocsPerRun(20, func() {
		b.Reset()
		for range deltas {
			b.Add(Fact{Kind: FactText, Key: "m", Text: b.Text(piece)})
		}
	})
	if perRun > 2 {
		t.Errorf("%v allocations for %d deltas", perRun, deltas)
	}
}

func BenchmarkBatchDelta(b *testing.B) {
	var batch Batch
	piece := []byte(strings.Repeat("x", 30))
	b.ReportAllocs()
	for b.Loop() {
		if len(batch.Facts) == 1000 {
			batch.Reset()
		}
		batch.Add(Fact{Kind: FactText, Key: "m", Text: batch.Text(piece)})
	}
}
