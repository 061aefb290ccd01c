package agents

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/fold"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A golden file has every event of a story (>) and below it the frames it gives.
func TestFramesOfEachStoryAreTheGoldenOnes(t *testing.T) {
	t.Parallel()
	for name := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, name)
			b := s.batch()
			frames := Render(b)
			var got bytes.Buffer
			for i := range b.Events {
				line, err := b.Events[i].MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				got.WriteString("> ")
				got.Write(line)
				got.WriteByte('\n')
				got.Write(frames.Of(i))
			}
			path := filepath.Join("testdata", name+".sse")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("frames differ from %s; run with -update and read the difference", path)
			}
		})
	}
}

// A stream that goes on behind a cursor, here inside the event that accepted the
// input, begins with the frames that are missing.
func TestResumedStreamIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	st := tell(t, "plain_turn")
	e := newFakeEngine(t)
	e.sessions = []*story{st}
	src := &source{}
	if err := src.seek(Cursor{Seq: 2, K: 1}, subscriber(e, st)); err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	got := []byte("behind evt_0000000000000002_1\n\n")
	for {
		frames, wake, _, err := src.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, frames...); wake != nil {
			break
		}
	}
	path := filepath.Join("testdata", "resumed_stream.sse")
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("frames differ from %s; run with -update and read the difference", path)
	}
}

// Every kind of event, type of item and end has a golden file.
func TestStoriesHaveEverything(t *testing.T) {
	t.Parallel()
	kinds, items, ends := map[event.Kind]bool{}, map[event.ItemType]bool{}, map[event.Outcome]bool{}
	for name := range stories {
		for _, ev := range tell(t, name).events {
			kinds[ev.Kind] = true
			switch b := ev.Body.(type) {
			case *event.Item:
				items[b.Type] = true
			case *event.End:
				ends[b.Outcome] = true
			}
		}
	}
	for _, k := range event.Kinds() {
		if !kinds[k] {
			t.Errorf("no story with %s", k)
		}
	}
	for typ := event.Message; typ <= event.ApprovalAnswer; typ++ {
		if !items[typ] {
			t.Errorf("no story with an item of type %s", typ)
		}
	}
	for o := event.Completed; o <= event.Cancelled; o++ {
		if !ends[o] {
			t.Errorf("no story ends %s", o)
		}
	}
}

func TestStoriesKeepTheOrderAndShapesOfTheWire(t *testing.T) {
	t.Parallel()
	for name := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames := parseStream(t, Render(tell(t, name).batch()).Buf)
			checkOrder(t, frames)
			for _, f := range frames {
				for _, fault := range theShapes(t).event(f.Data) {
					t.Errorf("%s\n  in %s", fault, f.Raw)
				}
			}
		})
	}
}

func TestSessionIsIdleOnlyAfterTheLastQueuedInput(t *testing.T) {
	t.Parallel()
	var idles, last int
	frames := parseStream(t, Render(tell(t, "two_queued_inputs").batch()).Buf)
	for i, f := range frames {
		if f.Kind == "agent.session.idle" {
			idles, last = idles+1, i
		}
	}
	if idles != 1 || last != len(frames)-1 {
		t.Errorf("%d idles, the last one at %d of %d frames", idles, last, len(frames))
	}
}

// Every kind must be decided on: a new one has to be added to this list and to
// render.
func TestEveryKindIsOnTheWireOrKnownToBeSilent(t *testing.T) {
	t.Parallel()
	silent := map[event.Kind]bool{
		event.SessionUpdated: true, event.SessionDeleted: true, event.NativeSession: true,
		event.Notice: true, event.Unknown: true, event.TurnForgotten: true,
		event.Skipped: true, event.TurnResumed: true,
		event.ItemsPosted: true, event.ItemRemoved: true,
	}
	told := map[event.Kind]bool{}
	for name := range stories {
		b := tell(t, name).batch()
		frames := Render(b)
		for i := range b.Events {
			if len(frames.Of(i)) > 0 {
				told[b.Events[i].Kind] = true
			}
		}
	}
	for _, k := range event.Kinds() {
		if told[k] == silent[k] {
			t.Errorf("kind %s: on the wire %v, meant to be silent %v", k, told[k], silent[k])
		}
	}
}

// A damaged or foreign event gives no frame, and no panic.
func TestEventsWithoutTheirBodyOrViewGiveNothing(t *testing.T) {
	t.Parallel()
	for _, k := range append(event.Kinds(), event.Kind(200)) {
		switch k {
		case event.TextDelta, event.ReasoningDelta, event.OutputDelta:
			continue // need no more than their text
		}
		b := &fold.Batch{Events: []event.Event{{Seq: 7, Kind: k}}}
		if f := Render(b); len(f.Buf) != 0 {
			t.Errorf("%s gave %q", k, f.Buf)
		}
	}
}

