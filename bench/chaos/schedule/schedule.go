package schedule

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Cycle is a burst of work with its faults. After it everything comes to rest and is
// judged.
type Cycle struct {
	Number   int
	Sessions []Session
	Faults   []Fault `json:",omitempty"`
}

// Wires by which a session is asked.
const (
	Agents    = "agents"
	Responses = "responses"
)

// Adapters: one has a process a turn, the others one that serves many, each in its own
// dialect: of the sessions of one principal, or of one session.
const (
	Exec   = "worker"
	Shared = "codex"
	Bound  = "claude-code"
)

// Session is a conversation: its inputs one after the other, its readers beside them.
type Session struct {
	Name    string
	Wire    string
	Adapter string
	Inputs  []Input
	Readers []Reader `json:",omitempty"`
	// Delete removes the session so long after its last input was accepted; 0 never.
	Delete time.Duration `json:",omitempty"`
}

// Input is one request for a turn.
type Input struct {
	Tag  string
	Kind Kind
	// After is the pause since the one before was accepted.
	After time.Duration
	// Cancel is when it is cancelled after its acceptance; 0 never.
	Cancel time.Duration `json:",omitempty"`
	// Stream asks for the answer as a stream, Wait for the answer when it is there, on
	// the Responses wire.
	Stream bool `json:",omitempty"`
	Wait   bool `json:",omitempty"`
}

// Reader follows a session's stream on the Agents wire.
type Reader struct {
	Kind ReaderKind
	// Frames is after how many a vanishing one leaves, to come back later.
	Frames int `json:",omitempty"`
}

// ReaderKind is how a reader reads.
type ReaderKind string

// Kinds of readers.
const (
	Steady    ReaderKind = "steady"
	Slow      ReaderKind = "slow"
	Vanishing ReaderKind = "vanishing"
)

// Kind is what an input makes its CLI do.
type Kind string

// Kinds of inputs. Those that end by themselves have an answer.
const (
	Say     Kind = "say"
	Count   Kind = "count"
	Flood   Kind = "flood" // many deltas
	Shell   Kind = "shell"
	Think   Kind = "think"
	Tool    Kind = "tool"    // a tool server that takes its time
	Escape  Kind = "escape"  // leaves a process in a session of its own
	Cloak   Kind = "cloak"   // leaves one without our marker
	Hold    Kind = "hold"    // leaves one that holds stdout
	Orphans Kind = "orphans" // leaves short-lived reparented ones
	Hang    Kind = "hang"    // never ends: it is cancelled
	Deaf    Kind = "deaf"    // never ends and ignores signals
	Crash   Kind = "crash"   // dies in the middle
	Broken  Kind = "broken"  // ends without a verdict
)

// Unending kinds end by a cancel only.
func (k Kind) Unending() bool { return k == Hang || k == Deaf }

// Fails says that the turn fails without any fault of ours.
func (k Kind) Fails() bool { return k == Crash || k == Broken }

// Leaves says that a process is left behind on purpose.
func (k Kind) Leaves() bool { return k == Escape || k == Cloak || k == Hold }

// Nap is the word in the command line of processes that are left without our marker;
// it is replaced by one that only this run has.
const Nap = "NAP"

// Prompt is what the CLI is told; nap is a duration that only this run uses.
func (i *Input) Prompt(nap string) string {
	return "tag:" + i.Tag + " " + strings.ReplaceAll(i.script(), Nap, nap)
}

func (i *Input) script() string {
	say := "[[say: " + i.Answer() + "]]"
	switch i.Kind {
	case Count:
		return "[[slow: 4]] [[count: 60]]"
	case Flood:
		return "[[events: 1500 60 1500]]"
	case Shell:
		return "[[shell: echo out-of-" + i.Tag + "; sleep 0.3]] " + say
	case Think:
		return "[[think: thinking of " + i.Tag + "]] [[wait: 200]] " + say
	case Tool:
		return `[[mcp: chaos wait {"ms":400}]] ` + say
	case Escape:
		return "[[mode: escape]] " + say
	case Cloak:
		return "[[shell: env -i setsid sleep " + Nap + " >/dev/null 2>&1 & sleep 0.1]] " + say
	case Hold:
		return "[[mode: hold-stdout]] " + say
	case Orphans:
		return "[[mode: orphans]] " + say
	case Hang:
		return "[[wait: 600000]] " + say
	case Deaf:
		return "[[mode: ignore-signals]] [[wait: 600000]] " + say
	case Crash:
		return "[[mode: crash]] " + say
	case Broken:
		return "[[mode: crash-exit=7]] " + say
	default:
		return say
	}
}

