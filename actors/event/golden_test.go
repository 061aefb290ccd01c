package event

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s line %d:\n got %s\nwant %s", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", path, len(g), len(w))
}

// Journals on disk hold these bytes: a line may be added here, a changed one
// means that stored sessions are lost.
func TestStoredFormatIsKept(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, ev := range samples() {
		var e Encoder
		if err := e.Append(&ev); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", ev.Kind, hex.EncodeToString(e.Buf))
	}
	golden(t, "stored.golden", b.String())
}

// What an older version wrote is read by this one.
func TestStoredBytesAreRead(t *testing.T) {
	t.Parallel()
	want := samples()
	for i, line := range storedLines(t) {
		got, err := Decode(nil, line)
		if err != nil {
			t.Fatalf("%s: %v", want[i].Kind, err)
		}
		if len(got) != 1 || !reflect.DeepEqual(got[0], want[i]) {
			t.Errorf("read %s as %s", show(want[i:i+1]), show(got))
		}
	}
}

// storedLines are the encodings of stored.golden.
func storedLines(t testing.TB) [][]byte {
	t.Helper()
	file, err := os.ReadFile("testdata/stored.golden")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for line := range bytes.Lines(file) {
		_, digits, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		b, err := hex.DecodeString(string(digits))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// Ids and places that repeat are left out; this is the form of a whole chunk.
func TestStoredFormOfARun(t *testing.T) {
	t.Parallel()
	var e Encoder
	for _, ev := range []Event{
		{Seq: 7, At: 1, Kind: ItemStarted, Turn: sampleTurn, Item: sampleItem},
		{Seq: 8, At: 2, Kind: TextDelta, Turn: sampleTurn, Item: sampleItem, Text: "a"},
		{Seq: 9, At: 3, Kind: Notice, Text: "b"},
		{Seq: 10, At: 4, Kind: TextDelta, Turn: sampleTurn, Item: sampleItem, Text: "c"},
	} {
		if err := e.Append(&ev); err != nil {
			t.Fatal(err)
		}
	}
	want := "0705" + "0701" + sampleTurn.Hex() + sampleItem.Hex() +
		"084a" + "0802" + "0161" +
		"0c40" + "0903" + "0162" +
		"084a" + "0a04" + "0163"
	if got := hex.EncodeToString(e.Buf); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// The lines of `store dump` and `run --json`, which scripts read.
func TestJSONLines(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, ev := range samples() {
		line, err := json.Marshal(ev) // a value marshals like a pointer
		if err != nil {
			t.Fatal(err)
		}
		if same, err := json.Marshal(&ev); err != nil || !bytes.Equal(same, line) {
			t.Errorf("pointer: %s %v", same, err)
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	golden(t, "lines.golden", b.String())
}

func TestJSONLineOfWhatCannotBeShown(t *testing.T) {
	t.Parallel()
	if _, err := (Event{Kind: SessionCreated, Body: &Settings{JSON: []byte("{")}}).MarshalJSON(); err == nil {
		t.Error("settings that are no JSON gave a line")
	}
	line, err := Event{Seq: 1, Kind: Kind(200), Text: "x"}.MarshalJSON()
	if err != nil || string(line) != `{"seq":1,"at":0,"kind":"kind_200","text":"x"}` {
		t.Errorf("%s %v", line, err)
	}
}

// The words reach both wires and the dumps.
func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[fmt.Stringer]string{
		Completed: "completed", Failed: "failed", Cancelled: "cancelled", Outcome(0): "unknown",
		InProgress: "in_progress", Done: "completed", ItemFailed: "failed", Incomplete: "incomplete", Status(99): "incomplete",
		Kind(0): "kind_0", SessionCreated: "session.created", TurnForgotten: "turn.forgotten",
	} {
		if got.String() != want {
			t.Errorf("%#v is %q, want %q", got, got.String(), want)
		}
	}
	names := map[string]bool{}
	for _, k := range Kinds() {
		if names[k.String()] || strings.HasPrefix(k.String(), "kind_") {
			t.Errorf("kind %d is called %s", k, k)
		}
		names[k.String()] = true
	}
}

func TestUsageAdds(t *testing.T) {
	t.Parallel()
	u := Usage{1, 2, 3, 4, 5, 6}
	u.Add(&Usage{10, 20, 30, 40, 50, 60})
	if want := (Usage{11, 22, 33, 44, 55, 66}); u != want || u.Total() != 55 {
		t.Errorf("%+v, total %d", u, u.Total())
	}
}

// show prints events for people.
func show(events []Event) string {
	b, err := json.Marshal(events)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
