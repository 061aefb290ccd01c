package sse_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"github.com/agenthost/agenthost/wires/sse"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"))
}

const patience = time.Minute

// fakeSource gives what the test puts in.
type fakeSource struct {
	mu      sync.Mutex
	pending [][]byte
	wake    chan struct{}
	done    bool
	err     error
	panics  bool
	endless []byte
	closed  chan struct{}
}

func newSource(frames ...string) *fakeSource {
	s := &fakeSource{wake: make(chan struct{}), closed: make(chan struct{})}
	for _, f := range frames {
		s.pending = append(s.pending, []byte(f))
	}
	return s
}

func (s *fakeSource) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.wake)
	s.wake = make(chan struct{})
}

func (s *fakeSource) push(frame string) {
	s.change(func() { s.pending = append(s.pending, []byte(frame)) })
}

func (s *fakeSource) Next() ([]byte, <-chan struct{}, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.panics:
		panic("a source of a test")
	case s.endless != nil:
		return s.endless, nil, false, nil
	case len(s.pending) > 0:
		f := s.pending[0]
		s.pending = s.pending[1:]
		return f, nil, s.done && len(s.pending) == 0, nil
	case s.err != nil, s.done:
		return nil, nil, s.done, s.err
	}
	return nil, s.wake, false, nil
}

func (s *fakeSource) Close() { close(s.closed) }

func (s *fakeSource) waitClosed(t *testing.T) {
	t.Helper()
	select {
	case <-s.closed:
	case <-time.After(patience):
		t.Fatal("the source was not closed")
	}
}

// countingListener counts the writes of its connections.
type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{c, l.writes}, nil
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

func (c countingConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

// serve answers every request by handler on a real socket.
func serve(t *testing.T, hub *sse.Hub, handler func(*fasthttp.RequestCtx)) (addr string, writes *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	writes = new(atomic.Int64)
	srv := &fasthttp.Server{Handler: handler, SecureErrorLogMessage: true, Logger: quiet{}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(countingListener{ln, writes})
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		_ = hub.Close(ctx)
		if err := srv.Shutdown(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return ln.Addr().String(), writes
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func stream(hub *sse.Hub, src sse.Source) func(*fasthttp.RequestCtx) {
	return func(ctx *fasthttp.RequestCtx) {
		if err := hub.Serve(ctx, src); err != nil {
			ctx.SetStatusCode(503)
		}
	}
}

func get(t *testing.T, addr string) *http.Response {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + addr + "/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func dial(t *testing.T, addr, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return c
}

func expect(t *testing.T, r io.Reader, want string) {
	t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(r, got)
	if err != nil || string(got) != want {
		t.Fatalf("read %q (%v), want %q", got[:n], err, want)
	}
}

func TestStreamArrivesFrameByFrame(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource()
	addr, _ := serve(t, hub, func(ctx *fasthttp.RequestCtx) {
		ctx.Response.Header.Set("x-request-id", "req_1")
		ctx.Response.Header.Set("Access-Control-Allow-Origin", "*")
		ctx.Response.Header.SetContentType("application/json")
		stream(hub, src)(ctx)
	})
	res := get(t, addr) // returns before there is any frame
	for k, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
		"X-Request-Id": "req_1", "Access-Control-Allow-Origin": "*",
	} {
		if got := res.Header.Values(k); len(got) != 1 || got[0] != want {
			t.Errorf("header %s is %q, want %q", k, got, want)
		}
	}
	if res.Header.Get("Date") == "" || !slices.Equal(res.TransferEncoding, []string{"chunked"}) {
		t.Errorf("date %q, encoding %v", res.Header.Get("Date"), res.TransferEncoding)
	}
	expect(t, res.Body, ": ok\n")
	for i := range 3 {
		frame := fmt.Sprintf("event: n\ndata: %d\n\n", i)
		src.push(frame)
		expect(t, res.Body, frame)
	}
	if open := hub.Stats().Open; open != 1 {
		t.Errorf("%d streams open, want 1", open)
	}
	src.change(func() { src.pending, src.done = append(src.pending, []byte("event: last\n\n")), true })
	rest, err := io.ReadAll(res.Body)
	if err != nil || string(rest) != "event: last\n\n" {
		t.Fatalf("end of the stream: %q, %v", rest, err)
	}
	src.waitClosed(t)
}

func TestPendingFramesGoOutInOneWrite(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource()
	addr, writes := serve(t, hub, stream(hub, src))
	res := get(t, addr)
	expect(t, res.Body, ": ok\n")
	before := writes.Load()
	var want strings.Builder
	src.change(func() {
		for i := range 500 {
			f := fmt.Sprintf("event: e\ndata: %d\n\n", i)
			want.WriteString(f)
			src.pending = append(src.pending, []byte(f))
		}
	})
	expect(t, res.Body, want.String())
	if n := writes.Load() - before; n != 1 {
		t.Errorf("500 pending frames took %d writes", n)
	}
}

//cases:56
func TestHeartbeatIsOneLineAndNeverInsideAFrame(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{Heartbeat: 16 * time.Millisecond})
	src := newSource("event: a\ndata: 1\n\n")
	addr, _ := serve(t, hub, stream(hub, src))
	res := get(t, addr)
	r := bufio.NewReader(res.Body)
	expect(t, r, ": ok\nevent: a\ndata: 1\n\n: ping\n: ping\n: ping\n")
	src.change(func() { src.pending, src.done = append(src.pending, []byte("event: z\ndata: 2\n\n")), true })
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(rest), ": ping\n", ""); got != "event: z\ndata: 2\n\n" {
		t.Errorf("after the pings: %q", rest)
	}
}

func TestClientThatLeavesIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{Heartbeat: time.Hour})
	src := newSource()
	addr, _ := serve(t, hub, stream(hub, src))
	c := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := bufio.NewReader(c).ReadString(':'); err != nil {
		t.Fatal(err)
	}
	left := time.Now()
	_ = c.Close()
	src.waitClosed(t)
	if d := time.Since(left); d > patience { // the next heartbeat is an hour away
		t.Errorf("noticed after %v", d)
	}
	poll(t, func() bool { return hub.Stats().Open == 0 && hub.Stats().Gone == 1 })
}

