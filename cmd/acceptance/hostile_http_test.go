package acceptance

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// smuggled is a request that counts when it is taken for one: it makes a session.
const smuggledBody = `{"agent":{"model":"codex"}}`

func smuggled() string {
	return fmt.Sprintf("POST /v1/agents/sessions HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		appToken, len(smuggledBody), smuggledBody)
}

// What two servers in a row could read as different requests is refused, and nothing
// that was sent behind it is taken for a request: one answer, and the connection ends.
func TestRequestsAreNotSmuggled(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	const auth = "Authorization: Bearer " + appToken + "\r\n"
	post := func(headers, body string) string {
		return "POST /v1/responses HTTP/1.1\r\nHost: t\r\n" + auth + headers + "\r\n" + body
	}
	inside := smuggled()
	for name, request := range map[string]string{
		"length and chunked":         post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+inside),
		"chunked and length":         post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n"+inside),
		"length zero and chunked":    post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+inside),
		"two lengths":                post("Content-Length: 0\r\nContent-Length: 5\r\n", inside),
		"two lengths in a list":      post("Content-Length: 0, 0\r\n", inside),
		"a length with a sign":       post("Content-Length: +0\r\n", inside),
		"a length in hex":            post("Content-Length: 0x0\r\n", inside),
		"a length of 65 bits":        post("Content-Length: 18446744073709551616\r\n", inside),
		"a negative length":          post("Content-Length: -1\r\n", inside),
		"an empty length":            post("Content-Length: \r\n", inside),
		"a folded length":            post("Content-Length:\r\n 0\r\n", inside),
		"an underscored length":      post("Content-Length: 1_0\r\n", inside),
		"a name with a space":        post("Content-Length : 0\r\n", inside),
		"a name with a tab":          post("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n"+inside),
		"an unknown coding":          post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"+inside),
		"identity":                   post("Transfer-Encoding: identity\r\n", inside),
		"chunked in the middle":      post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"+inside),
		"chunked twice":              post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+inside),
		"two codings":                post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"+inside),
		"a folded coding":            post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n"+inside),
		"a coding with a tab":        post("Transfer-Encoding:\x0bchunked\r\n", "0\r\n\r\n"+inside),
		"a negative chunk":           post("Transfer-Encoding: chunked\r\n", "-1\r\n\r\n"+inside),
		"a chunk of 65 bits":         post("Transfer-Encoding: chunked\r\n", "10000000000000000\r\n\r\n"+inside),
		"a chunk in 0x":              post("Transfer-Encoding: chunked\r\n", "0x2\r\n{}\r\n0\r\n\r\n"+inside),
		"a chunk longer than it is":  post("Transfer-Encoding: chunked\r\n", "1\r\n{}\r\n0\r\n\r\n"+inside),
		"a chunk ended by a newline": post("Transfer-Encoding: chunked\r\n", "2\n{}\n0\n\n"+inside),
		"a header without a colon":   post("Content-Length\r\nX-A: b\r\n", inside),
		"a name with a zero":         post("X-A\x00: b\r\n", inside),
		"a value with a zero":        post("X-A: b\x00c\r\n", inside),
		"a value with a return":      post("X-A: b\rContent-Length: 5\r\n", inside),
		"a space before the headers": "POST /v1/responses HTTP/1.1\r\n Host: t\r\n" + auth + "\r\n" + inside,
		"a request line in three":    "POST /v1/responses HTTP/1.1 HTTP/1.1\r\nHost: t\r\n" + auth + "\r\n" + inside,
		"version 9":                  "POST /v1/responses HTTP/9.9\r\nHost: t\r\n" + auth + "\r\n" + inside,
		"version 2":                  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + inside,
		"another host":               "CONNECT t:443 HTTP/1.1\r\nHost: t\r\n" + auth + "Content-Length: 0\r\nConnection: close\r\n\r\n" + inside,
		"two hosts":                  "POST /v1/responses HTTP/1.1\r\nHost: t\r\nHost: u\r\n" + auth + "Content-Length: 0\r\nConnection: close\r\n\r\n" + inside,
	} {
		text := r.http.tcp(request)
		a := parsed(t, text, "POST")
		if a.status < 400 || a.status >= 500 || strings.Count(text, "HTTP/1.1 ") != 1 {
			t.Errorf("%s: %q", name, clip([]byte(text)))
		}
		if n := len(r.http.ok("GET", "/v1/agents/sessions?limit=100", nil).list("data")); n != 0 {
			t.Errorf("%s: what was behind it has been taken for a request", name)
		}
	}
	// What a request says is its body is its body, whatever the method.
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "DELETE"} {
		request := fmt.Sprintf("%s /v1/models HTTP/1.1\r\nHost: t\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s", method, auth, len(inside), inside)
		if text := r.http.tcp(request); strings.Count(text, "HTTP/1.1 ") != 1 {
			t.Errorf("%s with a body: %q", method, clip([]byte(text)))
		}
	}
	r.untouched(0)
	// A good request behind a good one is one: the test would see what it looks for.
	two := raw("GET", "/v1/models", "", strings.TrimSuffix(auth, "\r\n"))
	two = strings.Replace(two, "Connection: close\r\n", "", 1) + strings.Replace(inside, "Host: t\r\n", "Host: t\r\nConnection: close\r\n", 1)
	if text := r.http.tcp(two); strings.Count(text, "HTTP/1.1 200") != 2 {
		t.Errorf("two requests: %q", clip([]byte(text)))
	}
	r.untouched(1)
	r.normalTurn()
	r.Stop()
}

