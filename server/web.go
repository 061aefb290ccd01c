package server

import (
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// What every answer tells browsers: it is what its type says and nothing else, no page
// may frame or embed it, and no cache keeps it.
var browserHeaders = [][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Referrer-Policy", "no-referrer"},
	{"Cache-Control", "no-store"},
}

// guardHeaders sets them, and for a page that may use this server what lets it read the
// answer.
func (s *Server) guardHeaders(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	for _, kv := range browserHeaders {
		h.Set(kv[0], kv[1])
	}
	if s.cfg.Certificate != nil {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	if len(s.cfg.Origins) == 0 {
		return
	}
	h.Add("Vary", "Origin")
	if origin := s.allowedOrigin(&ctx.Request.Header); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "X-Request-Id, Retry-After, X-Should-Retry, Content-Disposition")
	}
}

// allowedOrigin is the page's that the request comes from, "" when it may not use this
// server.
func (s *Server) allowedOrigin(h *fasthttp.RequestHeader) string {
	if origin := string(h.Peek("Origin")); slices.Contains(s.cfg.Origins, origin) {
		return origin
	}
	return ""
}

// preflight answers what a browser asks before a page of another origin sends a
// request. Without a header of CORS it will not send it.
func (s *Server) preflight(ctx *fasthttp.RequestCtx) {
	if s.allowedOrigin(&ctx.Request.Header) == "" {
		return
	}
	h := &ctx.Response.Header
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, DELETE")
	h.Set("Access-Control-Max-Age", "600")
	var names []string
	for name := range strings.SplitSeq(string(ctx.Request.Header.Peek("Access-Control-Request-Headers")), ",") {
		if name = strings.TrimSpace(name); plainHeader(name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		h.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
	}
}

// plainHeader says that a header of that name is among those that clients of this
// server send.
func plainHeader(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{
		"authorization", "x-access-token", "content-type", "accept", "idempotency-key", "openai-beta", "openai-organization", "openai-project", "x-abx-adapter", "last-event-id",
	}, name) || strings.HasPrefix(name, "x-stainless-")
}
