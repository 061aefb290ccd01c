package agent

import (
	"github.com/agenthost/agenthost/actors/event"
)

// Persistent is implemented by an adapter whose CLI can serve many turns from one
// long-lived process, a runner.
type Persistent interface {
	Adapter
	// Certified are the versions of the CLI with which this driver passed every test
	// that the exec driver passes: those that "auto" takes it for.
	Certified() []string
	// PersistentCapabilities is what Capabilities is, with this driver.
	PersistentCapabilities() Capabilities
	// ValidatePersistent is what Validate is, with this driver.
	ValidatePersistent(*Request) error
	// Runner says what process can serve the request. Requests for which it says the
	// same may share one; the engine adds the principal, the permissions and the
	// environment to what has to be the same. It may not do I/O. Request.Dir is then
	// the runner's own directory; the turn's must not appear.
	Runner(*Request) (*Runner, error)
	// NewProtocol speaks with one runner.
	NewProtocol() Protocol
}

// Runner is a process that serves turns. Secrets appear in Env only.
type Runner struct {
	// Args follow the program's name. Resume follow them when the process is started
	// for a conversation that exists; they are not compared.
	Args, Resume []string
	// Env is added to the engine's allowlisted environment.
	Env []string
	// Files are written to Request.Dir before the start and live as long as it does.
	Files []File
	// Secrets are values to redact beyond Request.LLM.APIKey.
	Secrets []string
	// Dir is its working directory.
	Dir string
	// Bound says that it serves one session only, and there the conversation that it
	// was started for or began.
	Bound bool
	// Threads is how many turns it can serve at once.
	Threads int
	// Once says that it serves one turn only.
	Once bool
	// Apart is what else has to be the same for turns that share it; it is compared and
	// not used.
	Apart string
}

// Only is implemented by an adapter that has no other driver: its Validate and
// Invocation refuse every turn.
type Only interface {
	Persistent
	OnlyPersistent()
}

// Protocol is what is said to one runner and what it says: a state machine that
// does no I/O and never panics on any input. It is used by one goroutine at a time.
// What follows from each call is put into the Talk; lines that belong to no turn
// and ask nothing are dropped.
type Protocol interface {
	// Hello begins the conversation with a runner that was just started.
	Hello(*Talk)
	// Ask begins a turn. It is called after Talk.Ready, and not while Threads turns
	// are open.
	Ask(turn event.ID, r *Request, out *Talk)
	// Feed reads one line, without its end; it is only valid during the call.
	Feed(line []byte, out *Talk)
	// Interrupt asks the CLI to end a turn, which Talk.Over says has happened. It may
	// be repeated. The turn of another id is none.
	Interrupt(turn event.ID, out *Talk)
	// Permit answers a question of a turn.
	Permit(turn event.ID, question string, approved bool, reason string, out *Talk)
	// Ping asks for a sign of life, Talk.Pong.
	Ping(*Talk)
}

// Steerer is implemented by a Protocol whose CLI takes further messages into a turn
// that runs.
type Steerer interface {
	// Steer adds a message to a running turn. What became of it is told by Said.Steered,
	// later or in this call; a turn that is over without a word took none of it.
	Steer(turn event.ID, s *Steering, out *Talk)
}

// Steering is a message for a running turn.
type Steering struct {
	// Input is the accepted input's id, by which it is told what became of it.
	Input event.ID
	// Request is as the turn's, with the message as its prompt.
	Request *Request
}

// Steered says what became of a Steering.
type Steered struct {
	Input event.ID
	// Taken says that the CLI has the message and will show it to the model in this
	// turn. Otherwise Why says why not.
	Taken bool
	Why   string
}

// Talk is what follows from some calls of a Protocol.
type Talk struct {
	// Write is what is to be written to the runner: whole lines.
	Write []byte
	// Said is what was said in the turns, a place each.
	Said []*Said
	// Ready says that turns can be asked for, Pong that a Ping was answered.
	Ready, Pong bool
	// Broken says what the runner did that the protocol does not allow; it is of no
	// further use.
	Broken string

	// NewBatch makes the batches; nil for plain ones.
	NewBatch func() *Batch
}

// Said is what was said in one turn.
type Said struct {
	Turn  event.ID
	Batch *Batch
	// Bytes is how long the lines were.
	Bytes int64
	// Questions are asked for permission.
	Questions []Question
	// Tools says that the turn runs tools. Their processes have the variable Mark,
	// "NAME=value", in their environment; "" when nothing tells them from others.
	Tools bool
	Mark  string
	// Steered are the messages for the running turn of which the CLI has told.
	Steered []Steered
	// Over says that the CLI is done with the turn; nothing more is said in it.
	Over bool
}

// Question is a CLI's question for permission.
type Question struct {
	ID     string
	Prompt Prompt
}

// Turn is the place of a turn.
func (t *Talk) Turn(id event.ID) *Said {
	for _, s := range t.Said {
		if s.Turn == id {
			return s
		}
	}
	s := &Said{Turn: id}
	if t.NewBatch != nil {
		s.Batch = t.NewBatch()
	} else {
		s.Batch = new(Batch)
	}
	t.Said = append(t.Said, s)
	return s
}

// Break says that the protocol was broken; the first reason stays.
func (t *Talk) Break(why string) {
	if t.Broken == "" {
		t.Broken = why
	}
}

// Line adds a line to what is to be written.
func (t *Talk) Line(line []byte) {
	t.Write = append(append(t.Write, line...), '\n')
}
