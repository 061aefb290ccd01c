package provider

import (
	"context"
	"net/http"
	"time"
)

// events writes one SSE stream. After the client has left, or after a cut, what
// is written goes nowhere.
type events struct {
	w       http.ResponseWriter
	ctx     context.Context
	slow    time.Duration
	started bool
	gone    bool
}

// send writes one event; without a name only its data.
func (e *events) send(name string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		e.gone = true
		return
	}
	e.raw(name, b)
}

func (e *events) raw(name string, data []byte) {
	if e.gone {
		return
	}
	if !e.started {
		e.started = true
		h := e.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache")
	}
	var b []byte
	if name != "" {
		b = append(append(append(b, "event: "...), name...), '\n')
	}
	b = append(append(append(b, "data: "...), data...), "\n\n"...)
	if _, err := e.w.Write(b); err != nil {
		e.gone = true
		return
	}
	// A stream that cannot be flushed is only slower.
	_ = http.NewResponseController(e.w).Flush()
}

// piece sends a delta, after the script's delay.
func (e *events) piece(name string, data any) {
	if e.gone || !pause(e.ctx, e.slow) {
		e.gone = true
		return
	}
	e.send(name, data)
}

// cut breaks the connection off in the middle of the stream.
func (e *events) cut() {
	if e.gone {
		return
	}
	e.gone = true
	if conn, _, err := http.NewResponseController(e.w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// stall keeps the connection open without a byte until the client leaves.
func (e *events) stall() {
	if e.gone {
		return
	}
	e.gone = true
	<-e.ctx.Done()
}

// end makes sure that even an empty stream has its headers.
func (e *events) end() {
	if !e.started && !e.gone {
		e.w.WriteHeader(http.StatusOK)
	}
}
