package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const (
	adminToken = "admin-token-0123456789"
	appToken   = "app-token-0123456789ab"
	otherToken = "other-token-0123456789"
	readToken  = "reader-token-01234567"
)

// guarded is a rig with tokens of four principals; its caller is app.
func guarded(t *testing.T, settings ...setting) *rig {
	t.Helper()
	all := append([]setting{
		key("auth", map[string]any{"tokens": []any{
			map[string]any{"id": "root", "roles": []string{"admin"}, "token_env": "T_ADMIN"},
			map[string]any{"id": "app", "roles": []string{"dev"}, "token_env": "T_APP"},
			map[string]any{"id": "other", "roles": []string{"dev"}, "token_env": "T_OTHER"},
			map[string]any{"id": "reader", "roles": []string{"observer"}, "token_env": "T_READ"},
		}}),
		key("log", map[string]any{"level": "debug"}),
		env("T_ADMIN="+adminToken, "T_APP="+appToken, "T_OTHER="+otherToken, "T_READ="+readToken),
	}, settings...)
	r := newRig(t, all...)
	r.http.token = appToken
	return r
}

func (c *caller) as(token string) *caller { d := *c; d.token = token; return &d }

// parsed reads what came over a raw connection.
func parsed(t *testing.T, text string, method string) *answer {
	t.Helper()
	a := &answer{t: t}
	resp, err := http.ReadResponse(newReader(text), &http.Request{Method: method})
	if err != nil {
		a.body = []byte(text)
		return a
	}
	a.status, a.header = resp.StatusCode, resp.Header
	a.body, _ = io.ReadAll(resp.Body)
	_ = json.Unmarshal(a.body, &a.object)
	return a
}

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// raw is a request as it goes over the wire; token "" leaves it out.
func raw(method, target, body string, headers ...string) string {
	text := method + " " + target + " HTTP/1.1\r\nHost: t\r\nConnection: close\r\n"
	for _, h := range headers {
		text += h + "\r\n"
	}
	if body != "" {
		text += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return text + "\r\n" + body
}

// untouched checks that nothing was spawned or stored since.
func (r *rig) untouched(sessions int) {
	r.t.Helper()
	if runs, _ := r.ran(); len(runs) != 0 {
		r.t.Errorf("CLIs ran: %v", runs)
	}
	if n := len(r.http.ok("GET", "/v1/agents/sessions?limit=100", nil).list("data")); n != sessions {
		r.t.Errorf("%d sessions are stored, not %d", n, sessions)
	}
}

// Cases 82, 83, 84, 85: what is no route, or no id.
//
//cases:82,83,84,85
func TestCaseRoutes(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	auth := "Authorization: Bearer " + appToken
	hi := `{"model":"codex","input":"hi"}`
	for _, c := range []struct {
		name, request string
		status        int
	}{
		{"case 82 trailing slash", raw("POST", "/v1/responses/", hi, auth), 404},
		{"case 82 double slash", raw("POST", "//v1//responses", hi, auth), 404},
		{"case 82 wrong case", raw("POST", "/V1/Responses", hi, auth), 404},
		{"case 83 encoded slash", raw("GET", "/v1/responses/a%2Fb", "", auth), 404},
		{"case 83 dotdot", raw("GET", "/v1/responses/..%2f..%2fetc", "", auth), 404},
		{"case 83 nul", raw("GET", "/v1/responses/a%00b", "", auth), 404},
		{"case 83 bad utf-8", raw("GET", "/v1/responses/%ff%fe", "", auth), 404},
		{"case 83 encoded route", raw("GET", "/v1/agents/sessions/s1%2Fevents", "", auth), 404},
		{"case 83 dots in a path", raw("GET", "/v1/agents/sessions/s1/items/../../../../etc/passwd", "", auth), 404},
		{"case 83 dots in a stub's path", raw("GET", "/v1/agents/sessions/s1/artifacts/../../../../etc/passwd/content", "", auth), 404},
		{"case 84 unknown route", raw("GET", "/v1/nothing", "", auth), 404},
		{"case 84 unknown route without a token", raw("GET", "/v1/nothing", ""), 404},
		{"case 84 wrong verb", raw("PUT", "/v1/responses", hi, auth), 405},
		{"case 84 negative length", "POST /v1/responses HTTP/1.1\r\nHost: t\r\n" + auth + "\r\nContent-Length: -3\r\nConnection: close\r\n\r\n{}", 400},
		{"case 84 nonsense", "\x16\x03\x01\x02\r\n\r\n", 400},
		{"two lengths", "POST /v1/responses HTTP/1.1\r\nHost: t\r\n" + auth + "\r\nContent-Length: 2\r\nContent-Length: 30\r\nConnection: close\r\n\r\n" + hi, 400},
		{"length and chunked", "POST /v1/responses HTTP/1.1\r\nHost: t\r\n" + auth + "\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n", 400},
		{"space before the colon", "GET /v1/models HTTP/1.1\r\nHost: t\r\nAuthorization : Bearer " + appToken + "\r\nConnection: close\r\n\r\n", 400},
		{"folded header", "GET /v1/models HTTP/1.1\r\nHost: t\r\nX-A: b\r\n c: d\r\nConnection: close\r\n\r\n", 400},
	} {
		text := r.http.tcp(c.request)
		a := parsed(t, text, "GET")
		if c.status == 400 && a.status == 401 { // refused one step earlier
			continue
		}
		if a.status != c.status {
			t.Errorf("%s: %d, not %d: %s", c.name, a.status, c.status, clip([]byte(text)))
			continue
		}
		a.code()
		if a.header.Get("Location") != "" || a.header.Get("x-request-id") == "" {
			t.Errorf("%s: %v", c.name, a.header)
		}
		if a.status == 405 && !strings.Contains(a.header.Get("Allow"), "POST") {
			t.Errorf("%s: Allow is %q", c.name, a.header.Get("Allow"))
		}
		if strings.Count(text, "HTTP/1.1 ") != 1 {
			t.Errorf("%s: more than one answer: %s", c.name, clip([]byte(text)))
		}
		for _, leak := range []string{"passwd\":", "goroutine", ".go:", appToken, r.StateDir} {
			if strings.Contains(string(a.body), leak) {
				t.Errorf("%s: the answer tells %q", c.name, leak)
			}
		}
	}
	// Case 85.
	text := r.http.tcp(raw("OPTIONS", "/v1/agents/sessions", "", "Origin: http://app.example", "Access-Control-Request-Method: POST"))
	if a := parsed(t, text, "OPTIONS"); a.status/100 != 2 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight: %s", text)
	}
	text = r.http.tcp(raw("HEAD", "/v1/models", "", auth))
	if a := parsed(t, text, "HEAD"); a.status != 200 || !strings.HasSuffix(text, "\r\n\r\n") {
		t.Errorf("HEAD: %q", text)
	}
	r.untouched(0)
	r.normalTurn()
	r.Stop()
}

