package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// shapesOf are the known kinds of tokens, said otherwise: as expressions.
var shapesOf = []struct {
	re    *regexp.Regexp
	digit bool
}{
	{regexp.MustCompile(`^sk-[A-Za-z0-9_-]{20,509}`), true},
	{regexp.MustCompile(`^gh[pousr]_[A-Za-z0-9_-]{36,508}`), false},
	{regexp.MustCompile(`^github_pat_[A-Za-z0-9_-]{20,501}`), false},
	{regexp.MustCompile(`^xox[a-z]-[A-Za-z0-9_-]{10,507}`), true},
	{regexp.MustCompile(`^eyJ[A-Za-z0-9_-]{7,}\.eyJ[A-Za-z0-9_-]{7,}\.[A-Za-z0-9_-]{10,}`), false},
	{regexp.MustCompile(`^-----BEGIN (?:[A-Z ]{0,39}[A-Z ])?PRIVATE KEY-----(?:[A-Za-z0-9+/=\n\r \t:,]|\\[nr]|-(?:[^-]|$|-{1,3}(?:[^-]|$)))*(?:-----END [A-Z ]*(?:-----)?)?`), false},
}

var lineBreak = regexp.MustCompile(`^(?:\n|\r|\\n|\\r)`)

var awsKey = regexp.MustCompile(`^(?:AKIA|ASIA)[A-Z0-9]{16}(?:[^A-Za-z0-9_-]|$)`)

// naive redacts as Set does, slowly: at each place it tries every form.
func naive(forms map[string]bool, shapes bool, text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		end := i
		for f := range forms {
			end = max(end, naiveForm(text, i, f))
		}
		if shapes {
			end = max(end, naiveShape(text, i))
		}
		if end > i {
			out.WriteString(Mark)
			i = end
			continue
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

// naiveForm is where a form ends that begins at i, i if it does not.
func naiveForm(text string, i int, form string) int {
	j := i
	for k := range len(form) {
		if k >= minFold && j < len(text) && text[j] != form[k] {
			for n := 0; n < maxFold; {
				fold := lineBreak.FindString(text[j:])
				if fold == "" {
					break
				}
				n, j = n+len(fold), j+len(fold)
			}
		}
		if j >= len(text) || text[j] != form[k] {
			return i
		}
		j++
	}
	return j
}

func naiveShape(text string, i int) int {
	if i > 0 && (tokenByte(text[i-1]) && text[i] != '-' || text[i] == '-' && text[i-1] == '-') {
		return i
	}
	if awsKey.MatchString(text[i:]) {
		return i + 20
	}
	for _, s := range shapesOf {
		if at := s.re.FindString(text[i:]); at != "" && (!s.digit || strings.ContainsAny(at[3:], "0123456789")) {
			return i + len(at)
		}
	}
	return i
}

func formsOf(values ...string) map[string]bool {
	forms := map[string]bool{}
	for _, v := range values {
		addForms(forms, v)
	}
	return forms
}

const (
	tokenSK  = "sk-proj-Ab3dEfGhIjKlMnOpQrSt"
	tokenGH  = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	tokenAWS = "AKIAIOSFODNN7EXAMPLE"
	tokenJWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0"
	tokenPEM = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEowIBAAKCAQEA+/=\n-----END RSA PRIVATE KEY-----"
)

// Whatever the values, the text and the pieces it comes in: it is what the slow way
// gives.
func FuzzSet(f *testing.F) {
	f.Add(secret, "another-secret", "x "+secret+" y another-secret", byte(3))
	f.Add("aaaaaa", "aaaaaaa", strings.Repeat("a", 40), byte(1))
	f.Add("\xff\xfe\xfd\xfc\xfb\xfa", "äöüäöü", "äöüäöü\xff\xfe\xfd\xfc\xfb\xfa", byte(2))
	f.Add(strings.Repeat("k", 300), "123456", strings.Repeat("k", 301), byte(9))
	f.Add("folded-secret", "folded", "folded-\nsec\\nret fold\r\ned fold\n\n\n\n\ned", byte(0))
	f.Add("secret-x", "x", tokenSK+" "+tokenGH+"\n"+tokenAWS+" "+tokenJWT+tokenPEM, byte(4))
	f.Add("secret-x", "x", "xoxb-0123456789 github_pat_0123456789012345678901 AKIAIOSFODNN7EXAMPLEx AKIAIOSFODNN7EXAMPLE", byte(0))
	f.Add("secret-x", "x", "a"+tokenSK+" sk-learn-and-nothing-else-at-all task-force gh ghp_ eyJ eyJhbGciOiJI.eyJ ---- -----BEGIN", byte(0))
	f.Add("PLE-secret", "x", "AKIAIOSFODNN7EXAMPLE-secret", byte(0))
	f.Fuzz(func(t *testing.T, a, b, text string, size byte) {
		if len(a)+len(b)+len(text) > 450 {
			t.Skip("long ones take long and show nothing new")
		}
		s, forms := New(a, b), formsOf(a, b)
		for _, v := range []string{a, b} { // the value is in the text in each form
			v = strings.TrimSpace(v)
			j, _ := json.Marshal(v)
			text += v + url.QueryEscape(v) + string(j) + base64.StdEncoding.EncodeToString([]byte("x"+v))
		}
		if len(text) > 500 {
			t.Skip("beyond what a token may be long, the expressions say otherwise")
		}
		got := s.String(text)
		if want := naive(forms, true, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
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
		if only := Values(a, b); only.String(text) != naive(forms, false, text) {
			t.Errorf("%q: values only: %q", text, only.String(text))
		}
	})
}