// Headers without end, in every shape, cost their connection and no memory.
func TestEndlessHeadersAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.normalTurn()
	base := r.RSS()
	r.ResetPeak()
	long := strings.Repeat("a", 1<<20)
	for name, request := range map[string]string{
		"path":         "GET /v1/models/" + long + " HTTP/1.1\r\nHost: t\r\n\r\n",
		"query":        "GET /v1/models?a=" + long + " HTTP/1.1\r\nHost: t\r\n\r\n",
		"method":       long + " /v1/models HTTP/1.1\r\nHost: t\r\n\r\n",
		"name":         "GET /v1/models HTTP/1.1\r\nHost: t\r\n" + long + ": b\r\n\r\n",
		"value":        "GET /v1/models HTTP/1.1\r\nHost: t\r\nX-A: " + long + "\r\n\r\n",
		"many headers": "GET /v1/models HTTP/1.1\r\nHost: t\r\n" + strings.Repeat("X-A: b\r\n", 100_000) + "\r\n",
		"no end":       "GET /v1/models HTTP/1.1\r\nHost: t\r\n" + strings.Repeat("X-A: b\r\n", 100_000),
		"empty lines":  strings.Repeat("\r\n", 1<<20),
		"chunk header": "POST /v1/responses HTTP/1.1\r\nHost: t\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2;" + long + "\r\n{}\r\n0\r\n\r\n",
		"trailers":     "POST /v1/responses HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + strings.Repeat("X-A: b\r\n", 100_000) + "\r\n",
	} {
		text := r.http.tcp(request)
		if a := parsed(t, text, "GET"); text != "" && (a.status < 400 || a.status >= 500) {
			t.Errorf("%s: %q", name, clip([]byte(text)))
		}
	}
	if grown := r.PeakRSS() - base; grown > 32<<20 {
		t.Errorf("RSS grew by %d MiB", grown>>20)
	}
	r.normalTurn()
	r.Stop()
}

// Connections that say nothing cost little, are closed in time, and hold up nobody.
func TestManyConnectionsAreHeld(t *testing.T) {
	t.Parallel()
	const many = 1500
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Max < 2*many {
		t.Skipf("a process may open %d files here: %v", files.Max, err)
	}
	r := newRig(t)
	r.normalTurn()
	before, base := r.Usage(), r.RSS()
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for i := range many {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		switch i % 3 {
		case 1:
			_, _ = io.WriteString(c, "GET /v1/models HTTP/1.1\r\nHost: t\r\n\r\n") // and stays
		case 2:
			_, _ = io.WriteString(c, "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n{")
		}
	}
	r.until(20*time.Second, "all are taken", func() bool { return r.Descriptors() >= many })
	start := time.Now()
	r.normalTurn()
	if took := time.Since(start); took > time.Minute {
		t.Errorf("a turn beside them took %s", took)
	}
	grown := r.RSS() - base
	t.Logf("%d connections: RSS grows by %d KiB each", many, grown/many>>10)
	if grown > 256<<20 { // the bodies that are let in are 128 MiB
		t.Errorf("RSS grew by %d MiB", grown>>20)
	}
	for i, c := range conns { // half of them rudely
		if i%2 == 0 {
			_ = c.(*net.TCPConn).SetLinger(0)
		}
		_ = c.Close()
	}
	conns = nil
	r.Back(before, 8, 30*time.Second)
	r.normalTurn()
	r.Stop()
}

