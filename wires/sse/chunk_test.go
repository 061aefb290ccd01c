package sse_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"github.com/agenthost/agenthost/wires/sse"
)

const request11 = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// readHead reads the status line and the headers.
func readHead(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	head := ""
	for !strings.HasSuffix(head, "\r\n\r\n") {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, head)
		}
		head += line
	}
	return head
}

// Node would take a torn answer for a whole one if it were told that the connection
// closes behind it.
func TestNodeIsToldOtherwise(t *testing.T) {
	t.Parallel()
	for _, ua := range []string{"node", "OpenAI/JS 7.59.0", "Agents/JavaScript 0.20.0", "undici"} {
		hub := sse.NewHub(sse.Options{Heartbeat: time.Hour})
		addr, _ := serve(t, hub, stream(hub, newSource()))
		head := readHead(t, bufio.NewReader(dial(t, addr, strings.Replace(request11, "\r\n\r\n", "\r\nUser-Agent: "+ua+"\r\n\r\n", 1))))
		if strings.Count(head, "Keep-Alive: timeout=0\r\n") != 1 || strings.Contains(head, "Connection:") {
			t.Errorf("%s is told %q", ua, head)
		}
	}
}

func TestOneWakeIsOneChunk(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{Heartbeat: time.Hour})
	src := newSource()
	addr, writes := serve(t, hub, stream(hub, src))
	r := bufio.NewReader(dial(t, addr, request11))
	head := readHead(t, r)
	if strings.Count(head, "Transfer-Encoding: chunked\r\n") != 1 || strings.Count(head, "Connection: close\r\n") != 1 || strings.Contains(head, "Keep-Alive") || strings.Contains(head, "Content-Length") {
		t.Errorf("head %q", head)
	}
	expect(t, r, "5\r\n: ok\n\r\n")
	if n := writes.Load(); n != 1 {
		t.Errorf("headers and first comment took %d writes", n)
	}
	src.change(func() { src.pending = [][]byte{[]byte("event: a\n\n"), []byte("event: b\n\n")} })
	expect(t, r, "14\r\nevent: a\n\nevent: b\n\n\r\n")
	if n := writes.Load(); n != 2 {
		t.Errorf("and a wake %d more", n-1)
	}
	src.change(func() { src.pending, src.done = [][]byte{[]byte("event: c\n\n"), []byte("event: d\n\n")}, true })
	rest, err := io.ReadAll(r)
	if want := "14\r\nevent: c\n\nevent: d\n\n\r\n0\r\n\r\n"; err != nil || string(rest) != want {
		t.Errorf("the end is %q, %v", rest, err)
	}
	if n := writes.Load(); n != 3 {
		t.Errorf("the last wake took %d writes", n-2)
	}
}

func TestHeartbeatIsAChunk(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{Heartbeat: 16 * time.Millisecond})
	src := newSource()
	addr, _ := serve(t, hub, stream(hub, src))
	r := bufio.NewReader(dial(t, addr, request11))
	readHead(t, r)
	expect(t, r, "5\r\n: ok\n\r\n7\r\n: ping\n\r\n7\r\n: ping\n\r\n")
	src.change(func() { src.done = true }) // without a last frame
	rest, err := io.ReadAll(r)
	if rest = bytes.ReplaceAll(rest, []byte("7\r\n: ping\n\r\n"), nil); err != nil || string(rest) != "0\r\n\r\n" {
		t.Errorf("the end is %q, %v", rest, err)
	}
}

// Only a source that is done ends the answer; whatever else ends the stream
// leaves it incomplete.
func TestOnlyADoneSourceEndsTheAnswer(t *testing.T) {
	t.Parallel()
	broken := errors.New("a source of a test")
	ends := map[string]struct {
		end  func(*sse.Hub, *fakeSource)
		want error
	}{
		"done": {func(_ *sse.Hub, s *fakeSource) { s.change(func() { s.done = true }) }, nil},
		"done with last frame": {func(_ *sse.Hub, s *fakeSource) {
			s.change(func() { s.pending, s.done = [][]byte{[]byte("z\n\n")}, true })
		}, nil},
		"error":              {func(_ *sse.Hub, s *fakeSource) { s.change(func() { s.err = broken }) }, io.ErrUnexpectedEOF},
		"done with an error": {func(_ *sse.Hub, s *fakeSource) { s.change(func() { s.done, s.err = true, broken }) }, io.ErrUnexpectedEOF},
		"frames, then an error": {func(_ *sse.Hub, s *fakeSource) {
			s.change(func() { s.pending, s.done, s.err = [][]byte{[]byte("y\n\n"), nil}, false, broken })
		}, io.ErrUnexpectedEOF},
		"panic":    {func(_ *sse.Hub, s *fakeSource) { s.change(func() { s.panics = true }) }, io.ErrUnexpectedEOF},
		"shutdown": {func(h *sse.Hub, _ *fakeSource) { _ = h.Close(context.Background()) }, io.ErrUnexpectedEOF},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub := sse.NewHub(sse.Options{Heartbeat: time.Hour})
			src := newSource("event: a\n\n")
			addr, _ := serve(t, hub, stream(hub, src))
			res := get(t, addr)
			expect(t, res.Body, ": ok\nevent: a\n\n")
			c.end(hub, src)
			if rest, err := io.ReadAll(res.Body); err != c.want { //nolint:errorlint // the client's own, never wrapped
				t.Errorf("the client sees %v after %q, want %v", err, rest, c.want)
			}
			src.waitClosed(t)
		})
	}
}

