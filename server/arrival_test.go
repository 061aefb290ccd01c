package server

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// A stranger's body is not read, and no room is made for it.
func TestBodiesOfStrangersAreNotRead(t *testing.T) {
	t.Parallel()
	r := start(t, Config{Principals: principals}, nil)
	for name, framing := range map[string]string{"length": "Content-Length: 9000000\r\n\r\n{", "chunked": "Transfer-Encoding: chunked\r\n\r\n800000\r\n{"} {
		begin := time.Now()
		text := r.raw(t, "POST /v1/responses HTTP/1.1\r\nHost: t\r\n"+framing) // and no more
		if a := parse(t, text); a.status != 401 || a.code() != "unauthorized" || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %s", name, text)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: answered after %s", name, took)
		}
	}
	if r.arrivals.total != 0 {
		t.Errorf("%d bytes are kept", r.arrivals.total)
	}
}

// The bodies that are on their way have room for so many bytes; the next one is told
// to come again, and may when one has arrived or was given up.
func TestBodiesOnTheirWayAreBounded(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	r.arrivals.most = 2 << 20
	head := "POST /v1/responses HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: "
	var slow []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, _ = fmt.Fprintf(c, "%s%d\r\n\r\n[", head, 1<<20)
		slow = append(slow, c)
	}
	ask := func(n int) *answer {
		return parse(t, r.raw(t, fmt.Sprintf("%s%d\r\n\r\n%s", head, n, strings.Repeat("x", n))))
	}
	eventually(t, "both have their room", func() bool { a := r.arrivals; a.mu.Lock(); defer a.mu.Unlock(); return a.total == 2<<20 })
	if a := ask(100); a.status != 429 || a.code() != "host_busy" || a.header.Get("Retry-After") == "" {
		t.Errorf("a third: %d %s", a.status, a.body)
	}
	if a := r.do(t, "GET", "/v1/models", "", ""); a.status != 200 {
		t.Errorf("without a body: %d", a.status)
	}
	_ = slow[0].Close()
	eventually(t, "there is room again", func() bool { return ask(100).status == 200 })
	_, _ = io.WriteString(slow[1], strings.Repeat("x", 1<<20-1))
	if text, err := io.ReadAll(slow[1]); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200") {
		t.Errorf("the slow one: %.100q %v", text, err)
	}
	_ = slow[1].Close()
	eventually(t, "nothing is kept", func() bool { a := r.arrivals; a.mu.Lock(); defer a.mu.Unlock(); return a.total == 0 && len(a.all) == 0 })
}

// A request that broke off without an answer gives its room back when its header is
// used again.
func TestRoomOfABrokenRequestIsGivenBack(t *testing.T) {
	t.Parallel()
	a := newArrivals(1)
	a.most = 10
	h := new(fasthttp.RequestHeader)
	for range 5 {
		if !a.add(h, arrival{room: 7}) {
			t.Fatal("no room")
		}
	}
	if a.add(new(fasthttp.RequestHeader), arrival{room: 4}) || !a.add(new(fasthttp.RequestHeader), arrival{room: 3}) {
		t.Error("the room is not what is left")
	}
	if a.end(h) != nil || a.total != 3 {
		t.Errorf("%d kept", a.total)
	}
}

func TestAmbiguousFramingEndsTheConnection(t *testing.T) {
	t.Parallel()
	r := start(t, Config{}, nil)
	for name, headers := range map[string]string{
		"folded length": "Content-Length:\r\n 0\r\n", "folded header": "X-A: b\r\n\tc\r\nContent-Length: 0\r\n", "folded coding": "Transfer-Encoding:\r\n chunked\r\n",
		"identity": "Transfer-Encoding: identity\r\n",
	} {
		text := r.raw(t, "POST /v1/responses HTTP/1.1\r\nHost: t\r\n"+headers+"\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: t\r\n\r\n")
		if a := parse(t, text); a.status != 400 || a.code() != "invalid_request" || strings.Count(text, "HTTP/1.1 ") != 1 {
			t.Errorf("%s: %s", name, text)
		}
	}
	if a := parse(t, r.raw(t, "POST /v1/responses HTTP/1.1\r\nHost: t\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")); a.status != 200 {
		t.Errorf("chunked: %d %s", a.status, a.body)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("not within a minute: " + what)
		}
	}
}