// zstdOf is text, of less than 256 bytes, as a zstd frame with one raw block.
func zstdOf(text string) []byte {
	head := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x20, byte(len(text)), 0, 0, 0}
	size := len(text)<<3 | 1
	head[6], head[7], head[8] = byte(size), byte(size>>8), byte(size>>16)
	return append(head, text...)
}

// Cases 78, 80 and 81: bodies that are encoded, too large or only announced.
//
//cases:78,80,81
func TestCaseBodies(t *testing.T) {
	t.Parallel()
	r := guarded(t, limit("max_body_bytes", "1MiB"))
	auth := "Authorization: Bearer " + appToken
	gz := recorded(t, "h_body.json.gz")
	if a := r.http.do("POST", "/v1/responses", gz, "Content-Encoding: gzip"); a.status != 200 || a.str("status") != "completed" {
		t.Errorf("gzip: %d %s", a.status, clip(a.body))
	}
	if a := r.http.do("POST", "/v1/responses", zstdOf(`{"model":"codex","input":"hi"}`), "Content-Encoding: zstd"); a.status != 200 || a.str("status") != "completed" {
		t.Errorf("zstd: %d %s", a.status, clip(a.body))
	}
	for name, c := range map[string]struct {
		body     []byte
		encoding string
		status   int
	}{
		"gzip unannounced": {gz, "", 400},
		"announced only":   {[]byte(`{"model":"codex","input":"hi"}`), "gzip", 400},
		"unknown":          {gz, "foo", 415},
		"cut":              {gz[:len(gz)/2], "gzip", 400},
		"zstd nonsense":    {gz, "zstd", 400},
	} {
		var headers []string
		if c.encoding != "" {
			headers = append(headers, "Content-Encoding: "+c.encoding)
		}
		a := r.http.do("POST", "/v1/responses", c.body, headers...)
		if a.status != c.status || a.code() == "" || bytes.Contains(a.body, gz[:4]) {
			t.Errorf("%s: %d %q", name, a.status, a.body)
		}
	}
	for i := range 10 {
		a := r.http.do("POST", "/v1/responses", bytes.Repeat([]byte("x"), 32<<20))
		if a.status != 413 || a.code() != "request_too_large" {
			t.Errorf("try %d: %d %s", i, a.status, clip(a.body))
		}
	}
	if a := r.http.do("GET", "/v1/models", nil, "X-Big: "+strings.Repeat("y", 64<<10)); a.status != 431 || a.code() == "" {
		t.Errorf("a header of 64 KiB: %d %s", a.status, clip(a.body))
	}
	announce := "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 900000000\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
	}{"no token": {announce + "\r\n", 401}, "too large": {announce + auth + "\r\n\r\n", 413}} {
		start := time.Now()
		text := r.http.tcp(c.request)
		if a := parsed(t, text, "POST"); a.status != c.status || strings.Contains(text, "100 Continue") || a.code() == "" {
			t.Errorf("expect, %s: %s", name, clip([]byte(text)))
		}
		if took := time.Since(start); took > 15*time.Second {
			t.Errorf("expect, %s: took %s", name, took)
		}
	}
	r.normalTurn()
	r.Stop()
}

