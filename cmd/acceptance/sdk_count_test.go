package acceptance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/agenthost/agenthost/fakes/drift"
)

// counter is a proxy of a server that notes requests, and counts them by their X-Case
// header, so a client's silent retries are seen. GET /count/NAME tells how many.
type counter struct {
	mu     sync.Mutex
	seen   map[string]int
	called drift.Calls
	next   http.Handler
}

func (c *counter) calls() drift.Calls {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.called)
}

// countRequests starts a counter before a server and returns its URL.
func countRequests(t *testing.T, server string) (string, *counter) {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
	}
	c := &counter{seen: map[string]int{}, called: drift.Calls{}, next: proxy}
	front := httptest.NewServer(c)
	t.Cleanup(front.Close)
	return front.URL, c
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, asked := strings.CutPrefix(r.URL.Path, "/count/")
	c.mu.Lock()
	if !asked {
		c.seen[r.Header.Get("X-Case")]++
		c.called.Called(r.Method, r.URL.EscapedPath(), r.URL.RawQuery)
	}
	n := c.seen[name]
	c.mu.Unlock()
	if asked {
		_, _ = fmt.Fprint(w, n)
		return
	}
	// The Go SDK gives some GETs a body, which nobody waits for: an answer that came
	// while it is still being read would be cut off by the proxy.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.next.ServeHTTP(w, r)
}

// tamperer starts a proxy of a server that changes words in its answers; both words
// are of one length.
func tamperer(t *testing.T, server, old, with string) string {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		Transport:     transport,
		FlushInterval: -1,
		ModifyResponse: func(r *http.Response) error {
			r.Body = &tampered{Closer: r.Body, from: bufio.NewReader(r.Body), old: []byte(old), with: []byte(with)}
			return nil
		},
	})
	t.Cleanup(front.Close)
	return front.URL
}

// tampered reads line by line, so that a word is never cut in two.
type tampered struct {
	io.Closer
	from      *bufio.Reader
	old, with []byte
	line      []byte
}

func (b *tampered) Read(p []byte) (int, error) {
	if len(b.line) == 0 {
		line, err := b.from.ReadBytes('\n')
		if len(line) == 0 {
			return 0, err
		}
		b.line = bytes.ReplaceAll(line, b.old, b.with)
	}
	n := copy(p, b.line)
	b.line = b.line[n:]
	return n, nil
}
