package agent

import (
	"unsafe"

	"github.com/agenthost/agenthost/actors/event"
)

// Parser reads one run's stdout. It is used by one goroutine, does no I/O and
// never panics on any input; a line that no rule matches becomes an Unknown fact.
type Parser interface {
	// Feed reads one line, without its line end. line is only valid during the
	// call.
	Feed(line []byte, out *Batch)
	// Close is called once, after the last line: exit tells how the process
	// ended. It may add facts, such as a verdict that only the exit gives.
	Close(exit Exit, out *Batch)
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // exit status; -1 when ended by a signal
	Signal string // "killed", "" without one
	// Stderr is the redacted tail of standard error, at most 16 KiB.
	Stderr string
}

// FactKind says what a Fact is. The set is closed.
type FactKind uint8

// Kinds of facts. actors/turn makes events of them.
const (
	// FactSession tells the CLI's own session id (Text).
	FactSession FactKind = iota + 1
	// FactStart opens the item Key. Item holds what is known; its ID, Status and
	// Phase are not used.
	FactStart
	// FactText, FactReasoning and FactOutput are pieces (Text) of the open item
	// Key. A text or reasoning piece of an unknown Key opens it; an output piece
	// of one is dropped.
	FactText
	FactReasoning
	FactOutput
	// FactDone closes the item Key with its whole content, opening it if need be.
	// Item.Status says how (Done, ItemFailed, Incomplete; zero means Done). A
	// second FactDone of a Key is ignored.
	FactDone
	// FactNotice keeps Text in the journal.
	FactNotice
	// FactUnknown keeps a line (Text) in the journal.
	FactUnknown
	// FactVerdict is a terminal line: Verdict.
	FactVerdict
	// FactUsage tells what the turn has used so far (Usage), while it goes on. A
	// later one replaces it, and so does the usage of a verdict.
	FactUsage
)

// Fact is one thing a line says. Key is the CLI's own name of an item, unique
// in the turn.
type Fact struct {
	Kind FactKind
	Key  string
	// Parent is the Key of the Subagent item whose agent did what an item's fact
	// says; "" for the turn's own agent. The item of that Key was mentioned before.
	Parent  string
	Text    string
	Item    *event.Item
	Verdict *Verdict
	Usage   *event.Usage
}

// Verdict is what a terminal line says about the turn.
type Verdict struct {
	// Final says that nothing can follow (codex turn.completed); else the turn
	// settles at EOF, exit or a quiet moment, and a later verdict replaces it.
	Final   bool
	Outcome event.Outcome
	Failure *event.Failure
	Usage   *event.Usage
	// Carry is handed to the next turn's Request.
	Carry []byte
	// Text is an answer that no item carried; the turn makes a message of it when
	// it has none.
	Text string
}

// Batch collects the facts of some lines. Texts put in through Text share one
// arena, so a delta costs no allocation of its own. The zero value is ready. It
// may not be copied: two copies would write to the same arena.
type Batch struct {
	Facts []Fact
	arena []byte
}

const arenaSize = 32 << 10

// Add appends a fact.
func (b *Batch) Add(f Fact) { b.Facts = append(b.Facts, f) }

// Reset empties the batch for reuse. Strings handed out stay valid.
func (b *Batch) Reset() {
	clear(b.Facts)
	b.Facts = b.Facts[:0]
}

// Text copies p into the batch's arena and returns it as a string, valid for good
// and from any goroutine. A short text that is kept holds its arena's 32 KiB.
func (b *Batch) Text(p []byte) string {
	if len(p) == 0 {
		return ""
	}
	if len(p) > arenaSize/4 {
		return string(p)
	}
	if cap(b.arena)-len(b.arena) < len(p) {
		b.arena = make([]byte, 0, arenaSize)
	}
	at := len(b.arena)
	b.arena = append(b.arena, p...)
	// The bytes behind at are never written again: the arena only grows, and a
	// full one is left to its readers.
	return unsafe.String(&b.arena[at], len(p))
}
