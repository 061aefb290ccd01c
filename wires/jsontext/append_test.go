package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/jsontext"
)

// Every byte, at every place in a word and in words of every length, is treated as
// encoding/json treats it.
func TestEveryByteAtEveryPlace(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for size := 1; size <= 20; size++ {
			for at := range size {
				b := bytes.Repeat([]byte{'x'}, size)
				b[at] = byte(c)
				if at+9 < size {
					b[at+9] = byte(c)
				}
				for _, html := range []bool{false, true} {
					var want bytes.Buffer
					enc := json.NewEncoder(&want)
					enc.SetEscapeHTML(html)
					if err := enc.Encode(string(b)); err != nil {
						t.Fatal(err)
					}
					if got := string(jsontext.Append(nil, string(b), html)); got != normal(strings.TrimSuffix(want.String(), "\n")) {
						t.Fatalf("%q: %s, want %s", b, got, want.String())
					}
				}
			}
		}
	}
}

// normal writes the short escapes that encoding/json has and this package does not.
func normal(s string) string {
	return strings.NewReplacer(`\b`, `\u0008`, `\f`, `\u000c`).Replace(s)
}

func FuzzAppend(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\r\t\x00\x1f", "<&>", "\u2028\u2029", "h\xffé\xf0\x9f", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, html := range []bool{false, true} {
			b := jsontext.Append(nil, s, html)
			var back string
			if err := json.Unmarshal(b, &back); err != nil {
				t.Fatalf("%q: %v", b, err)
			}
			if want := string([]rune(s)); back != want {
				t.Errorf("%q became %q", want, back)
			}
			if strings.ContainsAny(string(b), "\n\r\u2028\u2029") || html && strings.ContainsAny(string(b), "<>&") {
				t.Errorf("%q is not fit for a frame", b)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for name, text := range map[string]string{
		"plain": strings.Repeat("some words of an answer ", 8), "lines": strings.Repeat("a \"word\"\n", 20), "letters": strings.Repeat("größer ", 25), "signs": strings.Repeat("漢字", 32),
	} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				buf = jsontext.Append(buf[:0], text, true)
			}
		})
	}
}
