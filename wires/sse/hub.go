package sse

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/agenthost/agenthost/actors/crash"
)

// Source gives a stream its frames. Its methods are called from one goroutine,
// and Close exactly once, as the last.
type Source interface {
	// Next returns one of: frames (whole ones; they may be shared, and are not
	// used after the next call), to be called again at once; wake, when there is
	// nothing now, to be called again after wake is closed; done, with or without
	// last frames, when the stream is complete; err, which ends it. Only done
	// without err tells the client that it has seen the end.
	Next() (frames []byte, wake <-chan struct{}, done bool, err error)
	Close()
}

// ErrClosed is returned by Serve once the hub closes.
var ErrClosed = errors.New("sse: the hub is closed")

// Options of a Hub. Zero fields get the values that they name.
type Options struct {
	Heartbeat    time.Duration // 15s
	WriteTimeout time.Duration // 30s, of one write
	Log          *slog.Logger  // slog.DiscardHandler
}

// Hub owns all open streams of a server.
type Hub struct {
	heartbeat, writeTimeout time.Duration
	log                     *slog.Logger

	wheel   wheel
	closing chan struct{} // closed when streams shall finish

	mu      sync.Mutex
	closed  bool
	streams map[*stream]struct{}
	running sync.WaitGroup // one per stream, and the heartbeat goroutine

	opened, slow, gone, panics atomic.Int64
	bytes                      atomic.Int64
}

// NewHub starts a hub; Close ends it.
func NewHub(o Options) *Hub {
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{
		heartbeat: o.Heartbeat, writeTimeout: o.WriteTimeout, log: o.Log,
		closing: make(chan struct{}), streams: map[*stream]struct{}{},
	}
	h.wheel.init()
	h.running.Add(1)
	go h.beat()
	return h
}

// Serve takes over ctx's connection after the handler has returned and streams
// src over it. Headers that are set on ctx.Response go along. src is closed when
// the stream ends, also when Serve returns an error.
func (h *Hub) Serve(ctx *fasthttp.RequestCtx, src Source) error {
	chunked := ctx.Request.Header.IsHTTP11()
	s := &stream{hub: h, src: src, head: head(ctx, chunked), chunked: chunked, born: time.Now()}
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		src.Close()
		return ErrClosed
	}
	h.streams[s] = struct{}{}
	s.slot = h.wheel.slot()
	h.running.Add(1)
	h.mu.Unlock()
	h.opened.Add(1)
	// The request stays referenced as long as the stream: let its body go.
	ctx.Request.ResetBody()
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(s.serve)
	return nil
}

// Close asks all streams to write what is pending and finish, and waits. A stream
// whose source is not done by then looks cut off to its client. When ctx
// ends first the remaining connections are closed, which ends them at once, and
// ctx's error is returned. Further calls wait as well.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()
	h.dropUnstarted(0)
	done := make(chan struct{})
	go func() { // ends with the last stream, which cut() forces
		defer crash.Guard()
		defer close(done)
		h.running.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		h.cut()
		<-done
		return ctx.Err()
	}
}

// Stats are counters since the start, Open excepted.
type Stats struct {
	Open                       int
	Opened, Slow, Gone, Panics int64
	Bytes                      int64
}

// Stats tells what the hub has done.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	open := len(h.streams)
	h.mu.Unlock()
	return Stats{
		Open: open, Opened: h.opened.Load(), Slow: h.slow.Load(), Gone: h.gone.Load(),
		Panics: h.panics.Load(), Bytes: h.bytes.Load(),
	}
}

// cut closes the connections of all streams that still run.
func (h *Hub) cut() {
	h.dropUnstarted(0)
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.streams {
		if s.conn != nil {
			_ = s.conn.Close() // the stream sees a failed read or write
		} else {
			s.cut = true
		}
	}
}

// unstartedLimit is how long the server may take from the end of a handler to the
// hijack.
const unstartedLimit = 30 * time.Second

// dropUnstarted ends streams whose connection broke before the server came to
// hand it over.
func (h *Hub) dropUnstarted(olderThan time.Duration) {
	h.mu.Lock()
	var drop []*stream
	for s := range h.streams {
		if !s.started && time.Since(s.born) >= olderThan {
			s.started = true // a late hijack finds it and returns
			s.dropped = true
			drop = append(drop, s)
			delete(h.streams, s)
		}
	}
	h.mu.Unlock()
	for _, s := range drop {
		s.src.Close()
		h.running.Done()
	}
}

// start hands the connection to s; false when s was dropped meanwhile.
func (h *Hub) start(s *stream, conn net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.dropped {
		return false
	}
	s.started, s.conn = true, conn
	if s.cut {
		_ = s.conn.Close()
	}
	return true
}

func (h *Hub) end(s *stream) {
	h.mu.Lock()
	delete(h.streams, s)
	h.mu.Unlock()
	h.running.Done()
}
