package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/fakes/mind"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// maxBody bounds a request.
const maxBody = 64 << 20

// Server is a scripted model provider. Start and Close are called once each.
type Server struct {
	script Script
	http   *http.Server
	done   chan struct{} // closed when the accept loop has ended
	stop   context.CancelFunc

	mu       sync.Mutex
	moves    []mind.Move
	log      []Request
	failures map[string]int // attempts that a counted fault has failed
	last     int            // number of the newest response
}

// New makes a provider that is not started.
func New(script Script) *Server {
	s := &Server{script: script, failures: map[string]int{}, done: make(chan struct{})}
	s.moves = append(s.moves, script.Moves...)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", s.serve(responses{}))
	mux.HandleFunc("POST /v1/messages", s.serve(messages{}))
	mux.HandleFunc("POST /v1/chat/completions", s.serve(chat{}))
	mux.HandleFunc("POST /v1beta/models/{call}", s.gemini)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("/", s.unknown)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return s
}

// Start listens on a free loopback port and serves until Close. url has no path.
func (s *Server) Start() (url string, err error) { return s.Listen("127.0.0.1:0") }

// Listen is Start on a given address.
func (s *Server) Listen(address string) (url string, err error) {
	ctx, stop := context.WithCancel(context.Background())
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		stop()
		return "", fmt.Errorf("listen for model requests: %w", err)
	}
	s.stop = stop
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	go func() {
		defer close(s.done)
		// Serve always ends with an error; after Close it is ErrServerClosed.
		_ = s.http.Serve(l)
	}()
	return "http://" + l.Addr().String(), nil
}

// Close ends open answers and waits for the server to be gone.
func (s *Server) Close() error {
	if s.stop == nil {
		return nil
	}
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-s.done
	return err
}

// Queue adds moves to be played before the mind answers again.
func (s *Server) Queue(moves ...mind.Move) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves = append(s.moves, moves...)
}

// wire is one of the model wires.
type wire interface {
	// read parses a request body.
	read(body []byte) (*question, error)
	// fault answers with an error status.
	fault(f failure) (body any)
	// stream writes the events of an answer; whole gives it as one object.
	stream(w *events, a *answer)
	whole(a *answer) any
}

// question is what any wire's request says.
type question struct {
	Model  string
	Stream bool
	Talk   []mind.Message
	Tools  []tool
	// Dir is the caller's working directory, if the request names it.
	Dir string
	// searched has the names that the newest prompt has led to a search for.
	searched map[string]bool
	// cell is a script that goes on in the background, "" without one.
	cell string
	// Schema is what the answer is to fit, nil for a free one.
	Schema jsoniter.RawMessage
	// Usage says that a chat request wants usage in its stream.
	Usage bool
}

// answer is one response to be written.
type answer struct {
	*question
	Number int // of the response; ids are made of it
	Move   mind.Move
	Calls  []*toolCall
	Slow   time.Duration
}

func (a *answer) id(prefix string) string { return prefix + "_scripted_" + strconv.Itoa(a.Number) }

func (s *Server) serve(wire wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			reply(w, http.StatusRequestEntityTooLarge, wire.fault(failures["400"]))
			return
		}
		s.record(r, body)
		a, fail := s.think(wire, r, body)
		w.Header().Set("X-Request-Id", a.id("req"))
		w.Header().Set("Request-Id", a.id("req"))
		if !pause(r.Context(), a.Move.Wait) {
			return
		}
		if fail != nil && fail.status != 0 {
			if fail.retryAfter != "" {
				w.Header().Set("Retry-After", fail.retryAfter)
			}
			reply(w, fail.status, wire.fault(*fail))
			return
		}
		if !a.Stream && (fail == nil || fail.whole) {
			reply(w, http.StatusOK, wire.whole(a))
			return
		}
		e := &events{w: w, ctx: r.Context(), slow: a.Slow}
		wire.stream(e, a)
		e.end()
	}
}

// think decides the answer to a request. The answer is never nil.
func (s *Server) think(wire wire, r *http.Request, body []byte) (*answer, *failure) {
	q, err := wire.read(body)
	if err != nil {
		q = &question{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	a := &answer{question: q, Number: s.last}
	_, given := key(r.Header)
	if s.script.Key != "" && given != s.script.Key {
		f := failures["401"]
		return a, &f
	}
	if err != nil {
		f := failures["400"]
		f.message = "The request could not be read: " + err.Error()
		return a, &f
	}
	if q.cell != "" {
		a.Calls = []*toolCall{q.wait(a.Number)}
		return a, nil
	}
	if len(s.moves) > 0 {
		a.Move, s.moves = s.moves[0], s.moves[1:]
	} else {
		a.Move = mind.Next(q.Talk, q.offers)
	}
	a.Slow = max(a.Move.Slow, s.script.Slow)
	if f := a.Move.Fault; f != nil && f.Times > 0 {
		attempt := newest(q.Talk) + "\x00" + f.Kind
		if s.failures[attempt]++; s.failures[attempt] > f.Times {
			a.Move.Fault = nil
			if a.Move.Say == "" {
				a.Move.Say = "It worked after " + strconv.Itoa(f.Times) + " failures."
			}
		}
	}
	a.Calls = translate(a.Move.Calls, q, a.Number)
	if a.Move.Fit && q.Schema != nil {
		a.Move.Say = sample(q.Schema)
	}
	if a.Move.Fault == nil {
		return a, nil
	}
	f, known := failures[a.Move.Fault.Kind]
	if !known {
		f = failures["400"]
		f.message = "The prompt asks for an unknown error: " + a.Move.Fault.Kind
	}
	return a, &f
}

func newest(talk []mind.Message) string {
	for i := len(talk) - 1; i >= 0; i-- {
		if talk[i].From == mind.User {
			return talk[i].Text
		}
	}
	return ""
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	s.record(r, nil)
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int    `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	names := s.script.Models
	if len(names) == 0 {
		names = []string{"scripted"}
	}
	list := make([]model, 0, len(names))
	for _, n := range names {
		list = append(list, model{ID: n, Object: "model", OwnedBy: "scripted"})
	}
	reply(w, http.StatusOK, map[string]any{"object": "list", "data": list, "models": []any{}})
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	s.record(r, nil)
	reply(w, http.StatusOK, map[string]int{"input_tokens": InputTokens})
}

func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	s.record(r, nil)
	reply(w, http.StatusNotFound, openAIError(failure{kind: "invalid_request_error", code: "not_found", message: "The scripted provider has no " + r.Method + " " + r.URL.Path + "."}))
}

func reply(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that left is no failure of ours
}

// pause waits and says whether the client is still there.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
