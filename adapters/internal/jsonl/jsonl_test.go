package jsonl_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/adapters/internal/jsonl"
)

func TestObjectIsFoundInWhatSurroundsIt(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":1}`:                             `{"a":1}`,
		"\ufeff{\"a\":1}\r":                   `{"a":1}`,
		"\x1b[?2004h{\"a\":1}\x1b[0m":         `{"a":1}`,
		"\x1b]0;title\x07{\"a\":1}":           `{"a":1}`,
		"\x1b]8;;http://x\x1b\\{\"a\":1}":     `{"a":1}`,
		"\x1b]0;{\"a\":1}":                    "",
		"\x1b(B{\"a\":1}":                     `{"a":1}`,
		"{\"a\":\"\xff\"}":                    "{\"a\":\"\uFFFD\"}",
		"log: {\"a\":1}":                      "",
		`{"a":1`:                              "",
		`null`:                                "",
		``:                                    "",
		"{" + strings.Repeat("[", 1001) + "}": "",
		`{"a":"` + strings.Repeat("[", 2000) + `"}`: `{"a":"` + strings.Repeat("[", 2000) + `"}`,
	} {
		got, ok := jsonl.Object([]byte(in))
		if !ok {
			got = nil
		}
		if string(got) != want {
			t.Errorf("%.80q: %.80q, want %.80q", in, got, want)
		}
	}
}

func TestValuesOfOtherTypesStayZero(t *testing.T) {
	t.Parallel()
	type fields struct {
		S jsonl.Str   `json:"s"`
		W jsonl.Word  `json:"w"`
		N jsonl.Num   `json:"n"`
		F jsonl.Flag  `json:"f"`
		C jsonl.Chunk `json:"c"`
	}
	for in, want := range map[string]fields{
		`{"s":"a","w":"b","n":7,"f":true}`:             {S: "a", W: jsonl.Word("b"), N: 7, F: true},
		`{"s":5,"w":{"x":[1]},"n":null,"f":"yes"}`:     {},
		`{"s":null,"w":null,"n":"12","f":1}`:           {N: 12},
		`{"n":1.5e2,"s":"\ud83d\ude00 \ud83d"}`:        {N: 150, S: "😀 \uFFFD"},
		`{"n":9223372036854775807}`:                    {N: 9223372036854775807},
		`{"n":1e400,"s":"a\tb"}`:                       {S: "a\tb"},
		`{"S":"other case","s":"a","unknown":{"s":1}}`: {S: "a"},
	} {
		var got fields
		if !jsonl.Decode([]byte(in), &got) {
			t.Errorf("%s was refused", in)
		}
		if got.S != want.S || string(got.W) != string(want.W) || got.N != want.N || got.F != want.F {
			t.Errorf("%s: %+v, want %+v", in, got, want)
		}
	}
	for _, in := range []string{`{"s":"a"`, `{"s":"a"} x`, `{"s":"a"}{}`, `{"w":"a\"b"}`, `{"s":tru}`, `{"s":"\x"}`, `[]`, ``} {
		if jsonl.Decode([]byte(in), &fields{}) {
			t.Errorf("%s was taken", in)
		}
	}
}

func TestChunkOutlivesItsLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{`{"c":"plain"}`: "plain", `{"c":"a\nb"}`: "a\nb", `{"c":""}`: "", `{"c":3}`: ""} {
		var l struct {
			C jsonl.Chunk `json:"c"`
		}
		var out agent.Batch
		line := []byte(in)
		if !jsonl.Decode(line, &l) {
			t.Fatal(in)
		}
		got := l.C.Text(&out)
		clear(line)
		if got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}

func TestArgsAreAlwaysValidJSON(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``: `{}`, `null`: `{}`, ` {"a": 9007199254740993, "b":-0.0,"b":2} `: `{"a": 9007199254740993, "b":-0.0,"b":2}`,
		`{"a":"\ud83d \ud83d\ude00 \ude00 \\ud83d \uD83D"}`: `{"a":"\ufffd \ud83d\ude00 \ufffd \\ud83d \ufffd"}`,
		`{"a":`: `"{\"a\":"`, "\xff": `"` + "\uFFFD" + `"`,
	} {
		got := jsonl.Args([]byte(in))
		if got != want || !json.Valid([]byte(got)) || !utf8.ValidString(got) {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestUnknownKeepsTheBeginningOfALongLine(t *testing.T) {
	t.Parallel()
	var out agent.Batch
	jsonl.Unknown([]byte(strings.Repeat("漢", 10000)), &out)
	jsonl.Unknown([]byte(" \x1b[0m"), &out)
	if len(out.Facts) != 1 || !utf8.ValidString(out.Facts[0].Text) || !strings.HasSuffix(out.Facts[0].Text, "[13617 bytes dropped]") {
		t.Errorf("%d facts, %q", len(out.Facts), out.Facts[0].Text[len(out.Facts[0].Text)-40:])
	}
}
