package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/wires/call"
)

//cases:80
func TestBodyAboveTheLimitIsAnsweredNotReset(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxBody: 1 << 20}, nil)
	body := strings.Repeat("x", 16<<20)
	const tries = 20
	read := 0
	for range tries {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = fmt.Fprintf(c, "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n", len(body))
		_, _ = io.WriteString(c, body) // what a client does that only then reads
		text, _ := io.ReadAll(c)
		_ = c.Close()
		if strings.HasPrefix(string(text), "HTTP/1.1 413") {
			read++
			if a := parse(t, string(text)); a.code() != "request_too_large" || !strings.Contains(a.body, "1048576 bytes") {
				t.Errorf("%s", text)
			}
		}
	}
	if read < tries {
		t.Errorf("only %d of %d clients read the 413", read, tries)
	}
	chunked := "POST /v1/responses HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n", 2<<20) + body[:2<<20] + "\r\n0\r\n\r\n"
	if a := parse(t, r.raw(t, chunked)); a.status != 413 {
		t.Errorf("chunked: %d", a.status)
	}
	if a := r.do(t, "POST", "/v1/responses", "", body[:1<<20]); a.status != 200 {
		t.Errorf("at the limit: %d", a.status)
	}
}

func TestHeaderAboveTheLimit(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	a := r.do(t, "GET", "/v1/models", "", "", "X-Big: "+strings.Repeat("y", 64<<10))
	if a.status != 431 || a.code() != "headers_too_large" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do(t, "GET", "/v1/models", "", "", "X-Big: "+strings.Repeat("y", 12<<10)); a.status != 200 {
		t.Errorf("12 KiB: %d", a.status)
	}
}

//cases:84
func TestBrokenRequests(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	for name, text := range map[string]string{
		"negative length": "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Length: -3\r\nConnection: close\r\n\r\n{}",
		"two lengths":     "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}",
		"no host":         "GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n",
		"no request":      "secret-token nonsense\r\n\r\n",
	} {
		text := r.raw(t, text)
		if a := parse(t, text); a.status != 400 || a.code() != "invalid_request" || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if strings.Contains(r.log.String(), "secret-token") {
		t.Error("the log quotes a broken request")
	}
}

//cases:78
func TestUnknownEncodingIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	if a := r.do(t, "POST", "/v1/responses", "", "{}", "Content-Encoding: foo"); a.status != 415 || a.code() != "unsupported_content_encoding" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

//cases:81
func TestExpectIsRefusedBeforeTheBody(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	head := "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: "
	for name, c := range map[string]struct {
		text   string
		status int
		code   string
	}{
		"no token":  {head + "900000000\r\n\r\n", 401, "unauthorized"},
		"too large": {head + "900000000\r\nAuthorization: Bearer " + aliceToken + "\r\n\r\n", 413, "request_too_large"},
	} {
		text := r.raw(t, c.text)
		if a := parse(t, text); a.status != c.status || a.code() != c.code || strings.Contains(text, "100 Continue") {
			t.Errorf("%s: %s", name, text)
		}
	}
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(c, head+"2\r\nConnection: close\r\nAuthorization: Bearer "+aliceToken+"\r\n\r\n")
	b := bufio.NewReader(c)
	if line, _ := b.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("%q", line)
	}
	_, _ = b.ReadString('\n')
	_, _ = io.WriteString(c, "{}")
	text, _ := io.ReadAll(b)
	if a := parse(t, string(text)); a.status != 200 || a.json["body"] != "{}" {
		t.Errorf("%s", text)
	}
}

