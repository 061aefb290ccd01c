package event

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sameItem fails when the quick way reads a body otherwise than the general one; it
// may read fewer.
func sameItem(t interface{ Fatalf(string, ...any) }, body string) (quick bool) {
	got, ok := quickItem(body)
	if !ok {
		return false
	}
	want := new(Item)
	if err := json.Unmarshal([]byte(body), want); err != nil {
		t.Fatalf("%q is read, and is wrong: %v", body, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: got %+v, want %+v", body, got, want)
	}
	return true
}

func TestQuickItemsAreReadAsOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body, err := json.Marshal(genItem().Draw(t, "item"))
		if err != nil {
			t.Fatal(err)
		}
		sameItem(t, string(body))
	})
	text := "said \"so\"\n\t\\ <b>&</b> é 漢 😀 \u2028 " + strings.Repeat("plain words ", 20)
	whole := `{"id":"0123456789abcdef0123456789abcdef","type":1,"status":2,"text":"a\/b\u0041\u00FFé","output":""}`
	code := 3
	var bodies []string
	for _, it := range []*Item{
		{ID: sampleTurn, Type: Message, Status: Done, Phase: FinalAnswer, Text: text},
		{ID: sampleTurn, Type: Message, Status: Done, User: true, Text: strings.Repeat("x", 100)},
		{Type: Command, Status: ItemFailed, Command: "ls\n", Cwd: "/w", Output: text, ExitCode: &code, Millis: 1234567},
		{ID: sampleTurn, Type: ToolCall, Status: Done, Server: "s", Tool: "t", Arguments: `{"a":"\u003c"}`, Error: "no"},
	} {
		body, err := json.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	bodies = append(bodies, whole)
	for _, b := range bodies {
		if !sameItem(t, b) {
			t.Errorf("left to the general way: %s", b)
		}
	}
	spares := []string{
		`"`, `\`, `\n`, `\"`, `\\`, `\u00e9`, `\u00C9`, `\ud83d\ude00`, `\ud800`, `\u12`, `\x`, "\x00", "\x1f", "\x7f", "\xff", "é", "\u2028", "{", "}", "[", ",", ":", " ",
		"null", "true", "false", "0", "-1", "1.5", "1e3", "01", "256", "9999999999999999", `"text":"again",`, `"Text":"x",`, `"user":false,`, `"id":"",`, `"parts":[],`,
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		b := bodies[r.IntN(len(bodies))]
		for range 1 + r.IntN(3) {
			at := r.IntN(len(b) + 1)
			end := min(len(b), at+r.IntN(2)*r.IntN(9))
			b = b[:at] + spares[r.IntN(len(spares))] + b[end:]
		}
		sameItem(t, b)
	}
}

// What the encoder appends is, byte for byte, what json.Marshal writes.
func TestItemsAreWrittenAsByOthers(t *testing.T) {
	t.Parallel()
	same := func(t interface{ Fatalf(string, ...any) }, it *Item) {
		if !simple(it) {
			t.Fatalf("not simple: %+v", it)
		}
		want, err := json.Marshal(it)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if got := appendItem(nil, it); string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		it := genItem().Draw(t, "item")
		it.Parts, it.Changes, it.Query, it.URL = nil, nil, "", ""
		it.Text = string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "bytes"))
		same(t, it)
	})
	for c := range 256 {
		for size := range 20 {
			for at := range size {
				b := []byte(strings.Repeat("x", size))
				b[at] = byte(c)
				same(t, &Item{Text: string(b)})
			}
		}
	}
	for _, text := range []string{"\u2028 and \u2029", "é漢字😀", "\xe2\x80", "\xe2\x80\xa8\xff", "\ufffd", "<b>&</b>", "long enough to be seen eight at a time\n\"é\""} {
		same(t, &Item{ID: sampleTurn, Text: text, Error: text})
	}
	// What it does not know is left to json.Marshal: each field but the known ones.
	known := map[string]bool{"ID": true, "Type": true, "Status": true, "User": true, "Phase": true, "Text": true, "Command": true, "Cwd": true,
		"Output": true, "ExitCode": true, "Millis": true, "Server": true, "Tool": true, "Arguments": true, "Error": true}
	for i := range reflect.TypeFor[Item]().NumField() {
		it := new(Item)
		f := reflect.ValueOf(it).Elem().Field(i)
		switch f.Kind() {
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.Array:
			f.Index(0).SetUint(7)
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Int64:
			f.SetInt(7)
		default:
			f.SetUint(7)
		}
		if name := reflect.TypeFor[Item]().Field(i).Name; simple(it) != known[name] {
			t.Errorf("%s: simple is %t", name, simple(it))
		}
	}
}

// Not parallel: it counts allocations.
func TestItemsAreWrittenCheaply(t *testing.T) {
	ev := Event{Seq: 1, Kind: ItemDone, Turn: sampleTurn, Item: sampleTurn, Body: &Item{ID: sampleTurn, Type: Message, Status: Done, Text: strings.Repeat("a line\n", 100)}}
	var e Encoder
	if n := testing.AllocsPerRun(100, func() {
		e.Reset()
		if err := e.Append(&ev); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Not parallel: it counts allocations. A done message that was stored costs the item,
// its text and the room for an escaped one.
func TestStoredItemsAreReadCheaply(t *testing.T) {
	for _, text := range []string{strings.Repeat("plain words ", 1000), strings.Repeat("lines\n", 1000)} {
		body, err := json.Marshal(&Item{ID: sampleTurn, Type: Message, Status: Done, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		s := string(body)
		if n := testing.AllocsPerRun(100, func() {
			if it, err := readItem(s); err != nil || len(it.Text) != len(text) {
				t.Error("wrong")
			}
		}); n > 4 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkReadItem(b *testing.B) {
	for name, text := range map[string]string{"plain": strings.Repeat("plain words ", 100), "lines": strings.Repeat("so many words in a line, and some more\n", 30), "short": strings.Repeat("x", 200)} {
		b.Run(name, func(b *testing.B) {
			body, err := json.Marshal(&Item{ID: sampleTurn, Type: Message, Status: Done, Text: text})
			if err != nil {
				b.Fatal(err)
			}
			s := string(body)
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := readItem(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
