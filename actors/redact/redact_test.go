package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const secret = `sk-"päss"/<w&rd>+ 1=\x𝄞`

func TestEveryFormIsFound(t *testing.T) {
	t.Parallel()
	s := New(secret)
	plain, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(plain))
	if err != nil {
		t.Fatal(err)
	}
	var unescaped bytes.Buffer
	enc := json.NewEncoder(&unescaped)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(secret); err != nil {
		t.Fatal(err)
	}
	inside := func(s string) string { s = strings.TrimSpace(s); return s[1 : len(s)-1] }
	for name, form := range map[string]string{
		"raw":          secret,
		"bearer":       "Bearer " + secret,
		"query":        url.QueryEscape(secret),
		"path":         url.PathEscape(secret),
		"javascript":   "sk-%22p%C3%A4ss%22%2F%3Cw%26rd%3E%2B%201%3D%5Cx%F0%9D%84%9E",
		"python quote": "sk-%22p%C3%A4ss%22/%3Cw%26rd%3E%2B%201%3D%5Cx%F0%9D%84%9E",
		"lower hex":    "sk-%22p%c3%a4ss%22%2f%3cw%26rd%3e%2b%201%3d%5cx%f0%9d%84%9e",
		"json":         inside(string(plain)),
		"json html":    inside(unescaped.String()),
		"json ascii":   `sk-\"p\u00e4ss\"/<w&rd>+ 1=\\x\ud834\udd1e`,
		"json slash":   `sk-\"päss\"\/<w&rd>+ 1=\\x𝄞`,
		"json in json": strings.Trim(inside(string(twice)), `\"`),
		"base64":       base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 url":   base64.URLEncoding.EncodeToString([]byte(secret)),
		"base64 raw":   base64.RawStdEncoding.EncodeToString([]byte(secret)),
	} {
		text := "before " + form + " after"
		got := s.String(text)
		if want := "before " + strings.Repeat("Bearer ", strings.Count(name, "bearer")) + Mark + " after"; got != want {
			t.Errorf("%s: %q", name, got)
		}
		if b := s.Bytes([]byte(text)); string(b) != got {
			t.Errorf("%s: Bytes %q", name, b)
		}
	}
}

func TestWhichValuesCount(t *testing.T) {
	t.Parallel()
	for _, v := range []string{"", "short", "äöüäö", "  12345\n", "redacted", Mark, "Bearer abc"} {
		if New(v) != nil {
			t.Errorf("%q counts", v)
		}
	}
	s := New("x", " 123456\n", "Bearer token-1")
	if got := s.String("a123456b bearer token-1 token-2"); got != "a"+Mark+"b bearer "+Mark+" token-2" {
		t.Error(got)
	}
}

func TestLinesOfAKeyAreFound(t *testing.T) {
	t.Parallel()
	s := New("-----BEGIN KEY-----\nMIIEowIBAAKCAQEA\r\nshort\n-----END KEY-----\n")
	if got := s.String("-----BEGIN KEY-----"); got != "-----BEGIN KEY-----" {
		t.Error(got)
	}
	if got := s.String("x MIIEowIBAAKCAQEA y"); got != "x "+Mark+" y" {
		t.Error(got)
	}
}