func poll(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition did not come true")
		}
	}
}

func TestClientThatLeavesABusyStreamIsNoticed(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource()
	src.endless = []byte("event: e\ndata: x\n\n")
	addr, _ := serve(t, hub, stream(hub, src))
	c := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := io.CopyN(io.Discard, c, 100_000); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	src.waitClosed(t)
}

func TestReaderThatStopsReadingIsClosed(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{WriteTimeout: 100 * time.Millisecond})
	src := newSource()
	src.endless = bytes.Repeat([]byte("data: x\n\n"), 20_000)
	addr, _ := serve(t, hub, stream(hub, src))
	dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // and never reads
	src.waitClosed(t)
	poll(t, func() bool { return hub.Stats().Slow == 1 })
}

func TestWhatAClientSendsLaterDoesNotCostItTheEnd(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource()
	addr, _ := serve(t, hub, stream(hub, src))
	c := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n")
	r := bufio.NewReader(c)
	for line := ""; line != "\r\n"; {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	src.change(func() { src.pending, src.done = [][]byte{[]byte("event: end\n\n")}, true })
	if rest, err := io.ReadAll(r); err != nil || string(rest) != "5\r\n: ok\n\r\nc\r\nevent: end\n\n\r\n0\r\n\r\n" {
		t.Errorf("rest %q, %v", rest, err)
	}
}

func TestWhatAClientSendsAfterTheEndDoesNotResetIt(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource("event: end\n\n")
	src.done = true
	addr, _ := serve(t, hub, stream(hub, src))
	c := dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	src.waitClosed(t)
	for range 50 { // one of them finds a connection that was closed at once
		if _, err := io.WriteString(c, "x"); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if all, err := io.ReadAll(c); err != nil || !bytes.HasSuffix(all, []byte("event: end\n\n\r\n0\r\n\r\n")) {
		t.Errorf("read %q, %v", all, err)
	}
}

func TestClosingHubLetsStreamsFinish(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource()
	addr, _ := serve(t, hub, stream(hub, src))
	res := get(t, addr)
	expect(t, res.Body, ": ok\n")
	src.mu.Lock() // without a wake-up: what is there must still go out
	src.pending = append(src.pending, []byte("event: last\n\n"))
	src.mu.Unlock()
	if err := hub.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	// The source was not done: what the client has is not all.
	if rest, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || string(rest) != "event: last\n\n" {
		t.Errorf("rest %q, %v", rest, err)
	}
	late := newSource()
	if err := hub.Serve(new(fasthttp.RequestCtx), late); !errors.Is(err, sse.ErrClosed) {
		t.Errorf("a stream after the end: %v", err)
	}
	late.waitClosed(t)
}

func TestClosingHubCutsStreamsThatDoNotFinish(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource()
	src.endless = []byte("event: e\n\n")
	addr, _ := serve(t, hub, stream(hub, src))
	res := get(t, addr)
	expect(t, res.Body, ": ok\n")
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, res.Body)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := hub.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close: %v", err)
	}
	src.waitClosed(t)
	<-read
}