// Answer is the text that a completed turn has said, "" when it is not known.
func (i *Input) Answer() string {
	switch i.Kind {
	case Count:
		var b strings.Builder
		for n := range 60 {
			fmt.Fprintf(&b, "%d ", n+1)
		}
		return strings.TrimSpace(b.String())
	case Flood:
		return ""
	}
	return "done-" + i.Tag
}

// kinds are what the CLIs can do, with the likely ones more often.
var kinds = map[string][]Kind{
	Exec:   {Say, Say, Count, Flood, Shell, Think, Escape, Hold, Orphans, Hang, Deaf, Crash, Broken, Say},
	Shared: {Say, Say, Count, Shell, Think, Tool, Tool, Escape, Hang, Count},
	Bound:  {Say, Count, Shell, Think, Tool, Escape, Hang, Count},
}

// Plan is a run's schedule.
type Plan struct{ Seed uint64 }

// rng is a stream of numbers for one purpose, so that cycles do not depend on one
// another.
func (p Plan) rng(purpose, n int) *rand.Rand {
	return rand.New(rand.NewPCG(p.Seed, uint64(purpose)<<32|uint64(n)))
}

// sessions of one cycle, inputs of one session.
const (
	sessions = 12
	inputs   = 5
)

// Cycle is the n-th one. Cycle 0 has no faults: everything has to go as it should,
// and it fills the caches that later ones are compared with.
func (p Plan) Cycle(n int) Cycle {
	r := p.rng(1, n)
	c := Cycle{Number: n}
	if n > 0 {
		c.Faults = p.faults(n, r)
	}
	ends := false
	for _, f := range c.Faults {
		ends = ends || f.Kind.EndsServer()
	}
	for s := range sessions {
		ses := Session{Name: fmt.Sprintf("c%ds%d", n, s), Wire: Agents, Adapter: Exec}
		if s%2 == 1 {
			ses.Wire = Responses
		}
		switch s / 2 % 4 {
		case 1:
			ses.Adapter = Shared
		case 3:
			ses.Adapter = Bound
		}
		choice := kinds[ses.Adapter]
		for i := range 1 + r.IntN(inputs) {
			in := Input{Tag: fmt.Sprintf("%si%d", ses.Name, i), Kind: choice[r.IntN(len(choice))], After: time.Duration(r.IntN(600)) * time.Millisecond}
			if ses.Adapter == Exec && !ends && r.IntN(8) == 0 {
				in.Kind = Cloak
			}
			if in.Kind.Unending() || r.IntN(6) == 0 {
				in.Cancel = time.Duration(100+r.IntN(900)) * time.Millisecond
			}
			in.Stream = r.IntN(3) > 0
			ses.Inputs = append(ses.Inputs, in)
		}
		if last := &ses.Inputs[len(ses.Inputs)-1]; !last.Stream && last.Cancel == 0 {
			last.Wait = true
		}
		if ses.Wire == Agents {
			ses.Readers = readers(r)
			if r.IntN(5) == 0 {
				ses.Delete = time.Duration(50+r.IntN(400)) * time.Millisecond
			}
		}
		c.Sessions = append(c.Sessions, ses)
	}
	return c
}

func readers(r *rand.Rand) []Reader {
	list := []Reader{{Kind: Steady}}
	if r.IntN(2) == 0 {
		list = append(list, Reader{Kind: Slow})
	}
	if r.IntN(2) == 0 {
		list = append(list, Reader{Kind: Vanishing, Frames: 3 + r.IntN(40)})
	}
	return list
}

// Text is the schedule of the first cycles, for people: two runs of one seed have the
// same.
func (p Plan) Text(cycles int) string {
	var b strings.Builder
	for n := range cycles {
		c := p.Cycle(n)
		turns := 0
		for _, s := range c.Sessions {
			turns += len(s.Inputs)
		}
		fmt.Fprintf(&b, "cycle %d: %d turns in %d sessions", n, turns, len(c.Sessions))
		for _, f := range c.Faults {
			fmt.Fprintf(&b, ", %s at %s", f.Kind, f.At)
			if f.For > 0 {
				fmt.Fprintf(&b, " for %s", f.For)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
