package adaptertest

import (
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
)

// BenchFeed times what an adapter's parser makes of a line that comes by the thousand,
// behind those of before.
func BenchFeed(b *testing.B, a agent.Adapter, line string, before ...string) {
	b.Helper()
	parser := a.NewParser(Request(a))
	var out agent.Batch
	for _, l := range before {
		parser.Feed([]byte(l), &out)
	}
	feed(b, line, func(raw []byte) int {
		out.Reset()
		parser.Feed(raw, &out)
		return len(out.Facts)
	})
}

// BenchFeed times the same of a protocol, in the first turn of the stage.
func (s *Stage) BenchFeed(b *testing.B, line string) {
	b.Helper()
	var batch agent.Batch
	var talk agent.Talk
	said := &agent.Said{Turn: turnOf("1"), Batch: &batch}
	feed(b, line, func(raw []byte) int {
		batch.Reset()
		talk.Said = append(talk.Said[:0], said)
		s.P.Feed(raw, &talk)
		return len(batch.Facts)
	})
}

func feed(b *testing.B, line string, do func([]byte) int) {
	b.Helper()
	raw := make([]byte, len(line))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		copy(raw, line) // a parser may change it
		if do(raw) == 0 {
			b.Fatalf("the line gives no fact: %s", line)
		}
	}
}
