package sse

import (
	"bytes"
	"time"

	"github.com/valyala/fasthttp"
)

// head is the status line, the headers and the first comment. The comment makes
// proxies and clients see the stream at once.
func head(ctx *fasthttp.RequestCtx, chunked bool) []byte {
	b := make([]byte, 0, 512)
	b = append(b, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"+
		"X-Accel-Buffering: no\r\n"...)
	b = append(b, farewell(chunked)...)
	b = append(b, "Date: "...)
	b = fasthttp.AppendHTTPDate(b, time.Now())
	b = append(b, "\r\n"...)
	for k, v := range ctx.Response.Header.All() {
		if own(k) || bytes.ContainsAny(v, "\r\n") {
			continue
		}
		b = append(append(append(append(b, k...), ": "...), v...), "\r\n"...)
	}
	if !chunked {
		return append(b, lineBreak+hello...)
	}
	b = append(b, "Transfer-Encoding: chunked\r\n\r\n"...)
	return append(b, chunk(hello)...)
}

// farewell says that the connection is not used again. "Connection: close" would
// say it best, but then node takes a chunked answer that was torn for a whole one.
func farewell(chunked bool) string {
	if chunked {
		return "Keep-Alive: timeout=0\r\n"
	}
	return "Connection: close\r\n"
}

// own reports whether the stream sets the header itself, or must not have it.
func own(key []byte) bool {
	switch string(bytes.ToLower(key)) {
	case "content-type", "cache-control", "x-accel-buffering", "connection", "date",
		"content-length", "transfer-encoding", "content-encoding", "trailer":
		return true
	}
	return false
}
