package sse_test

import (
	"context"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/wires/sse"
)

// idleSource never has anything.
type idleSource struct{ wake chan struct{} }

func (s idleSource) Next() ([]byte, <-chan struct{}, bool, error) { return nil, s.wake, false, nil }
func (idleSource) Close()                                         {}

// BenchmarkIdleStreams reports the memory of a stream that waits, the client's end
// of the connection included.
func BenchmarkIdleStreams(b *testing.B) {
	const streams = 1000
	hub := sse.NewHub(sse.Options{})
	wake := make(chan struct{})
	srv := &fasthttp.Server{Logger: quiet{}, ReduceMemoryUsage: true, Handler: func(ctx *fasthttp.RequestCtx) {
		if hub.Serve(ctx, idleSource{wake}) != nil {
			ctx.SetStatusCode(503)
		}
	}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(ln) }()
	for b.Loop() {
		before := inUse()
		conns := make([]net.Conn, streams)
		for i := range conns {
			if conns[i], err = net.Dial("tcp", ln.Addr().String()); err != nil {
				b.Fatal(err)
			}
			if _, err = io.WriteString(conns[i], "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				b.Fatal(err)
			}
		}
		for end := time.Now().Add(patience); hub.Stats().Open < streams && time.Now().Before(end); {
			runtime.Gosched()
		}
		b.ReportMetric(float64(inUse()-before)/streams, "B/stream")
		for _, c := range conns {
			_ = c.Close()
		}
		for end := time.Now().Add(patience); hub.Stats().Open > 0 && time.Now().Before(end); {
			runtime.Gosched()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = hub.Close(ctx)
	_ = srv.Shutdown()
	<-served
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