func TestSlowReaderSeesItsStreamCutOff(t *testing.T) {
	t.Parallel()
	hub := sse.NewHub(sse.Options{WriteTimeout: 100 * time.Millisecond, Heartbeat: time.Hour})
	src := newSource()
	src.endless = bytes.Repeat([]byte("data: x\n\n"), 20_000)
	addr, _ := serve(t, hub, stream(hub, src))
	res := get(t, addr)
	src.waitClosed(t)
	if n, err := io.Copy(io.Discard, res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v after %d bytes", err, n)
	}
}

// Frames of every size and number, also those that take several writes, are the
// content of one answer, whether they are gathered or sent from where they are.
func TestChunksOfAnySizeAreWellFormed(t *testing.T) {
	t.Parallel()
	size := func(n int) string { return strings.Repeat("x", n-2) + "\n\n" }
	for name, frames := range map[string][]string{
		"a digit more":         {size(15), size(16), size(255), size(256), size(4095), size(4096)},
		"gathered to the brim": {size(1000), size(64<<10 - 1001), size(64 << 10)},
		"a large one last":     {size(10), size(3 << 20)},
		"large ones":           {size(64 << 10), size(256 << 10), size(256<<10 + 1), size(1 << 20), size(3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub := sse.NewHub(sse.Options{Heartbeat: time.Hour})
			src := newSource(frames...)
			src.done = true
			addr, _ := serve(t, hub, stream(hub, src))
			r := bufio.NewReader(dial(t, addr, request11))
			readHead(t, r)
			all, err := io.ReadAll(r)
			if err != nil || !bytes.HasSuffix(all, []byte("\r\n0\r\n\r\n")) {
				t.Fatalf("ends with %q, %v", all[max(0, len(all)-20):], err)
			}
			got, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(all)))
			if want := ": ok\n" + strings.Join(frames, ""); err != nil || string(got) != want {
				t.Errorf("%d bytes (%v), want %d", len(got), err, len(want))
			}
		})
	}
}

// HTTP/1.0 has no chunks: the answer is framed by the end of the connection.
func TestOldClientGetsNoChunks(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 700_000) + "\n\n"
	hub := sse.NewHub(sse.Options{Heartbeat: 16 * time.Millisecond})
	src := newSource("event: a\n\n", "event: b\n\n")
	addr, _ := serve(t, hub, stream(hub, src))
	r := bufio.NewReader(dial(t, addr, "GET / HTTP/1.0\r\nHost: x\r\n\r\n"))
	if head := readHead(t, r); strings.Contains(head, "Transfer-Encoding") || !strings.Contains(head, "Connection: close\r\n") {
		t.Errorf("head %q", head)
	}
	expect(t, r, ": ok\nevent: a\n\nevent: b\n\n: ping\n")
	src.change(func() { src.pending, src.done = [][]byte{[]byte("event: c\n\n"), []byte(large)}, true })
	rest, err := io.ReadAll(r)
	if got := strings.ReplaceAll(string(rest), ": ping\n", ""); err != nil || got != "event: c\n\n"+large {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A connection that can gather writes does so in one system call, also behind the
// server's own type; others get the same bytes.
func TestGatheredWritesPassThroughAnEmbeddedConnection(t *testing.T) {
	t.Parallel()
	type wrapped struct{ *net.TCPConn }
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		t.Fatalf("%T", c)
	}
	_ = tcp.Close()
	var plain, through error
	b := net.Buffers{[]byte("a"), []byte("b")}
	_, plain = b.WriteTo(tcp)
	b = net.Buffers{[]byte("a"), []byte("b")}
	_, through = b.WriteTo(wrapped{tcp})
	// The operation's name tells the system call.
	if plain == nil || through == nil || plain.Error() != through.Error() || !strings.Contains(through.Error(), "writev") {
		t.Errorf("%v and %v", plain, through)
	}
}
