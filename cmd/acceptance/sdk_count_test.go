package acceptance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// counter is a proxy of a server that counts requests by their X-Case header, so a
// client's silent retries are seen. GET /count/NAME tells how many.
type counter struct {
	mu   sync.Mutex
	seen map[string]int
	next http.Handler
}

// countRequests starts a counter before a server and returns its URL.
func countRequests(t *testing.T, server string) string {
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
	front := httptest.NewServer(&counter{seen: map[string]int{}, next: proxy})
	t.Cleanup(front.Close)
	return front.URL
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, asked := strings.CutPrefix(r.URL.Path, "/count/")
	c.mu.Lock()
	if !asked {
		c.seen[r.Header.Get("X-Case")]++
	}
	n := c.seen[name]
	c.mu.Unlock()
	if asked {
		_, _ = fmt.Fprint(w, n)
		return
	}
	c.next.ServeHTTP(w, r)
}
