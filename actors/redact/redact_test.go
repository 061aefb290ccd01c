package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
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
		if Values(v) != nil || New(v).String("x"+v) != "x"+v {
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
	if Values() != nil || Values("a") != nil {
		t.Error("a set without values is not nil")
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

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New("sk-0123456789012345678901234567890123456789", "another/secret+value=")
	}
}

// What is within a longer base64 text is found wherever it is in it.
func TestValueInALongerBase64(t *testing.T) {
	t.Parallel()
	const value = "s3cr3t/value+of=1"
	s := New(value)
	for before := range 7 {
		for after := range 4 {
			text := strings.Repeat("u", before) + value + strings.Repeat(":", after)
			for name, enc := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.RawURLEncoding} {
				got := s.String("Basic " + enc.EncodeToString([]byte(text)))
				rest := strings.ReplaceAll(strings.TrimPrefix(got, "Basic "), Mark, "")
				if !strings.Contains(got, Mark) || len(rest) > (before*8+5)/6+(after*8+5)/6+6 {
					t.Errorf("%d before, %d after, %s: %q", before, after, name, got)
				}
			}
		}
	}
}

func TestShapesAreFound(t *testing.T) {
	t.Parallel()
	s := New()
	for _, token := range []string{
		tokenSK, tokenGH, tokenAWS, tokenJWT, tokenPEM, "sk-ant-api03-abcdefghijklmnop", "github_pat_11ABCDEFG0abcdefghijkl_mnop", "xoxb-123456789012-abcdef",
		"ASIAIOSFODNN7EXAMPLE", strings.ReplaceAll(tokenPEM, "\n", `\n`),
	} {
		for _, around := range []string{"%", "x %", "=%;", "\n%\n", `"%"`, "(%)"} {
			text := strings.Replace(around, "%", token, 1)
			if got, want := s.String(text), strings.Replace(around, "%", Mark, 1); got != want {
				t.Errorf("%q: %q", text, got)
			}
		}
	}
	for _, plain := range []string{
		"task-force-one-two-three-four-5", "sk-learn and others", "sk-spinner-of-many-small-parts", "ghp_short", "AKIAIOSFODNN7EXAMPLE1", "eyJhbGciOiJIUzI1NiJ9",
		"-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----", "|-----|-----|", "risk-0123456789012345678901",
	} {
		if got := s.String(plain); got != plain {
			t.Errorf("%q: %q", plain, got)
		}
		st := s.Stream()
		if got := st.Write(plain) + st.Flush(); got != plain {
			t.Errorf("stream of %q: %q", plain, got)
		}
	}
}

// A delta is held only for as long as it may be the beginning of a secret.
func TestStreamHoldsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	s := New("token-123456")
	for _, step := range []struct{ pieces, said []string }{
		{[]string{"it", " is to", "day"}, []string{"i", "t is ", "today"}},
		{[]string{"token-1234", "57"}, []string{"", "token-123457"}},
		{[]string{"token-1234", "56", "!"}, []string{"", Mark, "!"}},
		{[]string{"token-1\n", "234\n56", "x"}, []string{"", Mark, "x"}},
		{[]string{"these task", "s are"}, []string{"these task", "s are"}},
	} {
		st := s.Stream()
		for i, p := range step.pieces {
			if got := st.Write(p); got != step.said[i] {
				t.Errorf("%q, piece %d: %q, want %q", step.pieces, i, got, step.said[i])
			}
		}
		if got := st.Flush(); got != "" {
			t.Errorf("%q: %q was still held", step.pieces, got)
		}
	}
}

// Nobody can make it work for long, or hold much, by what only begins like a secret.
func TestWhatOnlyBeginsIsLetGoOf(t *testing.T) {
	t.Parallel()
	s := New()
	for _, begin := range []string{"sk-", "ghp_", "xoxb-", "eyJ", "-----BEGIN PRIVATE KEY-----\n"} {
		st := s.Stream()
		st.Write(begin)
		for range 40 {
			st.Write(strings.Repeat("a", 1<<10))
		}
		if held := len(st.Held()); held > mostPEM {
			t.Errorf("after %q: %d bytes are held", begin, held)
		}
	}
}

// Wherever a secret stands in a text, of whatever length, and whatever begins like one
// before it.
func TestEveryPlaceIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"token-1", "aaaaaab", "\xff\x00\xfe\x01\xfd\x02é", tokenSK} {
		s := New(value)
		for _, around := range []string{" ", "x ", value[:1] + " ", value[:2] + " ", value[:3] + " "} {
			for before := range 35 {
				for after := range 20 {
					head := strings.Repeat(around, before)[:before]
					if before > 0 {
						head = head[:before-1] + " "
					}
					tail := (" " + strings.Repeat(around, after))[:after]
					if got, want := s.String(head+value+tail), head+Mark+tail; got != want {
						t.Fatalf("%q in %q: %q", value, head+value+tail, got)
					}
				}
			}
		}
	}
}