// Cases 73, 75, 77 and 94: what a create is made of.
//
//cases:73,74,75,77,94
func TestCaseCreateBodies(t *testing.T) {
	t.Parallel()
	r := newRig(t, env("FAKE_MODE=echo"))
	post := func(name string) *answer { return r.http.do("POST", "/v1/responses", recorded(t, name)) }

	for name, param := range map[string]string{
		"h_input_empty_string.json": "input", "h_input_empty_list.json": "input", "h_input_null.json": "input", "h_input_empty_item.json": "input",
		"h_input_only_assistant.json": "input", "h_input_only_system.json": "input", "h_input_empty_content.json": "input", "h_input_blank_text.json": "input",
		"h_input_unknown_part.json": "input", "h_input_number.json": "input", "h_input_unknown_role.json": "input",
	} {
		a := post(name)
		if got, _ := a.at("error", "param").(string); a.status != 400 || a.code() == "" || !strings.HasPrefix(got, param) {
			t.Errorf("case 77 %s: %d %s", name, a.status, clip(a.body))
		}
	}
	// Tools that the host cannot give to a CLI are refused with the first bad one.
	if a := post("h_tools_mixed.json"); a.status != 400 || !strings.HasPrefix(fmt.Sprint(a.at("error", "param")), "tools[") {
		t.Errorf("case 74: %d %s", a.status, clip(a.body))
	}
	for _, name := range []string{"h_json_trailing.json", "h_json_deep.json", "h_json_utf16.json", "h_json_nan.json", "h_json_truncated.json"} {
		a := post(name)
		if a.status != 400 || a.code() == "" {
			t.Errorf("case 94 %s: %d %s", name, a.status, clip(a.body))
		}
	}
	r.untouched(0)
	// Accepted: a BOM, the last of two equal names, and U+FFFD for what is no UTF-8.
	for name, prompt := range map[string]string{
		"h_json_bom.json": "hi", "h_json_dup_keys.json": "second", "h_json_lone_surrogate.json": "cut \ufffd end", "h_json_raw_bad_utf8.json": "\ufffd",
	} {
		a := post(name)
		if said := echoed(outputText(a)).stdin; a.status != 200 || !strings.Contains(said, prompt) || !utf8.ValidString(said) {
			t.Errorf("case 94 %s: %d, the prompt is %q", name, a.status, said)
		}
	}

	a := post("h_unknown_params.json")
	ignored := a.header.Get("X-Agent-Sandbox-Ignored-Params")
	if a.status != 200 {
		t.Errorf("case 73: %d %s", a.status, clip(a.body))
	}
	for _, name := range []string{"prompt_cache_key", "client_metadata", "verbosity", "zz_future", "temperature", "user"} {
		if !strings.Contains(ignored, name) {
			t.Errorf("case 73: %s is not in %q", name, ignored)
		}
	}
	for name, order := range map[string][]string{
		"h_input_assistant_no_type.json": {"A", "B", "C"}, "h_input_output_text_bare.json": {"A", "B", "B2", "C"},
	} {
		a := post(name)
		said := echoed(outputText(a)).stdin
		from := 0
		for _, word := range order {
			n := strings.Index(said[from:], word)
			if n < 0 {
				t.Errorf("case 75 %s: %d, no %q in order in %q", name, a.status, word, said)
				break
			}
			from += n + len(word)
		}
	}
	if a := post("h_input_image.json"); a.status != 400 && a.status != 200 {
		t.Errorf("case 77 image: %d %s", a.status, clip(a.body))
	}
	r.Clean(time.Minute)
	r.Stop()
}

// Case 96: slow senders are closed, and nobody else waits for them.
//
//cases:96
func TestCase96SlowSenders(t *testing.T) {
	t.Parallel()
	const slow = 200
	r := newRig(t)
	session := r.http.session("codex")
	events := r.http.events(session, "")
	base := r.Descriptors()
	var conns []net.Conn
	for range slow {
		c, err := net.Dial("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		_, _ = io.WriteString(c, "GET /v1/models HT")
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	closed := make(chan error, 1)
	go func() { // the first tells of all: they came together
		_ = conns[0].SetReadDeadline(time.Now().Add(30 * time.Second))
		_, err := io.ReadAll(conns[0])
		closed <- err
	}()
	for done := false; !done; {
		start := time.Now()
		if a := r.http.respond(map[string]any{"model": "codex", "input": "[[say: quick]]"}); outputText(a) != "quick" {
			t.Errorf("%s", clip(a.body))
		}
		if took := time.Since(start); took > 8*time.Second { // of the 10 s that the slow ones are given
			t.Errorf("another request took %s", took)
		}
		select {
		case err := <-closed:
			done = true
			if err != nil {
				t.Errorf("a slow sender: %v", err)
			}
		case <-tick.C:
			for _, c := range conns[1:] {
				_, _ = io.WriteString(c, "x")
			}
		}
	}
	r.until(15*time.Second, "all slow senders are closed", func() bool { return r.Descriptors() <= base+5 })
	for _, c := range conns {
		_ = c.Close()
	}
	r.http.say(session, "[[say: still here]]")
	events.waitKind(time.Minute, sessionEvent+"idle", 1)
	r.Stop()
}
