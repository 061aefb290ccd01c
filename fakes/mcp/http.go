package mcp

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is the stand-in over streamable HTTP, each request answered by itself. It has
// a further tool, header, that answers the value of a header of its own request.
type Server struct {
	// Want are headers that every request must have, exactly; others are answered 401.
	Want map[string]string

	server *http.Server

	mu   sync.Mutex
	seen []Seen
}

// Seen is a request that came.
type Seen struct {
	Method  string // of the protocol: initialize, tools/call; "" if it was refused
	Tool    string // of a tools/call
	Header  http.Header
	Refused bool
}

const maxRequest = 1 << 20

// Start listens on loopback and returns the server's address.
func (s *Server) Start() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(l) }() // ends by Close
	return "http://" + l.Addr().String() + "/mcp", nil
}

// Close ends the server and what it is answering.
func (s *Server) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.server.Shutdown(ctx)
	return s.server.Close()
}

// Requests are those that came so far.
func (s *Server) Requests() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

func (s *Server) note(seen Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seen)
}

// ServeHTTP answers one message of a client.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, want := range s.Want {
		if r.Header.Get(name) != want {
			s.note(Seen{Header: r.Header.Clone(), Refused: true})
			http.Error(w, "a header is missing", http.StatusUnauthorized)
			return
		}
	}
	if r.Method != http.MethodPost { // no stream of the server's own, no sessions
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return
	}
	var in request
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	s.note(Seen{Method: in.Method, Tool: in.Params.Name, Header: r.Header.Clone()})
	if len(in.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	reply := answer(in)
	switch {
	case in.Method == "tools/call" && in.Params.Name == "header":
		reply["result"] = text(r.Header.Get(in.Params.Arguments.Name), false)
	case in.Method == "tools/list":
		list := append(tools(), tool("header", "Answers a header of this request.", "name", "string"))
		reply["result"] = object{"tools": list}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply)
}
