package endpoint

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// waitComment is a line of an event stream that says nothing.
const waitComment = ": waiting\n\n"

// commentEvery is how often a waiting call says it. HTTP clients of CLIs give up after
// five minutes without headers or without a byte of the body.
const commentEvery = 15 * time.Second

// request is one HTTP request, as the calls in it know it.
type request struct {
	context.Context
	*patience
}

type requestKey struct{}

// patience is a response that says something from time to time while a call in it
// waits. Everything that is written goes through it, one at a time; the events of the
// MCP server are one Write each, so a comment stands between them.
type patience struct {
	http.ResponseWriter
	every time.Duration

	mu    sync.Mutex
	calls int // that wait
	clock *time.Timer
	over  bool
}

// begin says that a call waits: the headers are set by now.
func (p *patience) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls++; p.calls == 1 {
		p.clock = time.AfterFunc(p.every, p.say)
	}
}

// end says that it has its result.
func (p *patience) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls--; p.calls == 0 {
		p.clock.Stop()
	}
}

// close ends the comments for good; nothing may be written after a request.
func (p *patience) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over = true; p.clock != nil {
		p.clock.Stop()
	}
}

func (p *patience) say() {
	defer crash.Guard()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.calls == 0 {
		return
	}
	if _, err := p.ResponseWriter.Write([]byte(waitComment)); err != nil {
		return // the client left, which the request's context tells
	}
	p.flush()
	p.clock.Reset(p.every)
}

// Write implements http.ResponseWriter.
func (p *patience) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ResponseWriter.Write(b)
}

// WriteHeader implements http.ResponseWriter.
func (p *patience) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ResponseWriter.WriteHeader(status)
}

// Flush implements http.Flusher.
func (p *patience) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flush()
}

func (p *patience) flush() { _ = http.NewResponseController(p.ResponseWriter).Flush() }
