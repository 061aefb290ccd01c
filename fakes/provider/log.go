package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Request is one logged request.
type Request struct {
	At           time.Time
	Method, Path string
	// Auth is the name of the header that carried a key, "" without one, and
	// KeySHA256 the hex digest of that key. The key itself is not kept.
	Auth, KeySHA256 string
	Body            []byte
}

// SHA256 is the digest of a key as a Request has it.
func SHA256(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// key finds the credential of a request and the header it came in.
func key(h http.Header) (header, value string) {
	if v := h.Get("X-Api-Key"); v != "" {
		return "X-Api-Key", v
	}
	if v := h.Get("X-Goog-Api-Key"); v != "" {
		return "X-Goog-Api-Key", v
	}
	if v := h.Get("Authorization"); v != "" {
		return "Authorization", strings.TrimPrefix(v, "Bearer ")
	}
	return "", ""
}

// Requests is a copy of the log, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

func (s *Server) record(r *http.Request, body []byte) {
	q := Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Body: body}
	header, value := key(r.Header)
	if header != "" {
		q.Auth, q.KeySHA256 = header, SHA256(value)
	}
	limit := s.script.MaxRequests
	if limit == 0 {
		limit = 10_000
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.log = append(s.log, q); len(s.log) > limit {
		s.log = s.log[len(s.log)-limit:]
	}
}
