package adaptertest

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/actors/agent"
)

// Spaced is for parsers that read their most frequent lines by a way of their own. A
// space behind a line, which says nothing, keeps it from that way: what a parser makes
// of lines, and of thousands like them that are damaged a little, has to be the same
// with the space as without it. feed gives a line to one parser, made for it by begin,
// and returns what it says.
func Spaced(t *testing.T, begin func() (feed func(line []byte) []agent.Fact), lines ...string) {
	t.Helper()
	r := rand.New(rand.NewPCG(11, 12))
	bare, spaced := begin(), begin()
	for round := range 20_000 {
		line := lines[round%len(lines)]
		if round >= len(lines) {
			line = damaged(r, line)
		}
		if strings.ContainsRune(line, '\n') {
			continue
		}
		got, want := trimmed(bare([]byte(line))), trimmed(spaced([]byte(line+" ")))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q\ngives %+v,\nwith a space behind it %+v", line, got, want)
		}
		if round%200 == 0 {
			bare, spaced = begin(), begin()
		}
	}
}

// pieces of JSON that change what a line says.
var spares = []string{
	`"`, `\`, `\n`, `\"`, `\u00e9`, `\ud83d\ude00`, `\ud800`, `\u12`, `\x`, "\x1b", "\x00", "\x7f", "\xff", "é", "漢字", "😀", "\u2028",
	`{`, `}`, `[`, `]`, `,`, `:`, ` `, `null`, `true`, `0`, `-1`, `1.5`, `1e3`, `01`, `"type":"x",`, `"text":"again",`, `"text":`, `"id":7,`, `{"a":{"b":[1,2]}}`,
}

func damaged(r *rand.Rand, line string) string {
	b := []byte(line)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			break
		}
		at := r.IntN(len(b))
		end := min(len(b), at+r.IntN(8))
		spare := spares[r.IntN(len(spares))]
		switch r.IntN(5) {
		case 0:
			b = append(b[:at], b[end:]...)
		case 1: // of the line itself, once more
			from := r.IntN(len(b))
			piece := string(b[from:min(len(b), from+r.IntN(40))])
			b = append(b[:at], piece+string(b[at:])...)
		case 2:
			b = append(b[:at], spare+string(b[end:])...)
		default:
			b = append(b[:at], spare+string(b[at:])...)
		}
	}
	return string(b)
}

// trimmed is facts without the space behind a line that is kept.
func trimmed(facts []agent.Fact) []agent.Fact {
	out := append([]agent.Fact{}, facts...)
	for i := range out {
		if out[i].Kind == agent.FactUnknown {
			out[i].Text = strings.TrimSpace(out[i].Text)
		}
	}
	return out
}

// SpacedParser is Spaced for an adapter's parser.
func SpacedParser(t *testing.T, a agent.Adapter, lines ...string) {
	t.Helper()
	Spaced(t, func() func([]byte) []agent.Fact {
		p := a.NewParser(Request(a))
		return func(line []byte) []agent.Fact {
			var out agent.Batch
			p.Feed(line, &out)
			for i := range line {
				line[i] = '#'
			}
			return out.Facts
		}
	}, lines...)
}
