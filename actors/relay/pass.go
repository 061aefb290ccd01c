package relay

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/actors/event"
	"github.com/agenthost/agenthost/actors/redact"
)

// Upstream is a provider and the credential for it.
type Upstream struct {
	// BaseURL is http or https, with the path that everything is below.
	BaseURL string
	Key     string
}

// Pass is one credential's way through the relay.
type Pass struct {
	// URL is the base URL for the CLI, with the path of the provider's; Token stands
	// for the key.
	URL, Token string

	server *Server
	name   string
	hash   [sha256.Size]byte
	base   *url.URL
	key    string
	hide   *redact.Set // the key, in answers
	refs   int         // under the server's lock

	mu      sync.Mutex
	uses    map[*Use]struct{}
	flights map[*flight]struct{}
}

// Use is a turn's use of a pass.
type Use struct {
	pass *Pass
	used func(event.Usage)
}

// flight is one request on its way; cancel ends it.
type flight struct{ cancel context.CancelFunc }

// maxFlights bounds the requests of one pass at once.
const maxFlights = 64

// Lease gives the pass of a name, or a new one; all leases of a name with the same
// provider share a pass, one without a name is alone. It may listen, so it is not for a
// Receive. Each lease is let go of by Release.
func (s *Server) Lease(name string, up Upstream) (*Pass, error) {
	base, err := parse(up.BaseURL)
	if err != nil {
		return nil, err
	}
	if up.Key == "" {
		return nil, fmt.Errorf("there is no key to relay")
	}
	at, err := s.address()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, http.ErrServerClosed
	}
	if p := s.named[name]; p != nil && name != "" && p.key == up.Key && p.base.String() == base.String() {
		p.refs++
		return p, nil
	}
	token := make([]byte, 32)
	_, _ = rand.Read(token) // never fails on the supported platforms
	own := url.URL{Scheme: "http", Host: at, Path: base.Path, RawPath: base.RawPath, RawQuery: base.RawQuery}
	p := &Pass{
		URL: own.String(), Token: hex.EncodeToString(token), server: s, name: name, base: base, key: up.Key, hide: redact.Values(up.Key), refs: 1,
		uses: map[*Use]struct{}{}, flights: map[*flight]struct{}{},
	}
	p.hash = sha256.Sum256([]byte(p.Token))
	s.passes[p.hash] = p
	if name != "" {
		s.named[name] = p
	}
	return p, nil
}

// parse reads the address of a provider.
func parse(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(base, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the provider's base URL cannot be read") // the error would quote it
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.Opaque != "":
		return nil, fmt.Errorf("the provider's base URL is no http or https URL with a host")
	case u.User != nil:
		return nil, fmt.Errorf("the provider's base URL holds credentials, which a relay does not pass on")
	}
	if _, ok := clean(u.EscapedPath()); !ok && u.Path != "" {
		return nil, fmt.Errorf("the path of the provider's base URL can be read in two ways")
	}
	u.Fragment = ""
	return u, nil
}

// Hold is a further lease of a pass; false when the last one was let go of already.
func (p *Pass) Hold() bool {
	if p == nil {
		return false
	}
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	if p.refs == 0 {
		return false
	}
	p.refs++
	return true
}

// Release lets go of a lease. With the last one the pass ends, and what is on its way
// with it. A nil pass has nothing to let go of.
func (p *Pass) Release() {
	if p == nil {
		return
	}
	p.server.mu.Lock()
	p.refs--
	last := p.refs == 0
	if last {
		delete(p.server.passes, p.hash)
		if p.server.named[p.name] == p {
			delete(p.server.named, p.name)
		}
	}
	p.server.mu.Unlock()
	if last {
		p.cancel()
	}
}

// Begin says that a turn uses the pass: its token opens from now on. used, which may
// be nil, is told what answers say was used, from a request's goroutine.
func (p *Pass) Begin(used func(event.Usage)) *Use {
	u := &Use{pass: p, used: used}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.uses[u] = struct{}{}
	return u
}

// End says that the turn is over. With the last one that uses the pass, what is on its
// way ends. A nil use has nothing to end.
func (u *Use) End() {
	if u == nil {
		return
	}
	p := u.pass
	p.mu.Lock()
	delete(p.uses, u)
	last := len(p.uses) == 0
	p.mu.Unlock()
	if last {
		p.cancel()
	}
}

func (p *Pass) cancel() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := range p.flights {
		f.cancel()
	}
}

// take lets a request on its way, or says why not.
func (p *Pass) take(ctx context.Context) (context.Context, *flight, *refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.uses) == 0:
		return nil, nil, &refusal{http.StatusUnauthorized, "the turn that this token was made for is over"}
	case len(p.flights) >= maxFlights:
		return nil, nil, &refusal{http.StatusTooManyRequests, "too many requests of this turn are on their way; wait for one to end"}
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &flight{cancel}
	p.flights[f] = struct{}{}
	return ctx, f, nil
}

func (p *Pass) landed(f *flight) {
	f.cancel()
	p.mu.Lock()
	delete(p.flights, f)
	p.mu.Unlock()
}

// tell says what an answer used to the turn, if there is only one: of several it is
// not known whose it was.
func (p *Pass) tell(u event.Usage) {
	p.mu.Lock()
	var only *Use
	for use := range p.uses {
		only = use
	}
	if len(p.uses) != 1 {
		only = nil
	}
	p.mu.Unlock()
	if only != nil && only.used != nil {
		only.used(u)
	}
}
