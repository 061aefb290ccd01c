package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// Generators. Nil and empty slices are one in the stored form, so only nil is
// drawn.
func genID() *rapid.Generator[ID] {
	return rapid.Custom(func(t *rapid.T) ID {
		switch rapid.IntRange(0, 3).Draw(t, "which id") {
		case 0:
			return ID{}
		case 1:
			return sampleTurn // repeats, so that ids are left out
		default:
			return ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		}
	})
}

func genBytes() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		if b := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes"); len(b) > 0 {
			return b
		}
		return nil
	})
}

func genItem() *rapid.Generator[*Item] {
	str := rapid.StringN(0, 20, -1)
	return rapid.Custom(func(t *rapid.T) *Item {
		it := &Item{
			ID: genID().Draw(t, "id"), Type: ItemType(rapid.Byte().Draw(t, "type")), Status: Status(rapid.Byte().Draw(t, "status")),
			User: rapid.Bool().Draw(t, "user"), Phase: Phase(rapid.Byte().Draw(t, "phase")), Text: str.Draw(t, "text"),
			Command: str.Draw(t, "command"), Cwd: str.Draw(t, "cwd"), Output: str.Draw(t, "output"), Millis: rapid.Int64().Draw(t, "millis"),
			Server: str.Draw(t, "server"), Tool: str.Draw(t, "tool"), Arguments: str.Draw(t, "arguments"), Error: str.Draw(t, "error"),
			Query: str.Draw(t, "query"), URL: str.Draw(t, "url"),
		}
		if rapid.Bool().Draw(t, "exited") {
			code := rapid.Int().Draw(t, "exit")
			it.ExitCode = &code
		}
		for range rapid.IntRange(0, 2).Draw(t, "parts") {
			it.Parts = append(it.Parts, Part{Text: str.Draw(t, "part"), ImageURL: str.Draw(t, "image")})
			it.Changes = append(it.Changes, Change{Path: str.Draw(t, "path"), Kind: str.Draw(t, "kind")})
		}
		return it
	})
}

func drawBody(t *rapid.T, k Kind) Body {
	str := rapid.StringN(0, 20, -1)
	switch k {
	case SessionCreated, SessionUpdated:
		b := genBytes().Draw(t, "settings") // opaque here
		if b == nil {
			b = []byte{}
		}
		return &Settings{JSON: b}
	case InputAccepted:
		in := &Input{
			Number: rapid.Int64().Draw(t, "number"), Prompt: str.Draw(t, "prompt"), Waiting: rapid.Bool().Draw(t, "waiting"),
			WasIdle: rapid.Bool().Draw(t, "idle"), Overrides: genBytes().Draw(t, "overrides"), Wire: str.Draw(t, "wire"),
			Echo: genBytes().Draw(t, "echo"), Background: rapid.Bool().Draw(t, "background"), Forget: rapid.Bool().Draw(t, "forget"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			in.Items = append(in.Items, genItem().Draw(t, "item"))
		}
		return in
	case ItemStarted, ItemDone:
		return genItem().Draw(t, "item")
	case TurnEnded:
		end := &End{
			Outcome: Outcome(rapid.Byte().Draw(t, "outcome")), Carry: genBytes().Draw(t, "carry"), Idle: rapid.Bool().Draw(t, "idle"),
			FirstByte: rapid.Int64().Draw(t, "first"), Exit: str.Draw(t, "exit"), Isolation: str.Draw(t, "isolation"),
		}
		if rapid.Bool().Draw(t, "fails") {
			end.Failure = &Failure{
				Code: Code(str.Draw(t, "code")), Message: str.Draw(t, "message"), Param: str.Draw(t, "param"), Oldest: str.Draw(t, "oldest"),
				RetryAfter: rapid.Int().Draw(t, "retry"), ResetsAt: rapid.Int64().Draw(t, "resets"),
			}
		}
		if rapid.Bool().Draw(t, "told") {
			n := rapid.Int64()
			end.Usage = &Usage{n.Draw(t, "in"), n.Draw(t, "cached"), n.Draw(t, "write"), n.Draw(t, "out"), n.Draw(t, "think"), n.Draw(t, "usd")}
		}
		return end
	default:
		return nil
	}
}

func genEvent() *rapid.Generator[Event] {
	return rapid.Custom(func(t *rapid.T) Event {
		ev := Event{
			Seq: rapid.Int64().Draw(t, "seq"), At: rapid.Int64().Draw(t, "at"),
			Kind: rapid.SampledFrom(Kinds()).Draw(t, "kind"),
			Turn: genID().Draw(t, "turn"), Item: genID().Draw(t, "item"),
			Index: rapid.Int32Range(0, math.MaxInt32).Draw(t, "index"), Step: rapid.Int32Range(0, math.MaxInt32).Draw(t, "step"),
			Text: string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "text")),
		}
		if rapid.IntRange(0, 9).Draw(t, "no body") > 0 {
			ev.Body = drawBody(t, ev.Kind)
		}
		return ev
	})
}

func TestEncodedEventsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(genEvent(), 0, 6).Draw(t, "events")
		var e Encoder
		for i := range events {
			if err := e.Append(&events[i]); err != nil {
				t.Fatal(err)
			}
		}
		before := bytes.Clone(e.Buf)
		got, err := Decode(nil, e.Buf)
		if err != nil {
			t.Fatal(err)
		}
		clear(e.Buf) // the events share nothing with it
		if len(got) != len(events) || len(events) > 0 && !reflect.DeepEqual(got, events) {
			t.Fatalf("wrote %s\nread %s", show(events), show(got))
		}
		// An encoding is a pure function of the events, and Reset forgets the ids.
		e.Reset()
		for i := range got {
			if err := e.Append(&got[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(e.Buf, before) {
			t.Fatalf("second encoding differs")
		}
	})
}

func TestUnwritableEventLeavesTheBuffer(t *testing.T) {
	t.Parallel()
	var e Encoder
	if err := e.Append(&Event{Seq: 1, Kind: TextDelta, Text: "a"}); err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(e.Buf)
	for _, ev := range []Event{{Kind: TextDelta, Index: -1}, {Kind: TextDelta, Step: -1}} {
		if e.Append(&ev) == nil || !bytes.Equal(e.Buf, before) {
			t.Errorf("%+v was written", ev)
		}
	}
}

