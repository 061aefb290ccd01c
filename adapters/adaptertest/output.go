package adaptertest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

func (s suite) load(t *testing.T) []*Transcript {
	t.Helper()
	if s.c.Dir == "" {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(s.c.Dir, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts in %s: %v", s.c.Dir, err)
	}
	list := make([]*Transcript, len(paths))
	for i, p := range paths {
		if list[i], err = Load(p); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func (s suite) parser(tr *Transcript) agent.Parser {
	r := Request(s.a)
	r.Native, r.Carry = tr.Native, tr.Carry
	return s.a.NewParser(r)
}

func (s suite) silent(line []byte) bool {
	return len(bytes.TrimSpace(line)) == 0 || s.c.Silent != nil && s.c.Silent(line)
}

func (s suite) transcripts(t *testing.T) {
	for _, tr := range s.load(t) {
		t.Run(tr.Name, func(t *testing.T) {
			facts, golden := s.feed(t, tr)
			path := filepath.Join(s.c.Dir, tr.Name+".facts")
			if updating() {
				if err := os.WriteFile(path, []byte(golden), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != golden {
				t.Errorf("%s differs (go test -update rewrites it); got\n%s", path, golden)
			}
			s.consistent(t, facts)
			s.batches(t, tr, facts)
		})
	}
}

// feed plays a transcript line by line from one reused buffer, as the engine's
// reader does, and formats the facts with their lines.
func (s suite) feed(t *testing.T, tr *Transcript) ([]agent.Fact, string) {
	t.Helper()
	p := s.parser(tr)
	var out agent.Batch
	var all []agent.Fact
	var golden strings.Builder
	buf := make([]byte, 0, 1<<16)
	flush := func(line string) {
		for _, f := range out.Facts {
			fmt.Fprintf(&golden, "%s %s\n", line, Format(f))
		}
		all = append(all, out.Facts...)
		out.Reset()
	}
	for i, line := range tr.Lines {
		buf = append(buf[:0], line...)
		p.Feed(buf, &out)
		for j := range buf {
			buf[j] = '#'
		}
		if len(out.Facts) == 0 && !s.silent(line) {
			t.Errorf("line %d gives no fact: %.200s", i+1, line)
		}
		flush(fmt.Sprint(i + 1))
	}
	p.Close(tr.Exit, &out)
	flush("exit")
	return all, golden.String()
}

// consistent checks what the engine's turn relies on.
func (s suite) consistent(t *testing.T, facts []agent.Fact) {
	t.Helper()
	said, open, done := map[string]string{}, map[string]bool{}, map[string]bool{}
	calls := map[string]bool{} // of subagents
	finals := 0
	for _, f := range facts {
		if !utf8.ValidString(f.Text) {
			t.Errorf("invalid UTF-8: %s", Format(f))
		}
		if f.Item != nil && f.Item.Type == event.Subagent {
			calls[f.Key] = true
		}
		if f.Parent != "" && (!calls[f.Parent] || f.Parent == f.Key) {
			t.Errorf("of a subagent that nobody called: %s", Format(f))
		}
		switch f.Kind {
		case agent.FactStart:
			if f.Item == nil || f.Key == "" || open[f.Key] || done[f.Key] {
				t.Errorf("a start without an item or a key, or a second one: %s", Format(f))
			}
			open[f.Key] = true
		case agent.FactText, agent.FactReasoning:
			if f.Key == "" || done[f.Key] {
				t.Errorf("a piece of no item, or of a closed one: %s", Format(f))
			}
			said[f.Key] += f.Text
		case agent.FactOutput:
			if !open[f.Key] || done[f.Key] {
				t.Errorf("output of an item that is not open: %s", Format(f))
			}
		case agent.FactDone:
			if f.Item == nil || f.Key == "" {
				t.Fatalf("done without an item or a key: %s", Format(f))
			}
			if text := said[f.Key]; text != "" && !strings.HasPrefix(f.Item.Text, text) {
				t.Errorf("pieces %q, whole text %q", text, f.Item.Text)
			}
			done[f.Key] = true
		case agent.FactVerdict:
			if f.Verdict == nil || f.Verdict.Outcome == 0 || (f.Verdict.Outcome == event.Failed) != (f.Verdict.Failure != nil) {
				t.Fatalf("a verdict without outcome, or a failure without reason: %s", Format(f))
			}
			if f.Verdict.Final {
				finals++
			}
		}
	}
	if finals > 1 {
		t.Errorf("%d final verdicts", finals)
	}
}

// batches feeds everything into one batch: how much is read at once changes nothing.
func (s suite) batches(t *testing.T, tr *Transcript, want []agent.Fact) {
	t.Helper()
	p := s.parser(tr)
	var out agent.Batch
	for _, line := range tr.Lines {
		p.Feed(bytes.Clone(line), &out)
	}
	p.Close(tr.Exit, &out)
	if len(out.Facts) != len(want) {
		t.Fatalf("%d facts in one batch, %d in many", len(out.Facts), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(out.Facts[i], want[i]) {
			t.Errorf("fact %d in one batch: %s\nin many: %s", i, Format(out.Facts[i]), Format(want[i]))
		}
	}
}

// Noise is lines that CLIs have printed between their JSON.
func Noise() [][]byte {
	list := []string{
		"npm warn deprecated thing@1.0.0", "2026-01-01T00:00:00Z ERROR core: {\"type\":\"turn.failed\"} is only text",
		"{\"type\":\"turn.completed\"", "null", "[]", "7", "\"text\"", "{}", "{\"type\":5}", "{\"no_type\":1}", "\x1b[2K\x1b[0m", "  ", "\r",
		"\ufeff", "{\"type\":null}", "{\"type\":\"item.completed\",\"item\":[]}", "{\"type\":\"assistant\",\"message\":\"x", "\xff\xfe\xfd",
		"{\"type\":\"unheard_of\",\"text\":\"\\ud83d\"}", strings.Repeat("[", 5000), "{\"a\":" + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}",
		"{\"type\":\"\\u0074urn.started\\\"\"}", "⠧ working", "\x1b]0;title",
	}
	lines := make([][]byte, len(list))
	for i, l := range list {
		lines[i] = []byte(l)
	}
	return lines
}

func (s suite) garbage(t *testing.T) {
	noise := Noise()
	for i, tr := range s.load(t) {
		if s.c.AnyText {
			break
		}
		noisy := *tr
		noisy.Lines = nil
		for j, line := range tr.Lines {
			noisy.Lines = append(noisy.Lines, noise[(i+j)%len(noise)], line)
		}
		clean, loud := Read(s.parser(tr), tr), Read(s.parser(tr), &noisy)
		if !reflect.DeepEqual(clean.Items, loud.Items) || !reflect.DeepEqual(clean.Verdict, loud.Verdict) {
			t.Errorf("%s: noise between the lines changed what was read", tr.Name)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	trs := s.load(t)
	trs = append(trs, &Transcript{Name: "noise", Lines: noise})
	for _, tr := range trs {
		s.broken(t, tr, rng)
	}
}

// broken feeds every line cut and with flipped bytes.
func (s suite) broken(t *testing.T, tr *Transcript, rng *rand.Rand) {
	t.Helper()
	p := s.parser(tr)
	var out agent.Batch
	check := func() {
		for _, f := range out.Facts {
			if !utf8.ValidString(f.Text) || f.Item != nil && (!utf8.ValidString(f.Item.Text) || !utf8.ValidString(f.Item.Output) || !utf8.ValidString(f.Item.Arguments)) {
				t.Errorf("%s: invalid UTF-8: %s", tr.Name, Format(f))
			}
		}
		out.Reset()
	}
	for _, line := range tr.Lines {
		for range 4 {
			bad := bytes.Clone(line)
			if len(bad) > 0 {
				for range 1 + rng.IntN(3) {
					bad[rng.IntN(len(bad))] = byte(rng.IntN(256))
				}
			}
			p.Feed(bad, &out)
			if len(line) > 0 {
				p.Feed(bytes.Clone(line[:rng.IntN(len(line))]), &out)
			}
			check()
		}
	}
	p.Close(agent.Exit{Code: 1, Stderr: "\xffodd"}, &out)
	check()
}

func (s suite) noOutput(t *testing.T) {
	for _, exit := range []agent.Exit{{}, {Code: 1}, {Code: 2, Stderr: "error: unexpected argument '--x' found"}, {Code: -1, Signal: "killed"}, {Code: 143}} {
		var out agent.Batch
		s.a.NewParser(Request(s.a)).Close(exit, &out)
		s.consistent(t, out.Facts)
		for _, f := range out.Facts {
			if f.Kind == agent.FactVerdict && f.Verdict.Outcome == event.Completed && exit.Code != 0 {
				t.Errorf("exit %+v without output is a success", exit)
			}
		}
	}
}

// consistentLoose is consistent for output that no CLI would print: items may be told
// twice, but never as invalid text.
func (s suite) consistentLoose(t *testing.T, facts []agent.Fact) {
	t.Helper()
	for _, f := range facts {
		if !utf8.ValidString(f.Text) || !utf8.ValidString(f.Key) {
			t.Errorf("invalid UTF-8: %s", Format(f))
		}
		if it := f.Item; it != nil && (!utf8.ValidString(it.Text) || !utf8.ValidString(it.Output) || !utf8.ValidString(it.Error)) {
			t.Errorf("invalid UTF-8: %s", Format(f))
		}
		if f.Kind == agent.FactDone && f.Item == nil || f.Kind == agent.FactVerdict && f.Verdict == nil {
			t.Errorf("a fact without its body: %s", Format(f))
		}
	}
}
