package actors

import (
	"slices"
	"strings"
	"sync"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/process"
	"github.com/agenthost/agenthost/actors/redact"
)

// Tape is told what one process of a CLI is told and says. Known secrets have been
// taken out, else the bytes are as they were. Its methods are called one at a time,
// from a goroutine of the engine: they may not block for long. Ended is the last call.
type Tape interface {
	// Passed gets what went through one of the pipes; p is valid during the call.
	Passed(through Pipe, p []byte)
	// Ended tells how the process ended. Code is -1 also when it did not start, and when
	// it was let go of with nobody left to listen.
	Ended(exit agent.Exit)
}

// Pipe is one of the three pipes of a process.
type Pipe uint8

// Pipes. What is written to a persistent CLI, and what it answers, passes a line or
// more at a time, its stderr at its end.
const (
	Stdin Pipe = iota + 1
	Stdout
	Stderr
)

// String is the pipe's usual name.
func (p Pipe) String() string {
	switch p {
	case Stdin:
		return "stdin"
	case Stdout:
		return "stdout"
	case Stderr:
		return "stderr"
	}
	return "unknown"
}

// Taped says whose process a tape is of.
type Taped struct {
	Adapter string
	Driver  Driver // exec or persistent
	// Binary is the program as it is started, Args what follows it, Dir where it works.
	Binary, Dir string
	Args        []string
	// Env are the names of the variables in its environment, sorted, without those of
	// the engine's own.
	Env []string
}

// recorder puts the three pipes of a process on its tape, one piece at a time. A nil
// recorder records nothing.
type recorder struct {
	mu     sync.Mutex
	tape   Tape
	redact *redact.Set
	out    *redact.Stream // of stdout and stderr, which come in pieces
	err    *redact.Stream
	over   bool
}

// record asks for a tape.
func (h *Host) record(t *Taped, env []string, secrets *redact.Set) *recorder {
	if h.cfg.tapes == nil {
		return nil
	}
	t.Args = slices.Clone(t.Args)
	for i := range t.Args {
		t.Args[i] = secrets.String(t.Args[i])
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); name != process.MarkerVar {
			t.Env = append(t.Env, name)
		}
	}
	slices.Sort(t.Env)
	t.Env = slices.Compact(t.Env)
	tape := h.cfg.tapes(t)
	if tape == nil {
		return nil
	}
	return &recorder{tape: tape, redact: secrets, out: secrets.Stream(), err: secrets.Stream()}
}

// whole records what comes whole, secrets and all.
func (r *recorder) whole(through Pipe, p []byte) {
	if r == nil || len(p) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.tape.Passed(through, r.redact.Bytes(p))
	}
}

// piece records what comes in pieces.
func (r *recorder) piece(stderr bool, p []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	through, stream := Stdout, r.out
	if stderr {
		through, stream = Stderr, r.err
	}
	r.pass(through, stream.Write(string(p)))
}

func (r *recorder) pass(through Pipe, text string) {
	if text != "" && !r.over {
		r.tape.Passed(through, []byte(text))
	}
}

// ended ends the tape; the exit's stderr has been redacted.
func (r *recorder) ended(exit agent.Exit) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.pass(Stdout, r.out.Flush())
	r.pass(Stderr, r.err.Flush())
	r.over = true
	r.tape.Ended(exit)
}