//cases:96
func TestSlowSendersAreClosedAndOthersServed(t *testing.T) {
	t.Parallel()
	r := start(t, Config{HeaderTimeout: 300 * time.Millisecond, BodyTimeout: 600 * time.Millisecond}, nil)
	for name, first := range map[string]string{
		"header": "GET /v1/models HT",
		"body":   "POST /v1/responses HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n{",
	} {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(c, first)
		if a := r.do(t, "GET", "/v1/models", "", ""); a.status != 200 {
			t.Errorf("%s: another request got %d", name, a.status)
		}
		text, err := io.ReadAll(c)
		_ = c.Close()
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 408") {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

//cases:84
func TestPanicOfAHandlerEndsOneRequest(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	a := r.do(t, "GET", "/v1/models/x", "", "")
	if a.status != 500 || a.code() != "internal_error" || strings.Contains(a.body, "secret-path") || a.header.Get("x-should-retry") != "false" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if !strings.Contains(r.log.String(), "panic in a request") {
		t.Error("not logged")
	}
	if a := r.do(t, "GET", "/v1/models", "", ""); a.status != 200 {
		t.Errorf("afterwards: %d", a.status)
	}
}

// ticks is a source of numbered frames.
type ticks struct {
	frames <-chan string
	wake   chan struct{}
	gone   chan struct{}
}

func (s *ticks) Next() ([]byte, <-chan struct{}, bool, error) {
	select {
	case f, ok := <-s.frames:
		if !ok {
			return nil, nil, true, nil
		}
		return []byte(f), nil, false, nil
	default:
		return nil, s.wake, false, nil
	}
}

func (s *ticks) Close() { close(s.gone) }

// openStream starts a stream and returns a reader of its content, after the first
// comment.
func (r *running) openStream(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(c, "GET /v1/agents/sessions/x/events HTTP/1.1\r\nHost: t\r\n\r\n")
	b := bufio.NewReader(c)
	head := ""
	for {
		line, err := b.ReadString('\n')
		if err != nil {
			t.Fatal(err, head)
		}
		if head += line; line == "\r\n" {
			break
		}
	}
	b = bufio.NewReader(httputil.NewChunkedReader(b))
	if line, err := b.ReadString('\n'); err != nil || line != ": ok\n" {
		t.Errorf("the stream begins with %q, %v", line, err)
	}
	if !strings.HasPrefix(head, "HTTP/1.1 200") || !strings.Contains(strings.ToLower(head), "x-request-id: req_") {
		t.Errorf("head %q", head)
	}
	return c, b
}

//cases:60
func TestStreamsOutliveReadTimeoutsAndEndInOrder(t *testing.T) {
	t.Parallel()
	frames := make(chan string, 10)
	src := &ticks{frames: frames, wake: make(chan struct{}), gone: make(chan struct{})}
	h := echoHandlers()
	h.streamEvents = func(c *call.Call) { c.Hijack(src) }
	inside := make(chan struct{})
	release := make(chan struct{})
	h.createResponse = func(c *call.Call) {
		close(inside)
		<-release
		c.JSON(200, "late")
	}
	r := start(t, Config{HeaderTimeout: time.Second, BodyTimeout: time.Second, Heartbeat: 2 * time.Second}, h)
	c, b := r.openStream(t)
	defer func() { _ = c.Close() }()
	if line, err := b.ReadString('\n'); err != nil || line != ": ping\n" { // past both timeouts
		t.Fatalf("%q %v", line, err)
	}
	slow := make(chan *answer, 1)
	go func() { slow <- r.do(t, "POST", "/v1/responses", "", "{}") }()
	<-inside

	r.Refuse()
	a := r.do(t, "POST", "/v1/agents/sessions", "", "{}")
	if a.status != 503 || a.code() != "shutting_down" || a.header.Get("Retry-After") == "" || a.header.Get("x-should-retry") == "false" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	if a := r.do(t, "GET", "/readyz", "", ""); a.status != 503 || !strings.Contains(a.body, "shutting down") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := r.do(t, "GET", "/healthz", "", ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}

	frames <- "data: last\n\n"
	if err := r.EndStreams(t.Context()); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(b) // cut off: its source had more to say
	if !errors.Is(err, io.ErrUnexpectedEOF) || strings.ReplaceAll(string(rest), ": ping\n", "") != "data: last\n\n" {
		t.Errorf("%q %v", rest, err)
	}
	<-src.gone

	closed := make(chan error, 1)
	go func() { closed <- r.Close(context.Background()) }()
	close(release)
	if a := <-slow; a.status != 200 {
		t.Errorf("an open request got %d", a.status)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", r.addr); err == nil {
		t.Error("still listening")
	}
}

func TestCloseEndsWhatDoesNotEnd(t *testing.T) {
	t.Parallel()
	h := echoHandlers()
	inside := make(chan struct{})
	ended := make(chan error, 1)
	h.createResponse = func(c *call.Call) {
		close(inside)
		<-c.Context().Done()
		ended <- c.Context().Err()
		c.Fail(c.Context().Err())
	}
	r := start(t, Config{}, h)
	go func() {
		if c, err := net.Dial("tcp", r.addr); err == nil {
			_ = c.Close()
		}
		r.do(t, "POST", "/v1/responses", "", "{}")
	}()
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the call's context did not end")
	}
}
