package event_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/event"
)

func TestRopeIsItsPiecesJoined(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var rope event.Rope
		var want strings.Builder
		for range r.IntN(300) {
			piece := strings.Repeat("xy", r.IntN(1+r.IntN(900)))
			rope.WriteString(piece)
			want.WriteString(piece)
		}
		text := want.String()
		if rope.String() != text || rope.Len() != len(text) {
			t.Fatalf("%d bytes, want %d", rope.Len(), len(text))
		}
		if rest, ok := rope.CutFrom(text + "more"); !ok || rest != "more" {
			t.Errorf("cut gives %q, %v", rest, ok)
		}
		if _, ok := rope.CutFrom(text[:max(0, len(text)-1)]); ok && text != "" {
			t.Error("a shorter text begins with it")
		}
		if _, ok := rope.CutFrom("z" + text); ok && text != "" {
			t.Error("another text begins with it")
		}
		if rope.Reset(); rope.Len() != 0 || rope.String() != "" {
			t.Error("something is left")
		}
	}
}

// Not parallel: it counts allocations.
func TestRopeCostsLittle(t *testing.T) {
	piece := strings.Repeat("x", 200)
	var rope event.Rope
	if n := testing.AllocsPerRun(10_000, func() { rope.WriteString(piece) }); n > 0.02 {
		t.Errorf("%.3f allocations a piece", n)
	}
}
