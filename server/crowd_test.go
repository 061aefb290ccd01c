package server

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestConnectionsBeyondTheLimitAreTold(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxConnections: 3}, nil)
	dial := func() net.Conn {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		return c
	}
	get := func(c net.Conn) string {
		_, _ = io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		return line
	}
	var held []net.Conn
	for range 3 {
		c := dial()
		if line := get(c); !strings.HasPrefix(line, "HTTP/1.1 200") {
			t.Fatalf("within the limit: %q", line)
		}
		held = append(held, c)
	}
	c := dial()
	text, err := io.ReadAll(c)
	_ = c.Close()
	if a := parse(t, string(text)); err != nil || a.status != 429 || a.code() != "host_busy" || a.header.Get("Retry-After") == "" ||
		!strings.Contains(a.body, "limits.max_connections") || a.header.Get("x-request-id") == "" {
		t.Errorf("%v %s", err, text)
	}
	// A place that comes free is given away again.
	_ = held[0].Close()
	for deadline := time.Now().Add(10 * time.Second); ; {
		c := dial()
		line := get(c)
		_ = c.Close()
		if strings.HasPrefix(line, "HTTP/1.1 200") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still refused: %q", line)
		}
	}
	for _, c := range held[1:] {
		_ = c.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); r.crowd.open.Load() != 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d are counted with none open", r.crowd.open.Load())
		}
	}
	if r.crowd.refused.Load() == 0 {
		t.Error("nothing was counted as refused")
	}
}

func TestRequestsOfAPrincipalAreBounded(t *testing.T) {
	t.Parallel()
	mine := append([]Principal(nil), principals...)
	for i := range mine {
		if mine[i].Token == rootToken {
			mine[i].RequestsPerMinute = 5
		}
	}
	r := start(t, Config{Principals: mine, RequestsPerMinute: 2}, nil)
	allowed := func(token string) (n int) {
		for range 20 {
			a := r.do(t, "GET", "/v1/models", token, "")
			if a.status == 200 {
				n++
				continue
			}
			wait, err := strconv.Atoi(a.header.Get("Retry-After"))
			if a.status != 429 || a.code() != "rate_limit_reached" || err != nil || wait < 1 || wait > 30 || a.header.Get("x-should-retry") != "" {
				t.Fatalf("%d %v %s", a.status, a.header, a.body)
			}
			return n
		}
		return n
	}
	if n := allowed(aliceToken); n != 2 {
		t.Errorf("by the server's bound %d passed", n)
	}
	if n := allowed(rootToken); n != 5 {
		t.Errorf("by its own bound %d passed", n)
	}
	if a := r.do(t, "GET", "/healthz", "", ""); a.status != 200 {
		t.Errorf("a probe: %d", a.status)
	}
}
