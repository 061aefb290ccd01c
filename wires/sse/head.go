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
	b = append(b, farewell(chunked && isNode(ctx.UserAgent()))...)
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

// farewell says that the connection is not used again. "Connection: close" says it
// best; without it Go's client may put its next request on a connection that is just
// being closed. But with it node takes a chunked answer that was torn for a whole one.
func farewell(node bool) string {
	if node {
		return "Keep-Alive: timeout=0\r\n"
	}
	return "Connection: close\r\n"
}

// isNode reports whether a client runs on node or may do so: its fetch calls itself
// node or undici, the official SDKs OpenAI/JS and Agents/JavaScript.
func isNode(userAgent []byte) bool {
	ua := bytes.ToLower(userAgent)
	for _, word := range [...]string{"node", "undici", "/js", "javascript"} {
		if bytes.Contains(ua, []byte(word)) {
			return true
		}
	}
	return false
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
