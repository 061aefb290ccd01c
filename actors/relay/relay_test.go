package relay

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agenthost/agenthost/actors/event"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-real-key-0123456789abcdef"

// served is a relay that is closed at the test's end.
func served(t *testing.T) *Server {
	t.Helper()
	s := New()
	t.Cleanup(func() {
		c, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Close(c); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// provider is an upstream; it counts what it was asked.
func provider(t *testing.T, h http.HandlerFunc) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		h(w, r)
	}))
	t.Cleanup(up.Close)
	return up.URL, asked
}

func leased(t *testing.T, s *Server, base string) *Pass {
	t.Helper()
	p, err := s.Lease("", Upstream{BaseURL: base, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Release)
	return p
}

func send(t *testing.T, method, url, token string, change func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(r)
	}
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := (&http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(body)
}

func TestKeyIsAddedOnTheWayOut(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []*http.Request
	url, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		got = append(got, r)
		mu.Unlock()
		w.Header().Set("X-Request-Id", "req_1")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprintf(w, `{"echo":%q,"key":%q}`, body, r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
	})
	s := served(t)
	p := leased(t, s, url+"/openai/v1/")
	defer p.Begin(nil).End()
	if !strings.HasSuffix(p.URL, "/openai/v1") || !strings.HasPrefix(p.URL, "http://127.0.0.1:") || len(p.Token) != 64 || strings.Contains(p.URL, p.Token) {
		t.Fatalf("pass %s", p.URL)
	}
	for i, c := range []struct {
		change func(*http.Request)
		header string
		value  string
	}{
		{func(r *http.Request) { r.Header.Set("X-Api-Key", "other") }, "Authorization", "Bearer " + key},
		{func(r *http.Request) { r.Header.Set("Authorization", "bearer "+p.Token) }, "Authorization", "Bearer " + key},
		{func(r *http.Request) {
			r.Header.Set("X-Api-Key", p.Token)
			r.Header.Set("Authorization", "Bearer something-else")
			r.Header.Set("Connection", "X-Hop")
			r.Header.Set("X-Hop", "1")
			r.Header.Set("Cookie", "c=d")
			r.Header.Set("X-Forwarded-For", "10.0.0.1")
			r.Header.Set("Anthropic-Beta", "stays")
		}, "X-Api-Key", key},
	} {
		status, header, body := send(t, http.MethodPost, p.URL+"/responses?beta=true", p.Token, c.change)
		if status != http.StatusTooManyRequests || header.Get("X-Request-Id") != "req_1" || header.Get("Set-Cookie") != "" || !strings.Contains(body, `{\"model\":\"m\"}`) {
			t.Errorf("%d: %d %v %s", i, status, header, body)
		}
		if strings.Contains(body, key) || !strings.Contains(body, "[redacted]") {
			t.Errorf("%d: the CLI sees its key: %s", i, body)
		}
		mu.Lock()
		r := got[i]
		mu.Unlock()
		if r.RequestURI != "/openai/v1/responses?beta=true" || r.Header.Get(c.header) != c.value || "http://"+r.Host != url {
			t.Errorf("%d: the provider got %s of %s, %v", i, r.RequestURI, r.Host, r.Header)
		}
		all := fmt.Sprint(r.Header)
		for _, not := range []string{p.Token, "something-else", "other", "X-Hop", "Cookie", "10.0.0.1"} {
			if strings.Contains(all, not) {
				t.Errorf("%d: the provider got %s: %s", i, not, all)
			}
		}
		if i == 2 && r.Header.Get("Anthropic-Beta") != "stays" {
			t.Errorf("a header was lost: %s", all)
		}
	}
}