// A kind of a newer version keeps what every event has; its body is dropped.
func TestUnknownKindIsReadWithoutItsBody(t *testing.T) {
	t.Parallel()
	var e Encoder
	in := []Event{
		{Seq: 1, Kind: Kind(99), Turn: sampleTurn, Step: 4, Text: "t", Body: &End{Outcome: Failed}},
		{Seq: 2, Kind: Notice, Turn: sampleTurn, Text: "u"},
	}
	for i := range in {
		if err := e.Append(&in[i]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Decode(nil, e.Buf)
	in[0].Body = nil
	if err != nil || !reflect.DeepEqual(got, in) {
		t.Errorf("%s %v", show(got), err)
	}
}

// A field of a newer version is passed over.
func TestUnknownFieldIsPassedOver(t *testing.T) {
	t.Parallel()
	body := `{"outcome":1,"mood":"fine"}`
	got, err := Decode(nil, append([]byte{byte(TurnEnded), flagBody, 1, 2, byte(len(body))}, body...))
	if err != nil || got[0].Body.(*End).Outcome != Completed {
		t.Errorf("%s %v", show(got), err)
	}
}

func TestDamageIsReported(t *testing.T) {
	t.Parallel()
	id := make([]byte, 16)
	for name, b := range map[string][]byte{
		"half a header":             {byte(Notice)},
		"no numbers":                {byte(Notice), 0},
		"one number":                {byte(Notice), 0, 1},
		"endless number":            {byte(Notice), 0, 0x80, 0x80},
		"number above 64 bits":      {byte(Notice), 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 1},
		"number of 11 bytes":        {byte(Notice), 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 1},
		"half an id":                {byte(Notice), flagTurn, 1, 1, 7, 7},
		"half an item id":           {byte(Notice), flagItem, 1, 1, 7, 7},
		"the same turn as none":     {byte(Notice), flagSameTurn, 1, 1},
		"the same item as none":     {byte(Notice), flagSameItem, 1, 1},
		"a turn new and the same":   append([]byte{byte(Notice), flagTurn | flagSameTurn, 1, 1}, id...),
		"no index":                  {byte(Notice), flagIndex, 1, 1},
		"index above 31 bits":       {byte(Notice), flagIndex, 1, 1, 0x80, 0x80, 0x80, 0x80, 8},
		"step above 31 bits":        {byte(Notice), flagStep, 1, 1, 0x80, 0x80, 0x80, 0x80, 8},
		"text longer than the rest": {byte(Notice), flagText, 1, 1, 3, 'a', 'b'},
		"length above 63 bits":      {byte(Notice), flagText, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
		"no body":                   {byte(TurnEnded), flagBody, 1, 1},
		"end is no JSON":            {byte(TurnEnded), flagBody, 1, 1, 1, '{'},
		"input is no JSON":          {byte(InputAccepted), flagBody, 1, 1, 1, '{'},
		"item is no object":         {byte(ItemDone), flagBody, 1, 1, 2, '[', ']'},
		"input with a null item":    append([]byte{byte(InputAccepted), flagBody, 1, 1, 16}, `{"items":[null]}`...),
	} {
		whole := []byte{byte(Notice), 0, 1, 1} // what comes before is handed over
		got, err := Decode(nil, append(whole, b...))
		if !errors.Is(err, ErrCorrupt) || len(got) != 1 {
			t.Errorf("%s: %s %v", name, show(got), err)
		}
	}
}

// Every cut of a stored event is damage, never a shorter event.
func TestCutEncodingIsDamage(t *testing.T) {
	t.Parallel()
	for _, whole := range storedLines(t) {
		for n := 1; n < len(whole); n++ {
			if got, err := Decode(nil, whole[:n]); !errors.Is(err, ErrCorrupt) || len(got) != 0 {
				t.Fatalf("%d of %d bytes of %x: %s %v", n, len(whole), whole, show(got), err)
			}
		}
	}
}

// FuzzDecode: any bytes give events or ErrCorrupt, and what was read is written
// and read again as the same.
func FuzzDecode(f *testing.F) {
	var run []byte
	for _, line := range storedLines(f) {
		f.Add(line)
		run = append(run, line...)
	}
	f.Add(run)
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		events, err := Decode(nil, b)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		var e Encoder
		for i := range events {
			if s, ok := events[i].Body.(*Settings); ok && !json.Valid(s.JSON) {
				continue // only its line is refused
			} else if _, err := events[i].MarshalJSON(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range events {
			if err := e.Append(&events[i]); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Decode(nil, e.Buf)
		if err != nil || len(again) != len(events) {
			t.Fatalf("%d events, then %d: %v", len(events), len(again), err)
		}
		e.Reset()
		for i := range again {
			if err := e.Append(&again[i]); err != nil {
				t.Fatal(err)
			}
		}
		if third, err := Decode(nil, e.Buf); err != nil || !reflect.DeepEqual(third, again) && len(again) > 0 {
			t.Fatalf("%s\nthen %s %v", show(again), show(third), err)
		}
	})
}

// A flood of deltas is encoded into a warm buffer for nothing.
func TestEncodingDeltasDoesNotAllocate(t *testing.T) { // not parallel: it counts allocations
	deltas := deltas(1000)
	var e Encoder
	if n := testing.AllocsPerRun(20, func() {
		e.Reset()
		for i := range deltas {
			if err := e.Append(&deltas[i]); err != nil {
				t.Fatal(err)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations for %d deltas", n, len(deltas))
	}
	out := make([]Event, 0, len(deltas))
	if n := testing.AllocsPerRun(20, func() {
		if _, err := Decode(out, e.Buf); err != nil {
			t.Fatal(err)
		}
	}); n > 2 { // the copy of the buffer
		t.Errorf("%v allocations to read %d deltas", n, len(deltas))
	}
}

func deltas(n int) []Event {
	out := make([]Event, n)
	for i := range out {
		out[i] = Event{Seq: int64(i + 9), At: 1_796_000_000_000, Kind: TextDelta, Turn: sampleTurn, Item: sampleItem, Step: int32(i), Text: "a piece of text "}
	}
	return out
}

func BenchmarkEncodeDeltas(b *testing.B) {
	deltas := deltas(1000)
	var e Encoder
	for b.Loop() {
		e.Reset()
		for i := range deltas {
			_ = e.Append(&deltas[i])
		}
	}
	b.SetBytes(int64(len(e.Buf)))
}

func BenchmarkDecodeDeltas(b *testing.B) {
	var e Encoder
	for _, ev := range deltas(1000) {
		_ = e.Append(&ev)
	}
	out := make([]Event, 0, 1000)
	b.SetBytes(int64(len(e.Buf)))
	for b.Loop() {
		_, _ = Decode(out, e.Buf)
	}
}
