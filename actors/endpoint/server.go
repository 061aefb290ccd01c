package endpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/agenthost/agenthost/actors/crash"
)

// Server holds the doors of a host. The zero value is not usable; see New.
type Server struct {
	mu     sync.Mutex
	doors  map[string]*Door
	base   string
	http   *http.Server
	done   chan struct{}
	closed bool

	commentEvery time.Duration
}

// New is a server that does not listen yet.
func New() *Server { return &Server{doors: map[string]*Door{}, commentEvery: commentEvery} }

// address begins to listen on a free port of 127.0.0.1, if that was not done.
func (s *Server) address() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return "", http.ErrServerClosed
	case s.base != "":
		return s.base, nil
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listen on loopback for the CLIs' tool calls: %w", err)
	}
	s.base = "http://" + l.Addr().String()
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // it quotes what it was sent
	}
	s.done = make(chan struct{})
	server, done := s.http, s.done
	go func() { // ends with Close
		defer crash.Guard()
		defer close(done)
		_ = server.Serve(l)
	}()
	return s.base, nil
}

// maxBody bounds a request: the arguments of a call.
const maxBody = 16 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	d := s.doors[r.URL.Path]
	s.mu.Unlock()
	if d == nil || !d.allowed(r) {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	p := &patience{ResponseWriter: w, every: s.commentEvery}
	defer p.close()
	ctx := r.Context()
	d.mcp.ServeHTTP(p, r.WithContext(context.WithValue(ctx, requestKey{}, request{ctx, p})))
}

// Close ends the doors, the listener and the requests, and waits for them until ctx
// is done.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	server, done := s.http, s.done
	doors := make([]*Door, 0, len(s.doors))
	for _, d := range s.doors {
		doors = append(doors, d)
	}
	s.mu.Unlock()
	for _, d := range doors {
		d.Close()
	}
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