// Half of a request, and then silence, the end of sending or a reset: nothing runs,
// nothing stays.
func TestHalfRequestsLeaveNothing(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	whole := smuggled()
	before := r.Usage()
	for cut := 1; cut < len(whole); cut += 3 {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, whole[:cut])
		switch tcp := c.(*net.TCPConn); cut % 2 {
		case 0:
			_ = tcp.CloseWrite()
			_ = tcp.SetReadDeadline(time.Now().Add(20 * time.Second))
			text, err := io.ReadAll(tcp)
			if err != nil || strings.Contains(string(text), " 200 ") {
				t.Errorf("%d bytes of a request: %q, %v", cut, clip(text), err)
			}
		case 1:
			_ = tcp.SetLinger(0) // a reset
		}
		_ = c.Close()
	}
	r.untouched(0)
	r.Back(before, 8, 20*time.Second)
	r.normalTurn()
	r.Stop()
}

// bomb is size bytes of spaces, packed, in front of a body.
func bomb(t *testing.T, encoding string, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	if encoding == "gzip" {
		w, _ = gzip.NewWriterLevel(&out, gzip.BestCompression)
	} else {
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	page := bytes.Repeat([]byte(" "), 1<<20)
	for range size / len(page) {
		if _, err := w.Write(page); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A small body that unpacks to a huge one is refused at the limit for bodies, by
// every route that takes one, however many come at once.
func TestDecompressionBombsAreBounded(t *testing.T) {
	t.Parallel()
	const limitBytes, at1 = 1 << 20, 8
	r := newRig(t, limit("max_body_bytes", "1MiB"))
	session := r.http.session("codex")
	r.normalTurn()
	base := r.RSS()
	r.ResetPeak()
	var wg sync.WaitGroup
	for _, encoding := range []string{"gzip", "zstd"} {
		packed := bomb(t, encoding, 128<<20)
		if len(packed) > limitBytes {
			t.Fatalf("%s: %d bytes packed", encoding, len(packed))
		}
		for _, path := range []string{"/v1/responses", "/v1/agents", "/v1/agents/sessions", "/v1/agents/sessions/" + session + "/events", "/v1/conversations", "/v1/files"} {
			for range at1 / 2 {
				wg.Go(func() {
					if a := r.http.do("POST", path, packed, "Content-Encoding: "+encoding); a.status != 413 || a.code() != "request_too_large" {
						t.Errorf("%s %s: %d %s", encoding, path, a.status, clip(a.body))
					}
				})
			}
		}
	}
	wg.Wait()
	grown := r.PeakRSS() - base
	t.Logf("RSS grew by %d MiB", grown>>20)
	if grown > 160<<20 {
		t.Errorf("RSS grew by %d MiB", grown>>20)
	}
	// Packed twice, or as something else: not unpacked at all.
	var twice bytes.Buffer
	w := gzip.NewWriter(&twice)
	_, _ = w.Write(bomb(t, "gzip", 1<<20))
	_ = w.Close()
	for encoding, body := range map[string][]byte{"gzip, gzip": twice.Bytes(), "br": []byte("{}"), "deflate": []byte("{}"), "compress": []byte("{}"), "gzip;q=1": twice.Bytes(), "*": []byte("{}")} {
		if a := r.http.do("POST", "/v1/responses", body, "Content-Encoding: "+encoding); a.status != 415 {
			t.Errorf("%s: %d %s", encoding, a.status, clip(a.body))
		}
	}
	if a := r.http.do("POST", "/v1/responses", twice.Bytes(), "Content-Encoding: gzip"); a.status != 400 {
		t.Errorf("packed twice: %d %s", a.status, clip(a.body))
	}
	r.normalTurn()
	r.Stop()
}

// Deep and wide JSON is refused or read within moments, wherever it stands.
func TestDeepJSONIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	session := r.http.session("codex")
	const deep = 2 << 20
	nest := func(open, close string, n int) string {
		return strings.Repeat(open, n) + "1" + strings.Repeat(close, n)
	}
	values := map[string]string{
		"lists without end":   strings.Repeat("[", deep),
		"objects without end": strings.Repeat(`{"a":`, deep/5),
		"lists":               nest("[", "]", deep/2),
		"objects":             nest(`{"a":`, "}", deep/6),
		"parts":               nest(`[{"role":"user","content":`, "}]", 20_000),
		"schemas":             nest(`{"type":"object","properties":{"a":`, "}}", 20_000),
	}
	for path, fields := range map[string][]string{
		"/v1/responses":       {"", "input", "metadata", "tools", "text", "instructions", "conversation"},
		"/v1/agents":          {"", "tools", "metadata", "text"},
		"/v1/agents/sessions": {"", "agent", "environment", "input"},
		"/v1/agents/sessions/" + session + "/events": {"", "events"},
		"/v1/conversations":                          {"", "items", "metadata"},
		"/v1/agents/sessions/" + session:             {"agent", "metadata"},
	} {
		for _, field := range fields {
			for name, value := range values {
				body := value
				if field != "" {
					body = `{"model":"codex","` + field + `":` + value + `}`
				}
				start := time.Now()
				if a := r.http.do("POST", path, body); a.status != 400 || a.code() == "" {
					t.Errorf("%s %s of %s: %d %s", path, name, field, a.status, clip(a.body))
				}
				if took := time.Since(start); took > 30*time.Second {
					t.Errorf("%s %s of %s took %s", path, name, field, took)
				}
			}
		}
	}
	// Wide: each is refused by its own limit, or taken.
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	for name, body := range map[string]string{
		"names":    `{"model":"codex","input":"[[say: x]]","metadata":{` + strings.Join(keys, ",") + `}}`,
		"messages": `{"model":"codex","input":[` + strings.Repeat(`{"role":"user","content":"x"},`, 50_000) + `{"role":"user","content":"[[say: x]]"}]}`,
		"number":   `{"model":"codex","input":"x","max_output_tokens":` + strings.Repeat("9", 100_000) + `}`,
		"exponent": `{"model":"codex","input":"x","temperature":1e999999999}`,
		"escapes":  `{"model":"codex","input":"[[say: x]]","user":"` + strings.Repeat(`\u0000`, 200_000) + `"}`,
		"unknown":  `{"model":"codex","input":"[[say: x]]",` + strings.Join(keys, ",") + `}`,
	} {
		start := time.Now()
		if a := r.http.do("POST", "/v1/responses", body); a.status != 200 && a.status != 400 {
			t.Errorf("%s: %d %s", name, a.status, clip(a.body))
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %s", name, took)
		}
	}
	r.normalTurn()
	r.Stop()
}

// controls are the characters that terminals, headers, logs and argument lists obey.
const controls = "\x00\x01\x07\x08\x1b[31m\x1b]0;title\x07\x7f\r\n\u0085\u2028\u2029\u202e\ufeff"

// Control characters and bytes that are no UTF-8 reach a model as text, or are refused
// by the field; they are in no header, log line or argument.
func TestControlCharactersAreText(t *testing.T) {
	t.Parallel()
	r := newRig(t, env("FAKE_MODE=echo"), key("log", map[string]any{"level": "debug"}))
	for _, model := range []string{"codex", "claude-code"} {
		for name, text := range map[string]string{"controls": "a" + controls + "b", "latin": "caf\xe9", "cut": "\xe2\x82", "overlong": "\xc0\xaf", "surrogate": "\xed\xa0\x80"} {
			body := []byte(`{"model":"` + model + `","input":` + asJSON(text) + `}`)
			a := r.http.do("POST", "/v1/responses", body)
			said := echoed(outputText(a))
			want := strings.ToValidUTF8(text, "\ufffd")
			if a.status == 400 {
				t.Logf("%s %s: %s", model, name, clip(a.body))
				continue
			}
			if a.status != 200 || !utf8.Valid(a.body) || !sameText(said.stdin, want) {
				t.Errorf("%s %s: %d, the CLI read %q", model, name, a.status, said.stdin)
			}
			for _, arg := range said.args {
				if strings.ContainsAny(arg, "\x00\x01\x1b") {
					t.Errorf("%s %s: argument %q", model, name, arg)
				}
			}
		}
	}
	bad := asJSON("x\r\nSet-Cookie: evil=1\r\n\r\n<html>" + controls)
	var bodies = map[string][]string{
		"/v1/responses": {
			`{"model":` + bad + `,"input":"x"}`, `{"model":"codex","input":"x",` + bad + `:1}`, `{"model":"codex","input":"x","metadata":{` + bad + `:"v"}}`,
			`{"model":"codex","input":"x","metadata":{"k":` + bad + `}}`, `{"model":"codex","input":"x","tools":[{"type":"function","name":` + bad + `}]}`,
			`{"model":"codex","input":"x","instructions":` + bad + `}`, `{"model":"codex","input":"x","previous_response_id":` + bad + `}`,
			`{"model":"codex","input":"x","conversation":` + bad + `}`, `{"model":"codex","input":"x","include":[` + bad + `]}`,
			`{"model":"codex","input":"x","tools":[{"type":"mcp","server_label":` + bad + `,"server_url":"http://127.0.0.1:1/"}]}`,
			`{"model":"codex","input":"x","tools":[{"type":"mcp","server_label":"a","server_url":` + bad + `}]}`,
			`{"model":"codex","input":"x","tools":[{"type":"mcp","server_label":"a","server_url":"http://127.0.0.1:1/","headers":{"A":` + bad + `}}]}`,
		},
		"/v1/agents": {`{"model":"codex","name":` + bad + `}`, `{"model":` + bad + `}`, `{"model":"codex",` + bad + `:1}`},
		"/v1/agents/sessions": {
			`{"agent":{"model":"codex"},"environment":{"type":"self_hosted","workspace_directory":` + bad + `}}`,
			`{"agent":{"model":"codex"},"environment":{"type":` + bad + `}}`, `{"agent_id":` + bad + `}`, `{"agent":{"model":"codex"},` + bad + `:1}`,
		},
		"/v1/files": {`{"purpose":"user_data","filename":` + bad + `,"data":"eA=="}`, `{"purpose":` + bad + `,"filename":"x","data":"eA=="}`},
	}
	for path, list := range bodies {
		for _, body := range list {
			a := r.http.do("POST", path, body)
			if a.status == 0 || a.status >= 500 || !utf8.Valid(a.body) {
				t.Errorf("%s %q: %d %s", path, body, a.status, clip(a.body))
			}
			checkHeaders(t, path, a)
			if id := a.str("id"); path == "/v1/files" && a.status == 200 {
				checkHeaders(t, "the file", r.http.ok("GET", "/v1/files/"+id+"/content", nil))
			}
		}
	}
	// In headers.
	for _, name := range []string{"Idempotency-Key", "X-ABX-Adapter", "Last-Event-ID", "Content-Type", "Accept", "Origin", "X-Access-Token", "User-Agent"} {
		for _, value := range []string{"a\x01b", "caf\xe9", "a\x1b[31m", "a\x7fb", strings.Repeat("k", 5000), "\xff\xfe"} {
			text := r.http.tcp(raw("POST", "/v1/responses", `{"model":"codex","input":"x"}`, name+": "+value))
			if a := parsed(t, text, "POST"); a.status == 0 || a.status >= 500 || !utf8.Valid(a.body) {
				t.Errorf("%s %q: %q", name, value, clip([]byte(text)))
			}
		}
	}
	r.Clean(time.Minute)
	r.Stop()
	for line := range strings.Lines(r.Log()) {
		if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x00\x01\x07\x1b\r") {
			t.Errorf("control characters in the log: %q", line)
		}
	}
}

// asJSON is text as JSON that has its bytes as they are where JSON allows it.
func asJSON(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == '"' || c == '\\':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// sameText compares what a CLI read with what was meant, replacement characters
// counted as one.
func sameText(got, want string) bool {
	one := func(s string) string {
		for strings.Contains(s, "\ufffd\ufffd") {
			s = strings.ReplaceAll(s, "\ufffd\ufffd", "\ufffd")
		}
		return s
	}
	return strings.Contains(one(got), one(want))
}

// checkHeaders finds text of a caller that became a header of its own.
func checkHeaders(t *testing.T, what string, a *answer) {
	t.Helper()
	for name, values := range a.header {
		for _, v := range values {
			if name == "Set-Cookie" || strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				t.Errorf("%s: header %s: %s", what, name, hex.EncodeToString([]byte(v)))
			}
		}
	}
	if got := http.Header(a.header).Get("Set-Cookie"); got != "" {
		t.Errorf("%s: a cookie: %q", what, got)
	}
}
