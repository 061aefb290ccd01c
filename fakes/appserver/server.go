package appserver

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Options say where a stand-in keeps what.
type Options struct {
	Home string // of the threads, CODEX_HOME
	Log  string // of the runs, "" for none
	// Tools is the command line of a tool server.
	Tools []string
	// Leave is the command line, without a duration, of a process that sleeps.
	Leave []string
}

// Serve answers requests, one JSON object a line, until in ends.
func Serve(o Options, in io.Reader, out io.Writer) error {
	s := &server{Options: o, out: out, turns: map[string]*turn{}}
	defer s.end()
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			s.take(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

type object = map[string]any

type server struct {
	Options
	write sync.Mutex
	out   io.Writer

	mu    sync.Mutex
	turns map[string]*turn // running, by thread
	work  sync.WaitGroup
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Thread string `json:"threadId"`
		Turn   string `json:"turnId"`
		Dir    string `json:"cwd"`
		Input  []struct {
			Text string `json:"text"`
		} `json:"input"`
	} `json:"params"`
}

func (s *server) send(v object) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings and numbers only
	}
	s.write.Lock()
	defer s.write.Unlock()
	_, _ = s.out.Write(append(b, '\n')) // who does not read ends us by SIGPIPE
}

func (s *server) take(line []byte) {
	var r request
	if json.Unmarshal(line, &r) != nil || len(r.ID) == 0 || r.Method == "" {
		return // a notification, or nothing that is known
	}
	result, err := s.answer(&r)
	if err != nil {
		s.send(object{"id": r.ID, "error": object{"code": -32600, "message": err.Error()}})
		return
	}
	s.send(object{"id": r.ID, "result": result})
	if r.Method == "turn/start" {
		s.start(r.Params.Thread)
	}
}

func (s *server) answer(r *request) (object, error) {
	p := &r.Params
	switch r.Method {
	case "initialize":
		return object{"userAgent": "standin"}, nil
	case "thread/loaded/list":
		return object{"data": []string{}}, nil
	case "thread/start":
		id := newID()
		if err := s.keep(id); err != nil {
			return nil, err
		}
		return s.load(id, p.Dir), nil
	case "thread/resume":
		if _, err := os.Stat(s.file(p.Thread)); err != nil {
			return nil, fmt.Errorf("no rollout found for thread id %s", p.Thread)
		}
		return s.load(p.Thread, p.Dir), nil
	case "turn/start":
		return s.prepare(p.Thread, r)
	case "turn/interrupt":
		if t := s.turn(p.Thread); t != nil && t.id == p.Turn {
			t.interrupt()
			return object{}, nil
		}
		return nil, fmt.Errorf("no active turn to interrupt")
	case "thread/backgroundTerminals/clean":
		return object{}, nil
	case "thread/unsubscribe":
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.turns, p.Thread)
		return object{"status": "unsubscribed"}, nil
	}
	return nil, fmt.Errorf("unknown method %s", r.Method)
}

func (s *server) file(thread string) string {
	return filepath.Join(s.Home, "standin-threads", filepath.Base(thread))
}

func (s *server) keep(thread string) error {
	if err := os.MkdirAll(filepath.Dir(s.file(thread)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.file(thread), nil, 0o600)
}

// load makes the place of the thread's next turn.
func (s *server) load(thread, dir string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns[thread] = &turn{server: s, thread: thread, dir: dir}
	return object{"thread": object{"id": thread}}
}

func (s *server) turn(thread string) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns[thread]
}

func (s *server) prepare(thread string, r *request) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.turns[thread]
	if t == nil {
		return nil, fmt.Errorf("thread %s is not loaded", thread)
	}
	if t.id != "" {
		return nil, fmt.Errorf("thread %s has a turn", thread)
	}
	t.id, t.stop = newID(), make(chan struct{})
	for _, part := range r.Params.Input {
		t.prompt += part.Text
	}
	return object{"turn": object{"id": t.id, "status": "inProgress"}}, nil
}

// start plays a prepared turn in a goroutine that ends with it.
func (s *server) start(thread string) {
	if t := s.turn(thread); t != nil {
		s.work.Go(t.run)
	}
}

// end interrupts what still runs: the host has closed our input.
func (s *server) end() {
	s.mu.Lock()
	for _, t := range s.turns {
		t.interrupt()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// newID looks like an id of Codex's.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = 0x70|b[6]&15, 0x80|b[8]&0x3f
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
