package streamjson

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Options say where a stand-in keeps what.
type Options struct {
	Home string // of the sessions, CLAUDE_CONFIG_DIR
	Log  string // of the runs, "" for none
	// Resume is the session to go on with, "" for a new one.
	Resume string
	// Tools is the command line of a tool server.
	Tools []string
	// Leave is the command line, without a duration, of a process that sleeps.
	Leave []string
}

// Speaks says whether a command line of claude's asks for this dialect, and which
// session it names.
func Speaks(args []string) (resume string, ok bool) {
	for i := range args {
		if i+1 == len(args) {
			break
		}
		switch args[i] {
		case "--input-format":
			ok = ok || args[i+1] == "stream-json"
		case "--resume":
			resume = args[i+1]
		}
	}
	return resume, ok
}

// ErrUnknownSession ends a stand-in that was to resume a session which is not kept.
var ErrUnknownSession = errors.New("there is no such conversation")

// Serve takes messages and requests, one JSON object a line, until in ends.
func Serve(o Options, in io.Reader, out io.Writer) error {
	s := &server{Options: o, out: out, session: o.Resume}
	if err := s.open(); err != nil {
		return err
	}
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
	session string
	write   sync.Mutex
	out     io.Writer

	mu      sync.Mutex
	running *turn // nil between turns
	waiting []*turn
	work    sync.WaitGroup
}

// open keeps a new session, or finds the one to resume.
func (s *server) open() error {
	dir := filepath.Join(s.Home, "standin-streams")
	if s.session != "" {
		if _, err := os.Stat(filepath.Join(dir, filepath.Base(s.session))); err != nil {
			s.say(object{"type": "result", "subtype": "error_during_execution", "is_error": true, "num_turns": 0, "session_id": newID(), "errors": []string{"No conversation found with session ID: " + s.session}})
			return ErrUnknownSession
		}
		return nil
	}
	s.session = newID()
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, s.session), nil, 0o600))
}

// say prints a line as it is.
func (s *server) say(v object) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings and numbers only
	}
	s.write.Lock()
	defer s.write.Unlock()
	_, _ = s.out.Write(append(b, '\n')) // who does not read ends us by SIGPIPE
}

// tell prints a line of the session.
func (s *server) tell(v object) {
	v["session_id"], v["uuid"] = s.session, newID()
	s.say(v)
}

func (s *server) system(subtype string, v object) {
	v["type"], v["subtype"] = "system", subtype
	s.tell(v)
}

func (s *server) state(is string) { s.system("session_state_changed", object{"state": is}) }

// became tells what happened to a message.
func (s *server) became(message, state string) {
	s.tell(object{"type": "command_lifecycle", "command_uuid": message, "state": state})
}

// line is what is read.
type line struct {
	Type      string `json:"type"`
	UUID      string `json:"uuid"`
	RequestID string `json:"request_id"`
	Request   struct {
		Subtype string `json:"subtype"`
	} `json:"request"`
	Message struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"message"`
}

func (s *server) take(raw []byte) {
	var l line
	if json.Unmarshal(raw, &l) != nil {
		return
	}
	switch l.Type {
	case "user":
		t := &turn{server: s, message: l.UUID, stop: make(chan struct{})}
		for _, part := range l.Message.Content {
			t.prompt += part.Text
		}
		s.queue(t)
	case "control_request":
		s.asked(&l)
	}
}

func (s *server) asked(l *line) {
	answer := object{"subtype": "success", "request_id": l.RequestID, "response": object{}}
	switch l.Request.Subtype {
	case "initialize", "mcp_status", "mcp_set_servers", "stop_task":
	case "interrupt":
		answer["response"] = object{"cancelled": s.interrupt(), "still_queued": []string{}}
	default:
		answer["subtype"], answer["error"] = "error", "unknown request "+l.Request.Subtype
	}
	s.say(object{"type": "control_response", "response": answer})
}

// queue begins a turn in a goroutine, or has it wait for those before it.
func (s *server) queue(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		s.waiting = append(s.waiting, t)
		s.became(t.message, "queued")
		return
	}
	s.running = t
	s.state("running")
	s.became(t.message, "queued")
	s.work.Go(func() { s.serve(t) })
}

// serve plays a turn and those that came meanwhile; it ends when none is left.
func (s *server) serve(t *turn) {
	for t != nil {
		t.run()
		t = s.next()
	}
}

// next is the next turn, nil when all is done.
func (s *server) next() *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.running = nil
		s.state("idle")
		return nil
	}
	s.running, s.waiting = s.waiting[0], s.waiting[1:]
	return s.running
}

// interrupt ends the turn that runs and gives those that wait up.
func (s *server) interrupt() (cancelled []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancelled = []string{}
	for _, t := range s.waiting {
		cancelled = append(cancelled, t.message)
		s.became(t.message, "cancelled")
	}
	s.waiting = nil
	if s.running != nil {
		s.running.interrupt()
	}
	return cancelled
}

// end interrupts what still runs: the host has closed our input.
func (s *server) end() {
	s.interrupt()
	s.work.Wait()
}

// newID is a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = 0x40|b[6]&15, 0x80|b[8]&0x3f
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