// What an agent could try to reach other places by the relay.
func TestRelayReachesItsProviderOnly(t *testing.T) {
	t.Parallel()
	url, asked := provider(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "reached") })
	elsewhere, other := provider(t, func(http.ResponseWriter, *http.Request) {})
	s := served(t)
	p := leased(t, s, url+"/v1")
	defer p.Begin(nil).End()
	at := strings.TrimSuffix(p.URL, "/v1")
	host := strings.TrimPrefix(at, "http://")
	raw := func(first, hostHeader string, more ...string) string {
		c, err := net.DialTimeout("tcp", host, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n%s\r\n", first, hostHeader, p.Token, strings.Join(more, ""))
		line, _ := bufio.NewReader(c).ReadString('\n')
		return line
	}
	target := strings.TrimPrefix(elsewhere, "http://")
	for _, c := range []struct {
		first, host string
		more        []string
	}{
		{"GET " + elsewhere + "/v1/x", host, nil},
		{"GET " + elsewhere + "/v1/x", target, nil},
		{"GET https://169.254.169.254/v1/", host, nil},
		{"CONNECT " + target, target, nil},
		{"CONNECT " + target, host, nil},
		{"GET /v1/x", target, nil},
		{"GET /v1/x", "localhost:1", nil},
		{"GET /v1/x", "attacker.example", nil},
		{"OPTIONS *", host, nil},
		{"DELETE /v1/x", host, nil},
		{"TRACE /v1/x", host, nil},
		{"GET /v1/x", host, []string{"Upgrade: websocket\r\n"}},
		{"GET /admin", host, nil},
		{"GET /v1x", host, nil},
		{"GET /v1/../admin", host, nil},
		{"GET /v1/%2e%2e/admin", host, nil},
		{"GET /v1/..%2fadmin", host, nil},
		{"GET /v1/%252e%252e/admin", host, nil},
		{"GET /v1//admin", host, nil},
		{"GET //" + target + "/v1/x", host, nil},
		{"GET /v1/..\\admin", host, nil},
		{"GET /v1/./x", host, nil},
		{"GET /v1/x%00", host, nil},
		{"GET /v1/..;/admin", host, nil},
		{"GET /v1/x?key=" + p.Token, host, nil},
	} {
		if got := raw(c.first, c.host, c.more...); !strings.HasPrefix(got, "HTTP/1.1 4") && !strings.HasPrefix(got, "HTTP/1.1 5") {
			t.Errorf("%s of %s %v: %q", c.first, c.host, c.more, got)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d of them reached the provider", n)
	}
	if got := raw("GET /v1/models", host); !strings.Contains(got, "200") {
		t.Errorf("an ordinary one: %q", got)
	}
	if other.Load() != 0 {
		t.Error("another host was reached")
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere, other := provider(t, func(http.ResponseWriter, *http.Request) {})
	url, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	})
	p := leased(t, served(t), url)
	defer p.Begin(nil).End()
	status, header, body := send(t, http.MethodPost, p.URL+"/v1/responses", p.Token, nil)
	if status != http.StatusBadGateway || header.Get("Location") != "" || strings.Contains(body, elsewhere) || other.Load() != 0 {
		t.Errorf("%d %v %s, %d", status, header, body, other.Load())
	}
}

func TestTokenDiesWithItsTurn(t *testing.T) {
	t.Parallel()
	url, _ := provider(t, func(http.ResponseWriter, *http.Request) {})
	s := served(t)
	p := leased(t, s, url)
	try := func(token string) int {
		status, _, body := send(t, http.MethodPost, p.URL+"/v1/x", token, nil)
		if status != 200 && !strings.Contains(body, `"authentication_error"`) {
			t.Errorf("%d: %s", status, body)
		}
		return status
	}
	if got := try(p.Token); got != 401 {
		t.Errorf("before the turn: %d", got)
	}
	use := p.Begin(nil)
	for token, want := range map[string]int{p.Token: 200, p.Token[1:]: 401, "": 401, key: 401} {
		if got := try(token); got != want {
			t.Errorf("%q: %d", token, got)
		}
	}
	use.End()
	use.End()
	if got := try(p.Token); got != 401 {
		t.Errorf("after the turn: %d", got)
	}
	(*Use)(nil).End()
	(*Pass)(nil).Release()
}

// A pass by name belongs to all who lease it, and is another one for another
// credential or once all let go of it.
func TestNamedPassesAreShared(t *testing.T) {
	t.Parallel()
	url, _ := provider(t, func(http.ResponseWriter, *http.Request) {})
	s := served(t)
	lease := func(name, key string) *Pass {
		p, err := s.Lease(name, Upstream{BaseURL: url, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	a, again, b, alone := lease("a", key), lease("a", key), lease("a", "another-key"), lease("", key)
	if a != again || a == b || a.Token == b.Token || alone == a || lease("", key) == alone {
		t.Error("passes are mixed up")
	}
	a.Release()
	use := a.Begin(nil)
	if status, _, _ := send(t, http.MethodPost, a.URL+"/x", a.Token, nil); status != 200 {
		t.Errorf("with a lease left: %d", status)
	}
	again.Release()
	if status, _, _ := send(t, http.MethodPost, a.URL+"/x", a.Token, nil); status != 401 {
		t.Errorf("without one: %d", status)
	}
	use.End()
	if c := lease("a", key); c == a || c.Token == a.Token {
		t.Error("a pass came back")
	}
	for _, up := range []Upstream{{"ftp://x", key}, {"https://u:p@x", key}, {"https://x/../y", key}, {"", key}, {"https://x", ""}, {"https://x/%zz" + key, key}} {
		if _, err := s.Lease("", up); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", up.BaseURL, err)
		}
	}
}

// Events arrive one by one as the provider says them, and the end of the turn ends
// what is on its way.
func TestStreamsPassAtOnceAndEndWithTheTurn(t *testing.T) {
	t.Parallel()
	next, gone := make(chan string), make(chan struct{})
	url, _ := provider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case s := <-next:
				_, _ = io.WriteString(w, "data: "+s+"\n\n")
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				close(gone)
				return
			}
		}
	})
	p := leased(t, served(t), url)
	use := p.Begin(nil)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/v1/messages", strings.NewReader("{}"))
	r.Header.Set("X-Api-Key", p.Token)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	got := make(chan string, 8)
	go func() {
		defer close(got)
		resp, err := tr.RoundTrip(r)
		if err != nil {
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if lines.Text() != "" {
				got <- lines.Text()
			}
		}
	}()
	for i := range 3 {
		next <- fmt.Sprint("event ", i)
		select {
		case line := <-got:
			if line != fmt.Sprint("data: event ", i) {
				t.Errorf("got %q", line)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("an event did not arrive before the next one was said")
		}
	}
	use.End()
	for what, ch := range map[string]<-chan struct{}{"the provider": gone} {
		select {
		case <-ch:
		case <-time.After(20 * time.Second):
			t.Fatal(what + " is still asked")
		}
	}
	for range got { // it ends
	}
}

