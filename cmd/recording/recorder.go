package recording

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	jsoniter "github.com/json-iterator/go"

	"github.com/agenthost/agenthost/actors"
	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/redact"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// Names of the files.
const (
	aboutFile  = "recording.json"
	eventsFile = "events.jsonl"
)

// About says what a recording is of.
type About struct {
	Format    int       `json:"format"`
	Host      string    `json:"host"` // version of agenthost
	Adapter   string    `json:"adapter"`
	Version   string    `json:"version"` // of the CLI, as it told
	Began     time.Time `json:"began"`
	Processes []Process `json:"processes"`
}

// Process is one run of the CLI.
type Process struct {
	Stream string   `json:"stream"` // file
	Driver string   `json:"driver"`
	Binary string   `json:"binary"`
	Args   []string `json:"args"`
	Env    []string `json:"env"` // names
	Dir    string   `json:"dir"`
	Exit   Exit     `json:"exit"`
}

// Exit is how a process ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// Recorder writes a recording. Its methods may be called from anywhere.
type Recorder struct {
	dir    string
	redact *redact.Set

	mu     sync.Mutex
	about  About
	reels  []*reel
	events *os.File
	failed error
}

// New makes the directory of a recording; one that holds a recording is refused.
// secrets are taken out of the events: what a caller says is stored as it is said.
func New(dir string, secrets ...string) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("record into %s: %w", dir, err)
	}
	events, err := os.OpenFile(filepath.Join(dir, eventsFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s holds a recording; name another directory, or remove it", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("record into %s: %w", dir, err)
	}
	return &Recorder{dir: dir, redact: redact.New(secrets...), events: events, about: About{Format: 1, Began: time.Now().UTC(), Processes: []Process{}}}, nil
}

// Start begins the stream of a process; it is for actors.WithTapes.
func (r *Recorder) Start(t *actors.Taped) actors.Tape {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := fmt.Sprintf("%d.stream", len(r.reels)+1)
	f, err := os.OpenFile(filepath.Join(r.dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		r.failed = errors.Join(r.failed, fmt.Errorf("record a stream: %w", err))
		return nil
	}
	r.about.Adapter = t.Adapter
	r.about.Processes = append(r.about.Processes, Process{Stream: name, Driver: string(t.Driver), Binary: t.Binary, Args: t.Args, Env: t.Env, Dir: t.Dir})
	one := newReel(f, string(t.Driver))
	r.reels = append(r.reels, one)
	return one
}

// Event keeps the JSON of an event.
func (r *Recorder) Event(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line = r.redact.Bytes(line)
	if _, err := r.events.Write(append(line[:len(line):len(line)], '\n')); err != nil && r.failed == nil {
		r.failed = fmt.Errorf("record an event: %w", err)
	}
}

// Close ends the recording, after the host has stopped. host and cli are the versions
// of agenthost and of the CLI, as far as they are known.
func (r *Recorder) Close(host, cli string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := errors.Join(r.failed, r.events.Close())
	for i, one := range r.reels {
		exit, failed := one.close()
		r.about.Processes[i].Exit = Exit{exit.Code, exit.Signal}
		err = errors.Join(err, failed)
	}
	r.about.Host, r.about.Version = host, cli
	text, jsonErr := json.MarshalIndent(&r.about, "", "  ")
	if err = errors.Join(err, jsonErr); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, aboutFile), append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

// reel is one stream that is being written. Its goroutine, write, ends with close.
type reel struct {
	file  *os.File
	began time.Time
	wake  chan struct{}
	done  chan struct{}

	mu      sync.Mutex
	pending []byte
	over    bool // nothing follows
	exit    agent.Exit
	failed  error
}

func newReel(f *os.File, driver string) *reel {
	r := &reel{file: f, began: time.Now(), wake: make(chan struct{}, 1), done: make(chan struct{}), exit: agent.Exit{Code: -1}}
	r.pending = fmt.Appendf(nil, "agenthost-recording 1 %s\n", driver)
	go r.write()
	return r
}

// add appends to what is to be written; the last piece ends it.
func (r *reel) add(last bool, format string, args ...any) {
	r.mu.Lock()
	if !r.over {
		r.pending = fmt.Appendf(r.pending, "%.3f ", float64(time.Since(r.began).Microseconds())/1000)
		r.pending = fmt.Appendf(r.pending, format, args...)
		r.over = last
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Passed keeps a piece.
func (r *reel) Passed(through actors.Pipe, p []byte) {
	r.add(false, "%s %d\n%s\n", through, len(p), p)
}

// Ended keeps the exit.
func (r *reel) Ended(exit agent.Exit) {
	r.mu.Lock()
	r.exit = exit
	r.mu.Unlock()
	signal := exit.Signal
	if signal == "" {
		signal = "-"
	}
	r.add(true, "exit %d %s\n", exit.Code, signal)
}

func (r *reel) write() {
	defer close(r.done)
	for {
		<-r.wake
		r.mu.Lock()
		text, over := r.pending, r.over
		r.pending = nil
		r.mu.Unlock()
		if _, err := r.file.Write(text); err != nil && r.failed == nil {
			r.failed = fmt.Errorf("write a stream: %w", err)
		}
		if over {
			r.failed = errors.Join(r.failed, r.file.Close())
			return
		}
	}
}

// close waits until all is written; a process whose end nobody told has none.
func (r *reel) close() (agent.Exit, error) {
	r.mu.Lock()
	over := r.over
	r.mu.Unlock()
	if !over {
		r.Ended(agent.Exit{Code: -1})
	}
	<-r.done
	return r.exit, r.failed
}
