package relay

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// refusal is an answer of the relay's own.
type refusal struct {
	status int
	text   string
}

// write says it in a shape that the CLIs of both wires read.
func (f *refusal) write(w http.ResponseWriter) {
	kind := "invalid_request_error"
	switch f.status {
	case http.StatusUnauthorized:
		kind = "authentication_error"
	case http.StatusBadGateway:
		kind = "api_error"
	case http.StatusTooManyRequests:
		kind = "rate_limit_error"
	}
	body, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": kind, "code": "relay_refused", "message": "agenthost's relay: " + f.text}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	_, _ = w.Write(body)
}

// credentials are the headers that hold a provider's key, as "Bearer KEY" or as it is.
var credentials = [...]struct{ header, scheme string }{
	{"Authorization", "Bearer "}, {"X-Api-Key", ""}, {"X-Goog-Api-Key", ""}, {"Api-Key", ""},
}

// admit finds the pass of a request, and the header that showed its token.
func (s *Server) admit(r *http.Request) (p *Pass, shown int, f *refusal) {
	switch {
	case r.Method != http.MethodPost && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return nil, 0, &refusal{http.StatusMethodNotAllowed, "only GET, HEAD and POST are passed on"}
	case r.URL.Scheme != "" || r.URL.Host != "" || !strings.HasPrefix(r.RequestURI, "/"):
		return nil, 0, &refusal{http.StatusBadRequest, "it is no proxy: name a path, not an address"}
	case r.Host != s.addr:
		return nil, 0, &refusal{http.StatusMisdirectedRequest, "this is not the host that the request names"}
	case r.Header.Get("Upgrade") != "" || tokens(r.Header["Connection"], "upgrade"):
		return nil, 0, &refusal{http.StatusNotImplemented, "it does not upgrade connections"}
	}
	for i, c := range credentials {
		for _, value := range r.Header.Values(c.header) {
			if len(value) < len(c.scheme) || !strings.EqualFold(value[:len(c.scheme)], c.scheme) {
				continue
			}
			sum := sha256.Sum256([]byte(strings.TrimSpace(value[len(c.scheme):])))
			s.mu.Lock()
			p := s.passes[sum] // of random tokens: how long the look-up takes tells nothing
			s.mu.Unlock()
			if p != nil {
				return p, i, nil
			}
		}
	}
	return nil, 0, &refusal{http.StatusUnauthorized, "no token of a turn that runs"}
}

// tokens says that a word is in a header's list.
func tokens(values []string, word string) bool {
	for _, v := range values {
		for _, t := range strings.Split(v, ",") {
			if strings.EqualFold(strings.TrimSpace(t), word) {
				return true
			}
		}
	}
	return false
}

// clean is an escaped path in which every reader sees the same segments; ok is false for
// one with dots for segments, empty ones, or escapes of what divides segments.
func clean(path string) (string, bool) {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\\;\x00") {
		return "", false
	}
	lower := strings.ToLower(path)
	for _, esc := range []string{"%2f", "%5c", "%2e", "%00", "%25", "%3b"} {
		if strings.Contains(lower, esc) {
			return "", false
		}
	}
	segments := strings.Split(path[1:], "/")
	for i, seg := range segments {
		if seg == "." || seg == ".." || seg == "" && i < len(segments)-1 {
			return "", false
		}
	}
	return path, true
}

// target is where a request goes: below the pass's base URL, or nowhere.
func (p *Pass) target(u *url.URL) (*url.URL, *refusal) {
	path, ok := clean(u.EscapedPath())
	if !ok {
		return nil, &refusal{http.StatusBadRequest, "the path can be read in two ways"}
	}
	prefix := p.base.EscapedPath()
	if prefix != "" && path != prefix && !strings.HasPrefix(path, prefix+"/") {
		return nil, &refusal{http.StatusNotFound, "the path is not below the provider's base URL"}
	}
	if strings.Contains(u.RawQuery, p.Token) {
		return nil, &refusal{http.StatusBadRequest, "a token has no place in an address"}
	}
	out := *p.base
	out.Path, out.RawPath, out.RawQuery = u.Path, u.RawPath, u.RawQuery
	return &out, nil
}

// ownHeaders are between the two ends of one connection, or about who asks: none of
// them goes on.
var ownHeaders = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Cookie", "Set-Cookie", "Via",
}

func passable(h http.Header) http.Header {
	out := h.Clone()
	for _, list := range h["Connection"] {
		for _, name := range strings.Split(list, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range ownHeaders {
		out.Del(name)
	}
	return out
}

// outgoing is the request with the key in the place of the token.
func (p *Pass) outgoing(w http.ResponseWriter, r *http.Request, shown int) (*http.Request, *refusal) {
	to, f := p.target(r.URL)
	if f != nil {
		return nil, f
	}
	if r.ContentLength > maxBody {
		return nil, &refusal{http.StatusRequestEntityTooLarge, "the request is larger than 64 MiB"}
	}
	out := &http.Request{Method: r.Method, URL: to, Host: to.Host, Header: passable(r.Header), ContentLength: r.ContentLength, ProtoMajor: 1, ProtoMinor: 1}
	if r.ContentLength != 0 {
		out.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	for _, c := range credentials {
		out.Header.Del(c.header)
	}
	out.Header.Del("Accept-Encoding") // what is read for usage must be readable
	out.Header.Set(credentials[shown].header, credentials[shown].scheme+p.key)
	if _, told := r.Header["User-Agent"]; !told {
		out.Header["User-Agent"] = nil // none of ours either
	}
	return out, nil
}

// unreachable says why there was no answer, without the address, which may hold a key.
func unreachable(err error) *refusal {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &refusal{http.StatusRequestEntityTooLarge, "the request is larger than 64 MiB"}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return &refusal{http.StatusBadGateway, "the provider was not reached: " + err.Error()}
}