func TestBrokenAnswerIsNotTakenForWhole(t *testing.T) {
	t.Parallel()
	url, _ := provider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	p := leased(t, served(t), url)
	defer p.Begin(nil).End()
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/x", http.NoBody)
	r.Header.Set("X-Api-Key", p.Token)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("it read %q and its end", body)
	}
}

func TestTooLargeARequestIsRefused(t *testing.T) {
	t.Parallel()
	url, asked := provider(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	p := leased(t, served(t), url)
	defer p.Begin(nil).End()
	status, _, _ := send(t, http.MethodPost, p.URL+"/x", p.Token, func(r *http.Request) {
		r.Body, r.ContentLength = io.NopCloser(io.LimitReader(zeros{}, maxBody+1)), maxBody+1
	})
	if status != http.StatusRequestEntityTooLarge || asked.Load() != 0 {
		t.Errorf("%d, asked %d", status, asked.Load())
	}
	if status, _, _ = send(t, http.MethodGet, p.URL+"/x", p.Token, func(r *http.Request) { r.Header.Set("X-Long", strings.Repeat("x", maxHeader+8<<10)) }); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a long header: %d", status)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestUsageIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, body string
		want       event.Usage
	}{
		"responses": {"text/event-stream; charset=utf-8", "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":4,\"input_tokens_details\":{\"cached_tokens\":3},\"output_tokens_details\":{\"reasoning_tokens\":2}}}}\n\n", event.Usage{Input: 10, Output: 4, Cached: 3, Reasoning: 2}},
		"messages":  {"text/event-stream", "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":7,\"cache_creation_input_tokens\":1,\"output_tokens\":1}}}\n\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":9}}\n\n", event.Usage{Input: 13, Output: 9, Cached: 7, CacheWrite: 1}},
		"chat":      {"application/json", `{"usage":{"prompt_tokens":3,"completion_tokens":2}}`, event.Usage{Input: 3, Output: 2}},
		"no end":    {"text/event-stream", `data: {"usage":{"prompt_tokens":3,"completion_tokens":2}}`, event.Usage{Input: 3, Output: 2}},
		"nonsense":  {"text/event-stream", "data: {\"usage\":[]}\n\ndata: usage\n\n: usage\n", event.Usage{}},
		"page":      {"text/html", `{"usage":{"prompt_tokens":3}}`, event.Usage{}},
	} {
		for size := range 40 {
			m, body := newMeter(strings.Split(c.kind, ";")[0]), []byte(c.body)
			for len(body) > 0 {
				n := min(size+1, len(body))
				m.read(body[:n])
				body = body[n:]
			}
			got, told := m.usage()
			if got != c.want || told != (c.want != event.Usage{}) {
				t.Fatalf("%s by %d: %+v, %v", name, size+1, got, told)
			}
		}
	}
	m := newMeter("text/event-stream")
	for range 3 {
		m.read(bytes.Repeat([]byte("x"), maxMetered/2))
	}
	if len(m.buf) > maxMetered {
		t.Error("a long line is kept")
	}
	m.read([]byte("\ndata: {\"usage\":{\"prompt_tokens\":1}}\n"))
	if u, told := m.usage(); !told || u.Input != 1 {
		t.Errorf("behind a long line: %+v", u)
	}
}

func TestOnlyOneTurnIsToldOfUsage(t *testing.T) {
	t.Parallel()
	url, _ := provider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":3,"output_tokens":2}}`)
	})
	p := leased(t, served(t), url)
	var sum atomic.Int64
	use := p.Begin(func(u event.Usage) { sum.Add(u.Total()) })
	send(t, http.MethodPost, p.URL+"/x", p.Token, nil)
	deadline := time.Now().Add(20 * time.Second)
	for sum.Load() != 5 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	second := p.Begin(func(u event.Usage) { sum.Add(u.Total()) })
	send(t, http.MethodPost, p.URL+"/x", p.Token, nil)
	use.End()
	second.End()
	if got := sum.Load(); got != 5 {
		t.Errorf("told of %d tokens", got)
	}
}

func TestClosedRelay(t *testing.T) {
	t.Parallel()
	s := New()
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := s.Lease("", Upstream{BaseURL: "https://x", Key: key}); err == nil {
		t.Error("a closed relay gives passes")
	}
}
