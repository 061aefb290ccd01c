package turn

import (
	"time"
	"unicode/utf8"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/budget"
	"github.com/agenthost/agenthost/actors/event"
)

// Config is what a turn is run with. Zero durations and sizes switch a limit
// off; a Linger of zero means that a settled process is told to end at once.
type Config struct {
	Turn event.ID
	// FirstOutput is the item ordinal of the first output item: the number of
	// input items.
	FirstOutput uint32
	// ExitIsVerdict says that exit 0 without a verdict is a completed turn.
	ExitIsVerdict bool

	TurnTimeout, IdleTimeout, SettleQuiet, Linger time.Duration
	// Gather is how long further calls of the caller's functions are waited for
	// before they are shown; ToolTimeout bounds the caller's time to answer.
	Gather, ToolTimeout time.Duration
	// HostServer is the MCP server whose calls come as Called: what the CLI says about
	// them is left out.
	HostServer string
	// Asks says that the CLI may ask for permission before it runs a tool; the tool's
	// item then begins a moment late, so that the question can come first.
	Asks bool
	// IdleAsked says that IdleTimeout was asked for: it holds for every CLI.
	IdleAsked bool

	// MaxItemBytes bounds an item's text or output.
	MaxItemBytes int
	// Adapter names the CLI in messages for people.
	Adapter string
	// Provider is said of the model provider where it was not reached.
	Provider string
	// Budgets are what the turn may use, with what was used before it.
	Budgets budget.Bounds
	// Limits are what its process may take of the machine.
	Limits Limits
	// Environment is what it runs in; its id and type are told with each change.
	Environment event.Environment
}

type state uint8

const (
	fresh state = iota
	preparing
	starting
	running
	waiting
	resuming
	stopping
	draining
	abandoned
	done
)

// Turn is one turn's state machine. It is not safe for concurrent use.
type Turn struct {
	cfg   Config
	state state
	veil  Veil  // nil for none
	armed uint8 // a bit a timer

	// decided is how a turn that we end will end; nil while the CLI decides.
	decided *decision
	// verdict is the newest tentative or final one.
	verdict *agent.Verdict
	// used is what the CLI told so far, nil when it did not; meter is what the answers
	// of its provider were seen to use.
	used  *event.Usage
	meter event.Usage

	active    int64 // time of the last output
	firstByte int64
	settledAt int64
	hurried   bool
	told      bool // Terminate was given
	killed    bool // Kill was given because of a limit
	exited    bool
	// isolation is what the end says of it.
	isolation string
	// turnEnds is when the turn is out of time, turnLeft what was left of it when it
	// began to wait.
	turnEnds int64
	turnLeft time.Duration
	// pending are calls not yet shown, calls those of the wait; legs counts the legs
	// after the first.
	pending, calls []*call
	legs           int32
	// steers are messages that are to become part of the turn; deaf says that the CLI
	// refused one.
	steers   []steer
	deaf     bool
	lineLost int64 // bytes of the newest line that was dropped
	unread   bool  // stdout is not read on
	dropped  int64 // facts too late or of no open item

	items normaliser

	now     int64
	effects []Effect
	events  []event.Event
}

// New is a turn before its Start.
func New(c Config) *Turn {
	if c.MaxItemBytes > 0 {
		c.MaxItemBytes = max(c.MaxItemBytes, utf8.UTFMax) // room for one character
	}
	t := &Turn{cfg: c, effects: make([]Effect, 1, 8)}
	t.items = normaliser{turn: t, known: map[string]*item{}}
	return t
}

// Step takes an input at now (Unix milliseconds). The effects, and the events in
// their Emit, are valid until the next Step.
func (t *Turn) Step(in Input, now int64) []Effect {
	t.now = now
	t.reset()
	if _, ok := in.(Hurry); ok {
		t.hurried = true
	}
	switch in := in.(type) {
	case Steer:
		t.steer(in)
	case Steered:
		t.steered(in)
	case Metered:
		t.metered(in)
	default:
		t.by(in)
	}
	if len(t.events) == 0 {
		return t.effects[1:]
	}
	t.effects[0] = Emit{Events: t.events}
	return t.effects
}

// by takes an input as the state says.
func (t *Turn) by(in Input) {
	switch t.state {
	case fresh:
		t.fresh(in)
	case preparing:
		t.preparing(in)
	case starting:
		t.starting(in)
	case running:
		t.running(in)
	case waiting:
		t.waiting(in)
	case resuming:
		t.resuming(in)
	case stopping:
		t.stopping(in)
	case draining:
		t.draining(in)
	case abandoned:
		t.abandoned(in)
	case done:
		t.drop(in)
	}
}

// Settled reports whether TurnEnded was emitted.
func (t *Turn) Settled() bool { return t.state >= draining }

// Waiting reports whether the turn waits for its caller or for a slot to go on in.
// Its owner keeps output from it meanwhile: what a CLI says belongs to the next leg.
func (t *Turn) Waiting() bool { return t.state == waiting || t.state == resuming }

// Dropped counts the facts that came after settling or fitted no open item.
func (t *Turn) Dropped() int64 { return t.dropped }

// output takes what one read said. A final verdict settles in the middle of it.
func (t *Turn) output(in Output) {
	if t.unread {
		t.dropped += int64(len(in.Facts))
		return
	}
	t.active = t.now
	if t.firstByte == 0 {
		t.firstByte = t.now
	}
	t.facts(in.Facts)
}

func (t *Turn) facts(facts []agent.Fact) {
	for i := range facts {
		if t.Settled() || t.verdict != nil && t.verdict.Final {
			t.dropped += int64(len(facts) - i)
			return
		}
		f := &facts[i]
		switch f.Kind {
		case agent.FactVerdict:
			t.take(t.veiledVerdict(f.Verdict))
			continue
		case agent.FactUsage:
			t.spend(f.Usage)
			continue
		}
		t.items.take(f)
	}
}

func (t *Turn) lineDropped(in LineDropped) {
	t.active = t.now
	t.lineLost = in.Bytes
	t.emit(event.Event{Kind: event.Notice, Text: droppedLine(in.Bytes)})
}

// drop counts what comes too late.
func (t *Turn) drop(in Input) {
	switch in := in.(type) {
	case Output:
		t.dropped += int64(len(in.Facts))
	case Exited:
		t.dropped += int64(len(in.Facts))
	case Answered:
		t.do(Refuse{Failure: event.Fail(event.CallAnsweredAlready, "the turn no longer waits for an answer")})
	default: // nothing in it to lose
	}
}

func (t *Turn) do(e Effect) { t.effects = append(t.effects, e) }

func (t *Turn) emit(ev event.Event) {
	ev.Turn = t.cfg.Turn
	t.events = append(t.events, ev)
}

// keepEvents is the capacity that is kept between Steps; a larger one came with
// a burst.
const keepEvents = 1 << 10

func (t *Turn) reset() {
	clear(t.effects)
	t.effects = t.effects[:1]
	if cap(t.events) > keepEvents {
		t.events = nil
		return
	}
	clear(t.events)
	t.events = t.events[:0]
}
