// Package sse carries server-sent events over hijacked fasthttp connections. It
// knows no wire: what a frame says is its Source's business.
//
// A stream is two goroutines, both ended by the stream: one pulls frames and
// writes them, one reads the connection so that a client that left is noticed at
// once. Pending frames are gathered in a pooled buffer and go out in one write; a
// write that does not finish within the write timeout ends the stream, so a
// stalled reader holds neither memory nor a turn. All streams share one heartbeat
// goroutine, owned by the Hub.
//
// The answer is framed by the end of the connection, not by chunks: every client
// understands it (HTTP/1.0 ones too), a frame costs no chunk header, and a stream
// tells its own end by its last event.
//
// A heartbeat is one comment line and ONE newline, between frames only. There is
// never an id:, a retry: or a block without data: official decoders fail on them.
//
// A client that shuts down its sending side counts as gone, as in net/http.
package sse
