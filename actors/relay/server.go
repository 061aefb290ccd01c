package relay

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// Server holds the passes of a host. The zero value is not usable; see New.
type Server struct {
	transport *http.Transport

	mu     sync.Mutex
	passes map[[sha256.Size]byte]*Pass
	named  map[string]*Pass
	addr   string
	http   *http.Server
	done   chan struct{}
	closed bool
}

// What a request and an answer may be.
const (
	maxHeader = 64 << 10
	maxBody   = 64 << 20
	// patience is how long a provider may think before it says anything at all; turns
	// have their own limits.
	patience = 15 * time.Minute
)

// New is a relay that does not listen yet. It reaches providers as this process would,
// by its proxies if it has any.
func New() *Server {
	dial := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &Server{
		passes: map[[sha256.Size]byte]*Pass{}, named: map[string]*Pass{},
		transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dial.DialContext, ForceAttemptHTTP2: true,
			DisableCompression: true, MaxResponseHeaderBytes: maxHeader, ResponseHeaderTimeout: patience,
			TLSHandshakeTimeout: 15 * time.Second, IdleConnTimeout: 90 * time.Second, MaxIdleConnsPerHost: 16,
		},
	}
}

// address begins to listen on a free port of 127.0.0.1, if that was not done.
func (s *Server) address() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return "", http.ErrServerClosed
	case s.addr != "":
		return s.addr, nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on loopback for the CLIs' requests to their provider: %w", err)
	}
	s.addr = l.Addr().String()
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), DisableGeneralOptionsHandler: true, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // it quotes what it was sent
	}
	s.done = make(chan struct{})
	server, done := s.http, s.done
	go func() { // ends with Close
		defer crash.Guard()
		defer close(done)
		_ = server.Serve(l)
	}()
	return s.addr, nil
}

// Close ends what is on its way and the listener, and waits for them until ctx is done.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	server, done := s.http, s.done
	passes := make([]*Pass, 0, len(s.passes))
	for _, p := range s.passes {
		passes = append(passes, p)
	}
	clear(s.passes)
	clear(s.named)
	s.mu.Unlock()
	for _, p := range passes {
		p.cancel()
	}
	defer s.transport.CloseIdleConnections()
	if server == nil {
		return nil
	}
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	<-done
	return err
}