func TestBatchBordersDoNotMatter(t *testing.T) {
	t.Parallel()
	for name := range stories {
		s := tell(t, name)
		whole := Render(s.batch()).Buf
		rapid.Check(t, func(t *rapid.T) {
			var got []byte
			for from := 0; from < len(s.events); {
				to := rapid.IntRange(from+1, len(s.events)).Draw(t, "to")
				got = append(got, Render(s.cut(from, to)).Buf...)
				from = to
			}
			if !bytes.Equal(got, whole) {
				t.Fatalf("%s: bytes depend on the batches", name)
			}
		})
	}
}

func TestAppendStringIsJSONWithoutLineBreaks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.SampledFrom([]byte("a\"\\\n\r\t\x00\x1f\x7f\xff\xe2\x80\xa8\xa9\xf0\x9f\x99\x82"))).Draw(t, "s"))
		b := appendString(nil, s)
		if bytes.ContainsAny(b, "\n\r\u2028\u2029") {
			t.Fatalf("line break in %q", b)
		}
		var got string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if want := string([]rune(s)); got != want {
			t.Fatalf("%q came back as %q", want, got)
		}
	})
}

func TestAppendedItemsLookAsEncodedOnes(t *testing.T) {
	t.Parallel()
	texts := []string{"", "plain", "a \"word\"\n<&>\u2028\x00 é 漢字 😀", "bad \xff\xc3"}
	for kind := event.Message; kind <= event.FunctionOutput; kind++ {
		for status := event.InProgress; status <= event.Incomplete; status++ {
			for ph := event.NoPhase; ph <= event.FinalAnswer; ph++ {
				for _, text := range texts {
					it := &event.Item{ID: fixedID(2, 2), Type: kind, Status: status, Phase: ph, Text: text, User: kind == event.Message && ph == event.NoPhase && status == event.Done}
					var want, got, given framer
					want.object("item", itemObject(fixedID(2, 1), it))
					got.item(fixedID(2, 1), it, nil)
					given.item(fixedID(2, 1), it, appendString(nil, text))
					if !bytes.Equal(got.buf, want.buf) || !bytes.Equal(given.buf, want.buf) {
						t.Fatalf("%s and %s\nwant %s", got.buf, given.buf, want.buf)
					}
				}
			}
		}
	}
}

func deltas(n int) *fold.Batch {
	b := &fold.Batch{Session: fixedID(1, 1)}
	for i := range n {
		b.Events = append(b.Events, event.Event{
			Seq: int64(i + 1), Kind: event.TextDelta, Turn: fixedID(2, 1), Item: fixedID(2, 2), Index: 3,
			Text: "some words of an answer, \"quoted\"\n",
		})
	}
	return b
}

func TestDeltasCostNoAllocation(t *testing.T) {
	b := deltas(1)
	r := renderer{framer{buf: make([]byte, 0, 4096), session: b.Session}}
	for _, k := range []event.Kind{event.TextDelta, event.ReasoningDelta, event.OutputDelta} {
		b.Events[0].Kind = k
		if n := testing.AllocsPerRun(100, func() {
			r.buf = r.buf[:0]
			r.render(&b.Events[0], nil)
		}); n != 0 {
			t.Errorf("%s: %v allocations", k, n)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	batch := deltas(1)
	r := renderer{framer{buf: make([]byte, 0, 4096), session: batch.Session}}
	b.ReportAllocs()
	for b.Loop() {
		r.buf = r.buf[:0]
		r.render(&batch.Events[0], nil)
	}
	b.SetBytes(int64(len(r.buf)))
}

func BenchmarkBatchOf1000Deltas(b *testing.B) {
	batch := deltas(1000)
	b.ReportAllocs()
	for b.Loop() {
		Render(batch)
	}
}

func BenchmarkWholeTurn(b *testing.B) {
	batch := tell(b, "command").batch()
	b.ReportAllocs()
	for b.Loop() {
		Render(batch)
	}
}

// 2 MiB is the most an item's text has; SDKs read lines of 8 MiB at most.
func TestLongTextsDoNotGrowPastALine(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.start(s.accept(1, "Write a page."))
	page := strings.Repeat("<a href=\"x\">&\x1b[0m\n", 2<<20/20)
	id := s.open(event.Item{Type: event.Command, Command: "cat"})
	s.done(id, event.Item{Type: event.Command, Command: "cat", Output: page})
	s.say(event.FinalAnswer, page)
	for _, line := range bytes.Split(Render(s.batch()).Buf, []byte("\n")) {
		if len(line) > 4<<20 {
			t.Errorf("a line of %d bytes for a text of %d: %.60s", len(line), len(page), line)
		}
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
		used, room := len(Render(b).Buf), estimate(b)
		if room < used || room > 8*used/5 {
			t.Errorf("texts of %d: room for %d, used %d", len(text), room, used)
		}
	}
}