func TestPanicEndsItsStreamAlone(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	bad, good := newSource(), newSource("event: fine\n\n")
	bad.panics = true
	good.done = true
	addr, _ := serve(t, hub, func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/bad" {
			stream(hub, bad)(ctx)
		} else {
			stream(hub, good)(ctx)
		}
	})
	c := dial(t, addr, "GET /bad HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := io.ReadAll(c); err != nil {
		t.Fatal(err)
	}
	bad.waitClosed(t)
	poll(t, func() bool { return hub.Stats().Panics == 1 })
	res := get(t, addr)
	if all, err := io.ReadAll(res.Body); err != nil || !strings.HasSuffix(string(all), "event: fine\n\n") {
		t.Errorf("%q, %v", all, err)
	}
}

func TestFailingSourceEndsTheStreamAfterItsFrames(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource("event: a\n\n", "event: b\n\n")
	src.err = errors.New("the session is gone")
	addr, _ := serve(t, hub, stream(hub, src))
	res := get(t, addr)
	if all, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) || string(all) != ": ok\nevent: a\n\nevent: b\n\n" {
		t.Errorf("%q, %v", all, err)
	}
	src.waitClosed(t)
}

func TestLargeFrameArrivesWhole(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	large := "data: " + strings.Repeat("x", 5<<20) + "\n\n"
	src := newSource("event: a\n\n", large, "event: z\n\n")
	src.done = true
	addr, _ := serve(t, hub, stream(hub, src))
	res := get(t, addr)
	all, err := io.ReadAll(res.Body)
	if err != nil || string(all) != ": ok\nevent: a\n\n"+large+"event: z\n\n" {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}

func TestStreamThatNeverGotItsConnectionIsDropped(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{})
	src := newSource()
	if err := hub.Serve(new(fasthttp.RequestCtx), src); err != nil {
		t.Fatal(err)
	}
	if err := hub.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	src.waitClosed(t)
}

func TestManyStreamsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{Heartbeat: 16 * time.Millisecond})
	var all sync.Map
	addr, _ := serve(t, hub, func(ctx *fasthttp.RequestCtx) {
		src := newSource("event: a\n\n")
		all.Store(src, true)
		stream(hub, src)(ctx)
	})
	var conns []net.Conn
	for range 50 {
		conns = append(conns, dial(t, addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	}
	poll(t, func() bool { return hub.Stats().Open == 50 })
	for _, c := range conns {
		_ = c.Close()
	}
	poll(t, func() bool { return hub.Stats().Open == 0 })
	all.Range(func(src, _ any) bool {
		s, _ := src.(*fakeSource)
		s.waitClosed(t)
		return true
	})
}
