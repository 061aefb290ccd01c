package plain

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// Server runs turns, at most Slots at once, in the order they came.
type Server struct {
	CLI   CLI
	Slots int

	mu       sync.Mutex
	sessions map[string]*session
	last     int
	running  int
	waiting  []*session // each once per prompt in its queue
}

// Main is the program: it prints its address as "listening URL" and serves until
// its standard input ends.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	f := flag.NewFlagSet("plain", flag.ContinueOnError)
	f.SetOutput(errs)
	s := &Server{}
	f.StringVar(&s.CLI.Path, "cli", "", "program that runs a turn")
	f.StringVar(&s.CLI.Dialect, "dialect", "codex", "codex or claude")
	f.StringVar(&s.CLI.Dir, "dir", "", "directory it runs in")
	f.StringVar(&s.CLI.Log, "log", "", "file that a stand-in CLI notes its runs in")
	f.IntVar(&s.Slots, "slots", 4, "turns at once")
	if f.Parse(args) != nil {
		return 2
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	_, _ = fmt.Fprintf(out, "listening http://%s\n", ln.Addr())
	srv := &http.Server{Handler: s.Handler()}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		_ = srv.Close()
	}()
	if err := srv.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) {
		_, _ = fmt.Fprintln(errs, err)
		return 1
	}
	return 0
}

// Handler is its routes.
func (s *Server) Handler() http.Handler {
	s.sessions = map[string]*session{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sessions", s.create)
	mux.HandleFunc("POST /sessions/{id}/turns", s.with(s.turn))
	mux.HandleFunc("POST /sessions/{id}/cancel", s.with(s.cancel))
	mux.HandleFunc("GET /sessions/{id}/events", s.with(s.events))
	mux.HandleFunc("DELETE /sessions/{id}", s.with(s.remove))
	return mux
}

func (s *Server) with(h func(http.ResponseWriter, *http.Request, *session)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		ses := s.sessions[r.PathValue("id")]
		s.mu.Unlock()
		if ses == nil {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		h(w, r, ses)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) create(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.last++
	ses := &session{id: "s" + strconv.Itoa(s.last)}
	s.sessions[ses.id] = ses
	s.mu.Unlock()
	answer(w, http.StatusOK, map[string]string{"id": ses.id})
}

func (s *Server) remove(w http.ResponseWriter, _ *http.Request, ses *session) {
	s.mu.Lock()
	delete(s.sessions, ses.id)
	s.mu.Unlock()
	answer(w, http.StatusOK, map[string]bool{"deleted": true})
}

func (s *Server) turn(w http.ResponseWriter, r *http.Request, ses *session) {
	var in struct {
		Prompt string `json:"prompt"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || in.Prompt == "" {
		http.Error(w, "a prompt is needed", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.last++
	p := prompt{turn: "t" + strconv.Itoa(s.last), text: in.Prompt}
	ses.queue = append(ses.queue, p)
	s.waiting = append(s.waiting, ses)
	s.next()
	s.mu.Unlock()
	answer(w, http.StatusAccepted, map[string]string{"turn": p.turn})
}

// next starts what may start, the oldest first; a session that runs is passed over.
// The lock is held.
func (s *Server) next() {
	for i := 0; i < len(s.waiting) && s.running < s.Slots; {
		ses := s.waiting[i]
		if ses.active {
			i++
			continue
		}
		s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
		p := ses.queue[0]
		ses.queue = ses.queue[1:]
		ctx, cancel := context.WithCancel(context.Background())
		ses.active, ses.cancel = true, cancel
		s.running++
		go s.play(ctx, ses, p)
	}
}

func (s *Server) play(ctx context.Context, ses *session, p prompt) {
	ses.add(body{Type: "started", Turn: p.turn})
	status := s.CLI.run(ctx, ses, p)
	ses.add(body{Type: "ended", Turn: p.turn, Status: status})
	s.mu.Lock()
	defer s.mu.Unlock()
	ses.cancel()
	ses.active, ses.cancel = false, nil
	s.running--
	s.next()
}

func (s *Server) cancel(w http.ResponseWriter, _ *http.Request, ses *session) {
	s.mu.Lock()
	if ses.cancel != nil {
		ses.cancel()
	}
	s.mu.Unlock()
	answer(w, http.StatusAccepted, map[string]bool{"accepted": true})
}

func (s *Server) events(w http.ResponseWriter, r *http.Request, ses *session) {
	at, _ := strconv.Atoi(r.URL.Query().Get("after")) // what is no number is from the first
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	_, _ = io.WriteString(w, ": ok\n\n")
	_ = flush.Flush()
	for {
		list, more := ses.after(at)
		for _, e := range list {
			if _, err := w.Write(e.frame); err != nil {
				return
			}
		}
		at += len(list)
		if len(list) > 0 {
			if flush.Flush() != nil {
				return
			}
			continue
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}