func TestLongestOfThoseThatBeginTogether(t *testing.T) {
	t.Parallel()
	s := New("abcdef", "abcdefghij", "cdefgh")
	for in, want := range map[string]string{
		"abcdef":             Mark,
		"abcdefghij":         Mark,
		"abcdefghi":          Mark + "ghi",
		"xcdefghx":           "x" + Mark + "x",
		"abcdefabcdefghijab": Mark + Mark + "ab",
		"abcde":              "abcde",
	} {
		if got := s.String(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// Not parallel: it counts allocations.
func TestNothingFoundCostsNothing(t *testing.T) {
	s := New(secret, "another-secret")
	p, text := []byte(strings.Repeat("nothing here ", 1000)), strings.Repeat("nothing here ", 1000)
	if got := s.Bytes(p); &got[0] != &p[0] || len(got) != len(p) {
		t.Error("not the same slice")
	}
	if n := testing.AllocsPerRun(100, func() { s.Bytes(p); _ = s.String(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNilSet(t *testing.T) {
	t.Parallel()
	var s *Set
	if got := s.String(secret); got != secret {
		t.Error(got)
	}
	if got := s.Bytes([]byte(secret)); string(got) != secret {
		t.Error(string(got))
	}
	if st := s.Stream(); st.Write("a")+st.Flush() != "a" {
		t.Error("stream")
	}
	if New() != nil {
		t.Error("an empty set is not nil")
	}
}

func TestStreamFindsWhatIsSplit(t *testing.T) {
	t.Parallel()
	s := New("token-123456", "aXXXXXa", "token-123456-long")
	for _, text := range []string{
		"the token-123456 is", "token-123456", "aXXXXXaXXXXXa", "token-123456-lo", "token-123456-long", "token-12345",
	} {
		want := s.String(text)
		for size := 1; size <= len(text); size++ {
			st, got := s.Stream(), ""
			for i := 0; i < len(text); i += size {
				got += st.Write(text[i:min(i+size, len(text))])
			}
			if got += st.Flush(); got != want {
				t.Errorf("%s by %d: %s", text, size, got)
			}
		}
	}
	if st := s.Stream(); st.Write("plain words") != "plain words" {
		t.Error("held for no reason")
	}
}

func FuzzSet(f *testing.F) {
	f.Add(secret, "another-secret", "x "+secret+" y another-secret", byte(3))
	f.Add("aaaaaa", "aaaaaaa", strings.Repeat("a", 40), byte(1))
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa", "äöüäöü", "äöüäöü\xff\xfe\xfd\xfc\xfb\xfa", byte(2))
	f.Add(strings.Repeat("k", 300), "123456", strings.Repeat("k", 301), byte(9))
	f.Fuzz(func(t *testing.T, a, b, text string, size byte) {
		if len(a)+len(b)+len(text) > 1000 {
			t.Skip("long ones take long and show nothing new")
		}
		s := New(a, b)
		for _, v := range []string{a, b} { // the value is in the text in each form
			v = strings.TrimSpace(v)
			j, _ := json.Marshal(v)
			text += v + url.QueryEscape(v) + string(j) + base64.StdEncoding.EncodeToString([]byte(v))
		}
		got := s.String(text)
		if string(s.Bytes([]byte(text))) != got {
			t.Error("Bytes and String differ")
		}
		st, joined := s.Stream(), ""
		for i, n := 0, 1+int(size); i < len(text); i += n {
			joined += st.Write(text[i:min(i+n, len(text))])
		}
		if joined += st.Flush(); joined != got {
			t.Errorf("stream: %q, whole: %q", joined, got)
		}
		if s == nil {
			if got != text {
				t.Error("nil set changed something")
			}
			return
		}
		// Between the marks nothing is left. (Across them something may look like a
		// secret if a secret looks like a mark.)
		for _, part := range strings.Split(got, Mark) {
			for _, form := range s.forms {
				if strings.Contains(part, form) {
					t.Errorf("%q left in %q", form, got)
				}
			}
		}
	})
}

func BenchmarkBytes(b *testing.B) {
	line := bytes.Repeat([]byte(`{"type":"item.completed","text":"The quick brown fox \u003c jumps"},`), 1000)
	for _, c := range []struct{ values, length int }{{1, 40}, {5, 40}, {50, 40}, {5, 6}} {
		b.Run(fmt.Sprintf("%dx%d", c.values, c.length), func(b *testing.B) {
			var values []string
			for i := range c.values {
				values = append(values, fmt.Sprintf("%0*d", c.length, 7919*(i+1)*104729)[:c.length])
			}
			s := New(values...)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				s.Bytes(line)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New("sk-0123456789012345678901234567890123456789", "another/secret+value=")
	}
}
