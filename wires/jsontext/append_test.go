package jsontext_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agenthost/agenthost/wires/jsontext"
)

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
