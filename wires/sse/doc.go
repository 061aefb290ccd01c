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
// The answer is chunked, one chunk for the frames of one wake, and its last chunk
// is sent only when the source is done: a client whose stream was cut off, by an
// error, a deadline, a shutdown or the death of the server, sees a transfer that
// is incomplete and not an end. HTTP/1.0 clients know no chunks; their answer ends
// with the connection.
//
// A heartbeat is one comment line and ONE newline, between frames only. There is
// never an id:, a retry: or a block without data: official decoders fail on them.
//
// A client that shuts down its sending side counts as gone, as in net/http.
package sse
